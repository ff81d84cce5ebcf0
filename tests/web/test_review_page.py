"""The review page: what the bots think of every decision, from a stored game and from a file."""

from __future__ import annotations

import gzip
import json
import re
from io import BytesIO
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.review import make_review
from engine.mjai.actions import action_message
from engine.positions.position import Position
from engine.positions.views import place
from engine.records.files import read_records
from tests.support.accessibility import serious_faults
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, both_sizes, phone_at_length
from tests.web.shown import percent

GAME = "b" * 32  # id of the game that `stub` makes up
RECORD = REPOSITORY / "examples/game.mjson"
HOSTILE = "<img src=x onerror=alert(1)>"
REVIEWED = 180_000  # milliseconds: the server's reviewer may have to start first, as may its reader


@pytest.fixture(scope="module")
def written() -> str:
    """The review of the sample record by rule and bert, as JSON."""
    decisions = seat_decisions(read_records(RECORD), 0)
    return json.dumps(make_review(decisions, {bot: make(bot) for bot in ("rule", "bert")}, lambda n: None).as_json())


@pytest.fixture
def review(written: str) -> dict[str, Any]:
    """The same, to be changed."""
    found: dict[str, Any] = json.loads(written)
    return found


def messages() -> list[dict[str, Any]]:
    """The messages of the sample record."""
    return [json.loads(line) for line in RECORD.read_text().splitlines()]


Messages = list[dict[str, Any]]


def stub(page: Page, review: dict[str, Any], state: dict[str, Any], events: Messages | None = None) -> None:
    """Let the server have a game, and answer questions about its review with `state`, which may be changed."""
    lines = "\n".join(map(json.dumps, [*(events or messages()), {"type": "error", "actor": 1, "message": "late"}]))

    def answer(route: Route) -> None:
        route.fulfill(json=review if route.request.url.endswith("/result") else {"id": "1", "error": "", **state})

    page.route(f"**/api/games/{GAME}/record", lambda route: route.fulfill(body=gzip.compress(lines.encode())))
    page.route(re.compile("/api/reviews"), answer)


DONE = {"status": "done", "done": 2, "decisions": 2}


def show(page: Page, review: dict[str, Any], at: int = 0, events: Messages | None = None) -> None:
    """Open the stubbed review at a message."""
    stub(page, review, DONE, events)
    page.goto(f"/games/{GAME}/review#seat=0&bot=rule&bot=bert&at={at}")
    expect(page.locator(".review")).to_be_visible()


def test_a_decision_is_linked_as_a_position(page: Page, review: dict[str, Any]) -> None:
    """With the bots of the review, also where the seat answers a discard: then it has one tile fewer."""
    show(page, review)
    link = page.locator("[data-control=analyse]")
    sizes = set()
    kinds = [decision["kind"] for decision in review["decisions"]]
    for decision in sorted({*range(0, len(kinds), 8), *(at for at, kind in enumerate(kinds) if kind == "call")}):
        page.locator(f"tr[data-decision='{decision}']").click()
        keys = dict(parse_qsl(str(link.get_attribute("href")).partition("/position#")[2]))
        assert keys.pop("bots") == "rule,bert"
        numbers = {key: int(keys[key]) for key in ("honba", "left")}
        lists = {"scores": [int(score) for score in keys["scores"].split(",")], "rivers": keys["rivers"].split(",")}
        position = Position.from_json(keys | numbers | lists)
        placed = place(position)
        best = review["decisions"][decision]["reviews"][0]["actions"][0]["action"]
        assert best in [action_message(placed.view, 0, action) for action in placed.legal]
        sizes.add(len(position.tiles) % 3)
    assert sizes == {1, 2}


def mistakes(review: dict[str, Any], bot: int) -> list[int]:
    """The decisions that lose a hundredth of a placement or more, in order."""
    return [n for n, each in enumerate(review["decisions"]) if (each["reviews"][bot]["loss"] or 0) >= 0.01]


def shown(page: Page) -> int:
    """The decision that is shown."""
    return int(page.locator("tr[aria-current]").get_attribute("data-decision") or -1)


@both_sizes
def test_a_review_of_a_stored_game(page: Page, site: Site) -> None:
    game = site.get("/api/games?limit=1")["items"][0]["id"]  # type: ignore[index]
    page.goto(f"/games/{game}/review#at=30")
    page.locator("select[name=seat]").select_option("2")
    page.locator("select[name=bot]").first.select_option("rule")
    page.locator("select[name=bot]").last.select_option(label="none")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.locator(".review nuki-table")).to_be_visible(timeout=REVIEWED)
    expect(page.locator(".opinion")).to_have_count(1)
    expect(page.locator(".opinion li.best")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"#seat=2&bot=rule&at=\d+$"))
    page.get_by_role("link", name="See it in the replay").click()
    expect(page.locator("nuki-replay[data-seat='2']")).to_be_visible()


def test_a_seat_in_the_address_is_reviewed_at_once(page: Page, site: Site, review: dict[str, Any]) -> None:
    """By the two default bots; without a seat, the form is."""
    stub(page, review, DONE)
    asked: list[dict[str, list[str]]] = []
    page.on("request", lambda sent: asked.append(parse_qs(urlsplit(sent.url).query)) if sent.method == "POST" else None)
    page.goto(f"/games/{GAME}/review")
    expect(page.locator(".review-form button")).to_be_visible()
    assert asked == []
    page.goto("about:blank")
    page.goto(f"/games/{GAME}/review#seat=1&at=30")
    expect(page.locator(".review nuki-table")).to_be_visible()
    bots = site.get("/api/server")["review_bots"]
    assert isinstance(bots, list)
    assert asked == [{"seat": ["1"], "bot": bots[:2], "game": [GAME]}]
    expect(page.locator("select[name=seat]")).to_have_value("1")
    expect(page).to_have_url(re.compile(rf"#seat=1&bot={bots[0]}&bot={bots[1]}&at=\d+$"))


def test_bars_on_the_tiles_opinions_side_by_side_and_accuracy_by_kind(page: Page, review: dict[str, Any]) -> None:
    wrong = mistakes(review, 1)[0]
    decision = review["decisions"][wrong]
    show(page, review, decision["message"])
    assert shown(page) == wrong
    assert page.locator(".opinion").evaluate_all("found => found.map((each) => each.dataset.bot)") == ["rule", "bert"]
    for bot, opinion in zip(page.locator(".opinion").all(), decision["reviews"]):
        best, played = (opinion["actions"][opinion[key]]["action"]["pai"] for key in ("best", "actual"))
        expect(bot.locator("li.best [data-tile]")).to_have_attribute("data-tile", best)
        expect(bot.locator("li.played [data-tile]")).to_have_attribute("data-tile", played)
    page.get_by_role("button", name="bert", exact=True).click()
    best = decision["reviews"][1]["actions"][0]["action"]["pai"]
    assert page.locator("nuki-table .bar.best").count() >= 1
    assert best in page.locator(".opinion[data-bot=bert] li.best use").get_attribute("href")  # type: ignore[operator]
    expect(page.get_by_role("heading", name=f"Review of {review['names'][0]}")).to_be_visible()
    table = page.get_by_role("region", name="Accuracy").locator("tr")
    expect(table).to_have_count(2 + len(review["summary"][0]["by_kind"]))
    figures = [percent(each["accuracy"]) for each in review["summary"]]
    cells = table.nth(1).locator("td")
    assert [cells.nth(column).inner_text() for column in (0, 1, 3)] == [str(len(review["decisions"])), *figures]
    backs = page.locator("nuki-table .seat [data-tile='?']")
    assert backs.count() >= 26  # hands of others are hidden until they are opened
    page.keyboard.press("h")
    expect(backs).to_have_count(0)


def test_next_and_previous_decision_and_mistake(page: Page, review: dict[str, Any]) -> None:
    show(page, review)
    last = len(review["decisions"]) - 1
    button = {name: page.locator(f"[data-control={name}]") for name in ("next", "previous", "next_mistake")}
    button["next"].click()
    button["next"].click()
    button["previous"].click()
    assert shown(page) == 1
    page.keyboard.press("End")
    assert shown(page) == last
    page.keyboard.press("ArrowRight")
    assert shown(page) == last
    page.keyboard.press("Home")
    page.keyboard.press("b")  # bert
    found = []
    for _ in mistakes(review, 1):
        button["next_mistake"].click()
        found.append(shown(page))
    assert found == mistakes(review, 1)
    assert len(found) > 1
    page.keyboard.press("Shift+ArrowRight")
    assert shown(page) == found[-1]
    page.keyboard.press("Shift+ArrowLeft")
    assert shown(page) == found[-2]
    expect(page).to_have_url(re.compile(rf"at={review['decisions'][found[-2]]['message']}$"))
    page.evaluate("location.hash = location.hash.replace(/&at=\\d+/, '&at=0')")
    expect(page.locator("tr[aria-current]")).to_have_attribute("data-decision", "0")


@phone_at_length
def test_the_table_of_decisions_is_sorted_by_loss_and_leads_to_them(page: Page, review: dict[str, Any]) -> None:
    show(page, review)
    rows = page.locator("tr[data-decision]")
    order = "found => found.map((each) => Number(each.dataset.decision))"
    losses = [[each["reviews"][bot]["loss"] for each in review["decisions"]] for bot in range(2)]
    everything = list(range(len(review["decisions"])))
    for bot, name in enumerate(("rule", "bert")):
        page.get_by_role("button", name=f"Loss: {name}").click()
        assert rows.evaluate_all(order) == sorted(everything, key=lambda n: -losses[bot][n])
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Loss: bert")
    worst = losses[1].index(max(losses[1]))
    rows.first.locator("td").nth(1).click()
    assert shown(page) == worst
    page.get_by_role("button", name="Decision", exact=True).click()
    assert rows.evaluate_all(order) == everything
    rows.nth(3).get_by_role("button").press("Enter")
    assert shown(page) == 3


def test_decisions_without_a_value_are_mistakes_by_the_other_bot(page: Page, review: dict[str, Any]) -> None:
    """In the order of the table, and in the steps from one mistake to the next; they are counted."""
    decisions = review["decisions"]
    losses = [each["reviews"][1]["loss"] for each in decisions]
    missing = sorted(range(len(losses)), key=lambda n: -losses[n])[:3]
    for n in missing:
        decisions[n]["reviews"][0]["loss"] = None
    review["summary"][0]["unknown"] = len(missing)
    assert losses[missing[-1]] >= 0.01
    assert not mistakes(review, 0)  # who has played is `rule`
    show(page, review)
    rows = page.locator("tr[data-decision]")
    assert [int(rows.nth(n).get_attribute("data-decision") or -1) for n in range(3)] == missing
    page.keyboard.press("Home")
    found = []
    for _ in missing:
        page.keyboard.press("Shift+ArrowRight")
        found.append(shown(page))
    assert found == sorted(missing)
    expect(page.get_by_text("without a value")).to_have_text(
        f"Decisions without a value by rule, left out of its losses: 3 of {len(decisions)}"
    )


@pytest.mark.parametrize("fragment", ["seat=9", "seat=", "seat=9&bot=rule", "bot=rule"])
def test_a_seat_that_there_is_not_is_asked_for(page: Page, review: dict[str, Any], fragment: str) -> None:
    stub(page, review, DONE)
    page.on("request", lambda sent: pytest.fail(f"sent {sent.url}") if sent.method == "POST" else None)
    page.goto(f"/games/{GAME}/review#{fragment}")
    expect(page.locator("select[name=seat]")).to_have_value("0")
    page.wait_for_load_state("networkidle")


def test_the_page_is_named_after_the_players(page: Page, review: dict[str, Any]) -> None:
    """Its heading is hidden once the review has one."""
    names = ", ".join(messages()[0]["names"])
    stub(page, review, DONE)
    page.goto(f"/games/{GAME}/review")
    expect(page).to_have_title(f"Review: {names} · nukidora")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Review: {names}")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(heading).to_have_text(f"Review of {review['names'][review['seat']]}")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_nothing_is_wider_than_a_narrow_phone(page: Page, review: dict[str, Any], language: str) -> None:
    page.add_init_script(f"localStorage.setItem('nukidora.language', '{language}')")
    page.set_viewport_size({"width": 320, "height": 640})
    show(page, review)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@both_sizes
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_tables_are_not_cut(page: Page, review: dict[str, Any], language: str) -> None:
    """With the two default bots, and with the kind of decision that has the longest name."""
    page.add_init_script(f"localStorage.setItem('nukidora.language', '{language}')")
    review["bots"] = ["residual", "bert"]
    review["decisions"][0]["kind"] = "abort"
    for summary in review["summary"]:
        summary["by_kind"]["abort"] = summary["by_kind"]["call"]
    show(page, review)
    page.locator(".review-lists").scroll_into_view_if_needed()
    regions = page.locator(".review-lists .scroll")
    expect(regions).to_have_count(2)
    for region in regions.all():
        assert region.evaluate("(each) => each.scrollWidth <= each.clientWidth"), region.get_attribute("aria-label")


@both_sizes
def test_a_table_that_is_wider_than_the_page_has_a_shadow(page: Page, review: dict[str, Any]) -> None:
    """On the side where more of it is to come."""
    review["bots"] = ["a-bot-with-a-long-name", "another-bot-with-a-long-name"]
    show(page, review)
    page.set_viewport_size({"width": 320, "height": 800})
    region = page.get_by_role("region", name="Accuracy")
    assert region.evaluate("(each) => each.scrollWidth > each.clientWidth")
    left, right = sides(region)
    assert right < left - 20
    region.evaluate("(each) => each.scrollTo(each.scrollWidth, 0)")
    left, right = sides(region)
    assert left < right - 20


def sides(region: Locator) -> tuple[int, int]:
    """How light the left and the right edge of a region are, near its bottom."""
    image = Image.open(BytesIO(region.screenshot())).convert("L")
    pixels = image.crop((0, image.height - 6, image.width, image.height - 5)).tobytes()
    return pixels[0], pixels[-1]


def test_progress_and_a_review_that_fails(page: Page, review: dict[str, Any]) -> None:
    state = {"status": "queued", "done": 0, "decisions": 0}
    stub(page, review, state)
    page.goto(f"/games/{GAME}/review#seat=0&bot=rule")
    expect(page.get_by_text("Waiting for other reviews")).to_be_visible()
    state |= {"status": "running", "done": 5, "decisions": 20}
    expect(page.get_by_text("5 of 20 decisions")).to_be_visible()
    state |= {"status": "failed", "error": HOSTILE}
    expect(page.get_by_role("alert")).to_have_text(HOSTILE)
    expect(page.get_by_role("button", name="Review", exact=True)).to_be_enabled()


def test_a_message_that_is_impossible_spoils_no_other_round(page: Page, review: dict[str, Any]) -> None:
    events = messages()
    events[3] = {"type": "kakan", "actor": 0, "pai": "1m", "consumed": ["1m", "1m", "1m"]}
    last = review["decisions"][-1]
    show(page, review, last["message"], events)
    assert shown(page) == len(review["decisions"]) - 1
    hand = page.locator("nuki-table .seat.bottom [data-tile]")
    assert hand.count() >= 13
    expect(page.locator("nuki-table")).to_contain_text(last_round(events))


def last_round(events: Messages) -> str:
    """The name of the last round, as the table has it."""
    start = next(each for each in reversed(events) if each["type"] == "start_kyoku")
    return f"{'South' if start['bakaze'] == 'S' else 'East'} {start['kyoku']}"


def test_a_file_is_reviewed(page: Page) -> None:
    page.goto("/view")
    page.locator("input[type=file]").set_input_files(RECORD)
    page.get_by_role("button", name="Review", exact=True).click(timeout=REVIEWED)
    page.locator("select[name=bot]").first.select_option("rule")
    page.locator("select[name=bot]").last.select_option(label="none")
    page.locator(".review-form").get_by_role("button").click()
    expect(page.locator(".review nuki-table")).to_be_visible(timeout=REVIEWED)
    expect(page.get_by_role("link", name="See it in the replay")).to_have_count(0)


@both_sizes
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(page: Page, review: dict[str, Any], scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    show(page, review)
    assert serious_faults(page) == []
