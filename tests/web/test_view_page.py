"""Records from files: shown like games of the server, refused in one line, and not kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from engine.records.files import read_records
from server.api.guard import MAX_UPLOAD
from server.review_work import MAX_RECORD
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, phone_at_length

READ = 120_000  # milliseconds: the server's reader may have to start first
RECORDS = REPOSITORY / "tests/data/records"
FILES = [
    *(RECORDS / name for name in ("phoenix_2018_1.xml", "phoenix_2025_4.json", "majsoul_chankan.json")),
    RECORDS / "majsoul_kan3_nuki_rinshan.libriichi3p.mjson",  # knows no yaku
    REPOSITORY / "examples/game.mjson",
]
TENHOU = RECORDS / "phoenix_2024_1.json"
# Looks at every place of the replay; returns the last one.
LOOK_AT_ALL = """
() => {
  const replay = document.querySelector("nuki-replay");
  const last = Number(replay.querySelector("input[type=range]").max);
  for (let place = 0; place <= last; place++) replay.go(place);
  return [last, replay.querySelectorAll(".fault").length];
}
"""


def places(path: Path) -> int:
    """The index of the last place of a record's replay."""
    return sum(event["type"] != "start_game" for event in read_records(path).events) - 1


@phone_at_length
def test_files_of_every_format_are_shown(page: Page) -> None:
    for path in FILES:
        page.goto("/view")
        page.locator("input[type=file]").set_input_files(path)
        expect(page.get_by_role("heading", name=path.name)).to_be_visible(timeout=READ)
        expect(page.locator("nuki-replay[data-place='0']")).to_be_visible()
        assert page.evaluate(LOOK_AT_ALL) == [places(path), 0], path.name
    assert page.url.endswith("/view")  # nobody else could open its place
    expect(page.locator(".record, .view-problems")).to_have_count(0)


def test_the_wall_of_a_record_with_tenhous_seed(page: Page) -> None:
    for path, known in ((TENHOU, False), (REPOSITORY / "tests/data/tenhou_walls.mjson", True)):
        page.goto("/view")
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator("nuki-replay[data-place='0']")).to_be_visible(timeout=READ)
        page.keyboard.press("w")
        expect(page.locator("[data-control=wall]")).to_be_visible(visible=known)
        expect(page.locator("[data-wall=draws] li")).to_have_count(55 if known else 0)


def test_a_gzipped_file_that_is_dropped(page: Page) -> None:
    page.goto("/view")
    drop = """
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], "<b>.mjson.gz"));
      window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    }"""
    page.evaluate(drop, list(gzip.compress((REPOSITORY / "examples/game.mjson").read_bytes())))
    expect(page.get_by_role("heading", name="<b>.mjson.gz")).to_be_visible(timeout=READ)
    expect(page).to_have_title("<b>.mjson.gz · nukidora")
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("nuki-replay[data-place='1']")).to_be_visible()
    page.get_by_role("button", name="View another record").click()
    expect(page.get_by_role("heading", name="View a record")).to_be_visible()
    expect(page.locator("nuki-replay")).to_have_count(0)


def test_the_page_waits_for_its_turn(failing_page: Page) -> None:
    answers = [429, 429]

    def busy(route: Route) -> None:
        if answers:
            route.fulfill(status=answers.pop(), json={"detail": "another record of this address is being read"})
        else:
            route.continue_()

    page = failing_page
    page.route("**/api/records", busy)
    page.goto("/view")
    page.locator("input[type=file]").set_input_files(REPOSITORY / "examples/game.mjson")
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible(timeout=READ)


def test_the_page_says_why_it_takes_long(page: Page) -> None:
    page.clock.install()
    page.route("**/api/records", lambda route: None)  # is not answered
    page.goto("/view")
    page.locator("input[type=file]").set_input_files(REPOSITORY / "examples/game.mjson")
    expect(page.get_by_text("Reading game.mjson …", exact=True)).to_be_visible()
    page.clock.fast_forward(4000)
    expect(page.get_by_text("The server is still at your last request, or starting.")).to_be_visible()


def test_what_is_wrong_with_a_record_is_shown_in_japanese(site: Site, browser: Browser, tmp_path: Path) -> None:
    half = tmp_path / "half.mjson"
    half.write_bytes(b'{"type":"start_game","names":["a"')
    with browser.new_context(base_url=site.url, locale="ja") as context:  # the browser itself logs the status 422
        page = context.new_page()
        page.goto("/view")
        page.locator("input[type=file]").set_input_files(half)
        text = "half.mjson: 牌譜を読み込めません：1行目：34文字目が JSON ではありません"
        expect(page.get_by_role("alert")).to_contain_text(text, timeout=READ)


@pytest.mark.parametrize("link", ["", "https://tenhou.net/5/#json=", "https://tenhou.net/6/#json="])
def test_pasted_text(page: Page, link: str) -> None:
    text = TENHOU.read_text()
    page.goto("/view")
    page.get_by_role("textbox").fill(link + quote(text) if link else f"  {text}\n")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible(timeout=READ)


def test_what_departs_from_the_rules_is_listed(page: Page) -> None:
    messages = [json.loads(line) for line in (REPOSITORY / "examples/game.mjson").read_text().splitlines()]
    hora = next(each for each in messages if each["type"] == "hora")
    hora["fan"] += 1
    page.goto("/view")
    page.get_by_role("textbox").fill("\n".join(map(json.dumps, messages)))
    page.get_by_role("button", name="Show").click()
    problems = page.locator(".view-problems")
    expect(problems).to_contain_text("Problems in this record", timeout=READ)
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible()
    assert problems.locator("li").count() > 0


def without(path: Path, kind: str, after: int) -> tuple[str, int]:
    """A record without the first event of a kind after a number of lines, and the number of that line."""
    lines = path.read_text().splitlines(keepends=True)
    at = next(index for index in range(after, len(lines)) if f'"type":"{kind}"' in lines[index])
    return "".join(lines[:at] + lines[at + 1 :]), at


@pytest.mark.parametrize(
    ("kind", "after", "rounds", "told"),
    [
        ("tsumo", 50, 9, "E1-0 is shown up to step {}; the rest"),
        ("tsumo", 240, 9, "E1-2 is shown up to step {}; the rest"),
        ("tsumo", 700, 9, "S1-1 is shown up to step {}; the rest"),
        ("end_kyoku", 0, 9, "E1-0 is shown up to step {}; the rest"),
        ("start_kyoku", 100, 8, "The round after E1-0 cannot be shown"),
    ],
)
def test_a_damaged_round_leaves_the_others(page: Page, kind: str, after: int, rounds: int, told: str) -> None:
    path = RECORDS / "phoenix_2020_1.mjson"
    text, at = without(path, kind, after)
    start = max(index for index, line in enumerate(text.splitlines()[:at]) if '"start_kyoku"' in line)
    page.goto("/view")
    page.locator("input[type=file]").set_input_files(
        {"name": path.name, "mimeType": "text/plain", "buffer": text.encode()}
    )
    gap = page.locator(".view-problems").get_by_role("button")
    expect(gap).to_contain_text(told.format(at - 1 - start), timeout=READ)  # open: it is seen at once
    expect(gap).to_be_visible()
    listed = page.locator(".rounds button")
    expect(listed).to_have_count(rounds)
    gap.click()
    expect(page.locator(f"nuki-replay[data-place='{at - 2}']")).to_be_visible()
    expect(page.locator(".fault")).to_contain_text("cannot be followed beyond this place")
    listed.last.click()
    expect(page.locator("nuki-replay[data-step='0']")).to_be_visible()
    expect(page.locator(".replay-where")).to_contain_text("S1-1")
    page.keyboard.press("End")
    expect(page.locator(".replay-below .result")).to_contain_text("Final result")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "paste a record first"),
        ("https://tenhou.net/0/?log=2025010100gm-00b9-0000-00000000", "holds no record"),
        ("https://tenhou.net/6/#json=%E0%A4%A", "damaged"),
    ],
)
def test_what_is_no_record_is_not_even_sent(page: Page, text: str, line: str) -> None:
    page.goto("/view")
    page.on("request", lambda sent: pytest.fail(f"sent {sent.url}") if sent.method == "POST" else None)
    page.get_by_role("textbox").fill(text)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_contain_text(line)


def test_a_log_that_was_cut_off_is_shown_as_far_as_it_goes(page: Page) -> None:
    lines = (REPOSITORY / "examples/game.mjson").read_bytes().splitlines(keepends=True)
    cut: Any = {"name": "cut.mjson", "mimeType": "text/plain", "buffer": b"".join(lines[:80]) + b'{"type":"da'}
    page.goto("/view")
    page.locator("input[type=file]").set_input_files(cut)
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible(timeout=READ)
    expect(page.locator(".view-problems li")).to_have_text(
        "the record ends in E2 honba 0, after 33 events of that round"
    )
    assert page.evaluate(LOOK_AT_ALL) == [78, 0]


BROKEN: dict[str, tuple[bytes, str]] = {
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "not UTF-8 text"),
    "cut.xml": ((RECORDS / "phoenix_2018_1.xml").read_bytes()[:1000], "cut off"),
    "cut.mjson.gz": (gzip.compress((REPOSITORY / "examples/game.mjson").read_bytes())[:900], "gzip"),
    "empty.json": (b"", "empty"),
    "poem.txt": ("春眠暁を覚えず".encode(), "no game record"),
    "huge.json": (b"{" * (MAX_RECORD + 1), f"{MAX_RECORD >> 20} MiB, {MAX_UPLOAD >> 10} KiB gzipped"),
}


def test_broken_files_are_refused_in_a_line(failing_page: Page) -> None:
    page = failing_page
    page.goto("/view")
    for name, (content, line) in BROKEN.items():
        file: Any = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        page.locator("input[type=file]").set_input_files(file)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text(name, timeout=READ)
        expect(alert).to_contain_text(line)
        assert "\n" not in alert.inner_text()
        expect(page.locator("nuki-replay")).to_have_count(0)
    page.locator("input[type=file]").set_input_files(TENHOU)
    expect(page.locator("nuki-replay")).to_be_visible(timeout=READ)
    expect(page.get_by_role("alert")).to_have_count(0)
