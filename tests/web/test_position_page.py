"""The page for a position: pasted, shared by its address, or from a replay, a review or a round just played."""

from __future__ import annotations

import gzip
import json
from typing import Any
from urllib.parse import parse_qsl

from playwright.sync_api import Browser, Page, expect

from engine.mjai.messages import Message, for_seat
from engine.positions.position import Position
from engine.records.files import read_records
from engine.rules import preset
from tests.support.accessibility import serious_faults
from tests.support.position_writing import position_of
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, both_sizes, in_browser

FOUND = 120_000  # milliseconds: the server's worker may have to start first
HAND = "123p456s111z99m223p"
RIVERS = ("9m_1s", "2z", "4z P1s 2s")
ADDRESS = f"/position#hand={HAND}&rivers={','.join(RIVERS)}&bots=rule,bert".replace(" ", "+")
# What the page writes of each turn of some messages, as JSON.
WRITE = """
async (messages) => {
  const { apply, initial } = await import("/web/mjai.js");
  const { lastTurn, positionOf } = await import("/web/position_text.js");
  const found = [];
  let state = initial(), round = [];
  for (const message of messages) {
    state = apply(state, message);
    round = message.type === "start_kyoku" ? [message] : [...round, message];
    if (lastTurn(round) === round.length - 1) found.push(positionOf(state, round, message.actor));
  }
  return found;
}
"""


def fragment(page: Page) -> dict[str, str]:
    """The keys in the address."""
    return dict(parse_qsl(page.url.partition("#")[2]))


@both_sizes
def test_a_pasted_hand(page: Page) -> None:
    page.goto("/position")
    page.get_by_label("Hand", exact=True).fill(HAND)
    page.get_by_label("Seat").select_option("S")
    page.get_by_label("Dora indicators").fill("1p")
    page.get_by_role("button", name="Analyse").click()
    expect(page.locator(".position")).to_be_visible(timeout=FOUND)
    expect(page.get_by_text("The discards of this round are not known")).to_be_visible()
    expect(page.locator("nuki-table .seat.bottom .hand .tile")).to_have_count(14)
    expect(page.locator("nuki-table .edge .name")).to_have_text(["You", "Right", "Left"])
    rows = page.locator(".position-hands tbody tr")
    expect(rows.first).to_have_attribute("data-discard", "2p")
    expect(rows.first.locator(".counted")).to_have_text(["×2", "×4"])
    expect(page.locator(".position-wins")).to_have_count(3)
    expect(page.locator(".position-wins").first).to_contain_text("riichi, tsumo")
    assert fragment(page)["hand"] == HAND
    assert fragment(page)["seat"] == "S"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert serious_faults(page) == []


def test_an_address_holds_the_position(page: Page) -> None:
    page.goto(ADDRESS)
    expect(page.locator(".position")).to_be_visible(timeout=FOUND)
    expect(page.locator(".opinion")).to_have_count(2)
    expect(page.locator("nuki-table .seat.left .meld .tile")).to_have_count(3)
    expect(page.locator("nuki-table .seat.bottom .hand .bar")).not_to_have_count(0)
    bars = page.get_by_role("button", name="bert", exact=True)
    bars.click()
    expect(bars).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("River of West")).to_have_value("4z P1s 2s")
    page.get_by_label("Hand", exact=True).fill("340p4568s123467p3s")
    page.get_by_label("River of South").fill("")
    page.get_by_label("River of West").fill("")
    page.get_by_label("River of East").fill("")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The discards of this round are not known")).to_be_visible(timeout=FOUND)
    page.go_back()
    expect(page.locator("nuki-table .seat.left .meld .tile")).to_have_count(3, timeout=FOUND)
    expect(page.get_by_label("Hand", exact=True)).to_have_value(HAND)


def test_rounds_are_named_as_elsewhere(page: Page) -> None:
    page.goto("/position")
    names = [f"{wind} {kyoku}" for wind in ("East", "South", "West") for kyoku in (1, 2, 3)]
    expect(page.get_by_label("Round").get_by_role("option")).to_have_text(names)


def test_the_page_says_why_it_takes_long(page: Page) -> None:
    page.clock.install()
    page.route("**/api/positions", lambda route: None)  # is not answered
    page.goto(ADDRESS)
    expect(page.get_by_text("The bots think …", exact=True)).to_be_visible()
    page.clock.fast_forward(4000)
    expect(page.get_by_text("The server is still at your last request, or starting.")).to_be_visible()


def test_what_cannot_be_is_told_at_its_field(failing_page: Page) -> None:
    page = failing_page
    page.goto(f"/position#hand={HAND}&rivers=9m_1s,2z,4z+P5s+2s")
    expect(page.get_by_role("alert")).to_contain_text("river of W: P555s", timeout=FOUND)
    river = page.get_by_label("River of West")
    expect(river).to_be_focused()
    expect(river).to_have_attribute("aria-invalid", "true")
    river.fill("4z P1s 2s")
    page.keyboard.press("Enter")
    expect(page.locator(".position")).to_be_visible(timeout=FOUND)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_what_cannot_be_is_said_in_japanese(site: Site, browser: Browser) -> None:
    with browser.new_context(base_url=site.url, locale="ja") as context:
        page = context.new_page()
        page.goto(f"/position#hand={HAND}&rivers=9m_,,")
        text = "南家の河：この河では東家ではなく南家の番です。捨て牌が1つ足りません"
        expect(page.get_by_role("alert")).to_have_text(text, timeout=FOUND)
        expect(page.get_by_label("南家の河")).to_be_focused()


def test_rules_and_lengths_have_the_words_of_rooms(page: Page) -> None:
    page.add_init_script("localStorage.setItem('nukidora.language', 'ja')")
    page.goto("/position")
    expect(page.locator("select[name=rules] option")).to_have_text(["天鳳", "雀魂"])
    expect(page.locator("select[name=length] option")).to_have_text(["東南", "東風"])


def test_the_page_writes_positions_as_the_engine_does(browser: Browser, site: Site) -> None:
    record = read_records(REPOSITORY / "examples" / "game.mjson").events
    messages = [message for message in record if message["type"] != "error"]
    found = in_browser(browser, site, WRITE, messages)
    assert len(found) > 100
    expected: list[Any] = []
    played: list[Message] = []
    for message in messages:
        played = [message] if message["type"] == "start_kyoku" else [*played, message]
        if message["type"] in ("tsumo", "pon"):
            seen = hidden_from(played, message["actor"])
            expected.append(position_of(seen, message["actor"], preset("tenhou")))
    assert [Position.from_json(each | {"rules": "tenhou", "length": "hanchan"}) for each in found] == [
        Position.from_json(each.as_json() | {"rules": "tenhou", "length": "hanchan"}) for each in expected
    ]


def hidden_from(messages: list[Message], seat: int) -> list[Message]:
    """The messages of a round as a seat is sent them."""
    return [for_seat(message, seat) for message in messages]


def test_from_a_replay(page: Page, site: Site) -> None:
    """At a turn before anybody is in riichi, who would have no choice."""
    game = site.get("/api/games?status=finished")["items"][0]["id"]  # type: ignore[index]
    lines = gzip.decompress(site.response(f"/api/games/{game}/record").content).splitlines()
    end = next(at for at, line in enumerate(lines) if b"end_kyoku" in line)
    first_round = [json.loads(line)["type"] for line in lines[2:end]]
    step = min(40, [*first_round, "reach"].index("reach"))
    page.goto(f"/games/{game}#round=0&step={step}")
    link = page.locator("[data-control=analyse]")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator(".position .opinion")).to_have_count(2, timeout=FOUND)
    expect(page.get_by_text("The discards of this round are not known")).to_have_count(0)
    assert json.loads(f"[{fragment(page)['scores']}]")
    assert len(fragment(page)["bots"].split(",")) == 2
    page.go_back()
    expect(page.locator("nuki-replay")).to_be_visible()
