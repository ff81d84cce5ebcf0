"""A phone held sideways: the table has the width, and what matters is seen without scrolling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.mjai.messages import for_seat
from tests.support.accessibility import serious_faults
from tests.web.sample_game import example, place_of
from tests.web.sample_game import show as show_replay
from tests.web.scripted_table import ScriptedTable
from tests.web.test_review_page import messages, stub, written  # noqa: F401  (a fixture)

WIDTH, HEIGHT = 844, 390
SMALL = (667, 375)
WIDE_TILE, SMALL_TILE = 40, 30  # pixels that an own tile is wide at least, in windows of these sizes
HAND = ".seat.bottom .hand .tile"
RUNS = ["1m", "9m", *(f"{n}p" for n in range(1, 9)), "E", "S", "W"]
# The tiles of the hand that lie on others, outside of the table or of the window, and the narrowest one's width.
MEASURE = """() => {
  const table = document.querySelector("nuki-table");
  const boxes = (selector) => [...table.querySelectorAll(selector)].map((tile) => tile.getBoundingClientRect());
  const hand = boxes(".seat.bottom .hand .tile");
  const others = boxes(".river .tile, .norths .tile, .melds .tile, .seat:not(.bottom) .hand .tile, .panel .tile");
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const outer = table.getBoundingClientRect();
  const inside = ({ left, right, top, bottom }) => left >= outer.left - 1 && right <= outer.right + 1
    && top >= outer.top - 1 && bottom <= Math.min(outer.bottom, innerHeight) + 1;
  return {
    wrong: hand.filter((tile) => !inside(tile) || others.some((other) => meet(tile, other))).length,
    narrowest: Math.min(...hand.map(({ width }) => width)),
    wider: document.documentElement.scrollWidth - innerWidth,
  };
}"""


# Pixels between a word and the tile after it.
GAPS = """(found) => found.map((each) => {
  const word = document.createRange();
  word.selectNode(each.firstChild);
  return each.querySelector("svg").getBoundingClientRect().left - word.getBoundingClientRect().right;
})"""
# The labels of choices that are wider than their frames.
CUT = """() => [...document.querySelectorAll(".lobby-choice span, .segments button")]
  .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)"""


@pytest.fixture
def sideways(page: Page) -> Page:
    """The window of a phone held sideways."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    return page


def puzzle() -> dict[str, Any]:
    """A puzzle as the API sends it: the first draw of the sample record."""
    start, kyoku, draw, *_ = [for_seat(message, 0) for message in example()]
    hand = sorted({*kyoku["tehais"][0], draw["pai"]})
    discards: list[dict[str, Any]] = [{"type": "dahai", "actor": 0, "pai": tile, "tsumogiri": False} for tile in hand]
    actions = [{"action": each, "value": 2 - place / 50, "prob": None} for place, each in enumerate(discards)]
    return {
        "date": "2025-06-01", "game": "", "seat": 0, "round": 0, "messages": [start, kyoku, draw],
        "bots": [{"bot": bot, "actions": actions} for bot in ("rule", "bert")], "played": discards[1],
    }  # fmt: skip


def bottom_of(part: Locator) -> float:
    """How far down a part of the page ends, in pixels of the window."""
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def check_hand(page: Page, least: float) -> None:
    """Check that the own hand is seen whole and that its tiles are so wide."""
    expect(page.locator(HAND).first).to_be_visible()
    found: dict[str, Any] = page.evaluate(MEASURE)
    assert (found["wrong"], found["wider"]) == (0, 0)
    assert found["narrowest"] >= least


def test_own_tiles_are_wide_while_one_plays(sideways: Page, scripted: ScriptedTable) -> None:
    scripted.begin(RUNS)
    scripted.draw("9s", {"type": "hora", "target": 0, "pai": "9s"}, {"type": "reach"}, {"type": "nukidora", "pai": "N"})
    for size, least in (((WIDTH, HEIGHT), WIDE_TILE), (SMALL, SMALL_TILE)):
        sideways.set_viewport_size({"width": size[0], "height": size[1]})
        check_hand(sideways, least)
        expect(sideways.locator(".actions button")).to_have_count(3)
        for part in sideways.locator(".actions button, .play-switches button").all():
            assert bottom_of(part) <= size[1]


def test_the_hand_of_the_puzzle_is_seen_at_once_and_the_answer_names_the_tiles(sideways: Page) -> None:
    sideways.route("**/api/puzzle", lambda route: route.fulfill(json=puzzle()))
    sideways.add_init_script("localStorage.setItem('nukidora.language', 'ja')")
    sideways.goto("/puzzle")
    expect(sideways.locator("nuki-table .edge .name")).to_have_text(["自分", "下家", "上家"])
    for size, least in (((WIDTH, HEIGHT), WIDE_TILE), (SMALL, SMALL_TILE)):
        sideways.set_viewport_size({"width": size[0], "height": size[1]})
        check_hand(sideways, least)
    sideways.locator("nuki-table button").first.click()
    expect(sideways.locator(".puzzle-tile")).to_have_count(3)
    gaps = sideways.locator(".puzzle-tile").evaluate_all(GAPS)
    assert min(gaps) >= 6


def test_own_tiles_are_wide_in_a_replay_at_every_step(sideways: Page) -> None:
    record = example()
    show_replay(sideways, record)
    calls = [index for index, each in enumerate(record) if each["type"] in ("pon", "daiminkan", "kakan", "ankan")]
    ends = [index for index, each in enumerate(record) if each["type"] in ("hora", "ryukyoku")]
    assert calls
    for index in [1, *calls, *ends]:
        place, seat = place_of(record, index + 1), record[index].get("actor", 0)
        sideways.evaluate("([place, seat]) => { const it = document.querySelector('nuki-replay');"
                          "it.go(place); it.sit(seat); }", [place, seat])  # fmt: skip
        check_hand(sideways, WIDE_TILE)
    assert sideways.evaluate(CUT) == []
    for part in sideways.locator(".seek, .replay-buttons button, .seats button").all():
        assert bottom_of(part) <= HEIGHT


def test_the_hand_that_is_reviewed_is_seen_at_once(sideways: Page, written: str) -> None:  # noqa: F811
    stub(sideways, json.loads(written), {"status": "done", "done": 2, "decisions": 2}, messages())
    sideways.goto(f"/games/{'b' * 32}/review#seat=0&bot=rule&bot=bert&at=0")
    check_hand(sideways, WIDE_TILE)
    assert sideways.evaluate("scrollY") == 0
    for part in sideways.locator(".review-moves button").all():
        assert bottom_of(part) <= HEIGHT
    form = sideways.locator(".review-form")
    assert bottom_of(form) > HEIGHT  # below the review, and still there
    assert serious_faults(sideways) == []


@pytest.mark.parametrize("size", [(844, 390), (740, 360), (667, 375)])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_button_to_play_is_seen_at_once(page: Page, size: tuple[int, int], language: str) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(f"localStorage.setItem('nukidora.language', '{language}')")
    page.goto("/")
    button = page.locator(".lobby-start")
    expect(button).to_be_enabled()
    assert bottom_of(button) <= size[1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CUT) == []
    assert bottom_of(page.locator("body > header")) < 50  # the links are on one line
