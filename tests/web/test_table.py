"""The tiles, and the element that draws a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from engine.mjai.kinds import HIDDEN_TILE, TILES
from engine.svg import sprite
from tests.support.server_program import REPOSITORY
from tests.web.conftest import both_sizes

HOSTILE = "<img src=x onerror=alert(1)>"
HANDS = [
    ["1m", "9m", "1p", "1p", "2p", "3p", "4p", "5pr", "6p", "E", "E", "N", "C"],
    ["1s", "1s", "2s", "3s", "4s", "5sr", "6s", "7s", "8s", "9s", "S", "S", "P"],
    ["7p", "7p", "7p", "8p", "9p", "2s", "3s", "4s", "W", "W", "F", "F", "F"],
]
START: list[dict[str, Any]] = [
    {"type": "start_game", "names": ["a", HOSTILE, "c"], "rules": "tenhou", "length": "east"},
    {"type": "start_kyoku", "bakaze": "E", "kyoku": 2, "honba": 3, "kyotaku": 0, "oya": 1, "dora_marker": "4p"}
    | {"scores": [33000, 35000, 37000], "tehais": HANDS},
]
ROUND = [
    *START,
    {"type": "tsumo", "actor": 1, "pai": "E"},
    {"type": "dahai", "actor": 1, "pai": "E", "tsumogiri": True},
    {"type": "pon", "actor": 0, "target": 1, "pai": "E", "consumed": ["E", "E"]},
    {"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": False},
    {"type": "tsumo", "actor": 1, "pai": "9p"},
    {"type": "reach", "actor": 1},
    {"type": "dahai", "actor": 1, "pai": "P", "tsumogiri": False},
    {"type": "reach_accepted", "actor": 1},
    {"type": "tsumo", "actor": 2, "pai": "F"},
    {"type": "ankan", "actor": 2, "consumed": ["F", "F", "F", "F"]},
    {"type": "dora", "dora_marker": "8s"},
    {"type": "tsumo", "actor": 2, "pai": "6p"},
    {"type": "dahai", "actor": 2, "pai": "6p", "tsumogiri": True},
    {"type": "tsumo", "actor": 0, "pai": "2p"},
    {"type": "nukidora", "actor": 0, "pai": "N"},
    {"type": "tsumo", "actor": 0, "pai": "5s"},
]
OPTIONS = {"bottom": 0, "open": True}
IMPORTS = 'const [{ states }] = await Promise.all(["mjai", "table"].map((name) => import(`/web/${name}.js`)));'
SHOW = """async ([messages, options]) => {
  IMPORTS
  let table = document.querySelector("nuki-table");
  if (!table) {
    document.querySelector("main").append((table = document.createElement("nuki-table")));
    window.discards = [];
    table.addEventListener("discard", ({ detail }) => window.discards.push(detail));
  }
  table.show(states(messages).at(-1), options);
}""".replace("IMPORTS", IMPORTS)
# Shows pairs of states on two tables, on one of them one after the other, the other one is new each time. Returns the
# indices of the states that the two show differently.
COMPARE = """async (messages) => {
  IMPORTS
  const all = states(messages);
  const used = document.createElement("nuki-table");
  const wrong = [];
  for (let step = 0; step < 120; step++) {
    const index = (Math.floor(step / 2) * 89 + (step % 2)) % all.length;
    const playable = step % 5 ? null : { hand: ["1p"], drawn: true };
    const options = { bottom: Math.floor(step / 20) % 3, open: step % 7 < 4, playable };
    const fresh = document.createElement("nuki-table");
    for (const table of [used, fresh]) table.show(all[index], options);
    if (!used.isEqualNode(fresh)) wrong.push(index);
  }
  return wrong;
}""".replace("IMPORTS", IMPORTS)
# How many pixels tiles that are shown lie outside of the table, at most, in some of the states.
OUTSIDE = """async (messages) => {
  IMPORTS
  const table = document.createElement("nuki-table");
  document.querySelector("main").replaceChildren(table);
  let most = document.documentElement.scrollWidth - innerWidth;
  for (const state of states(messages).filter((_, index) => index % 5 === 0)) {
    table.show(state, { bottom: 0, open: true });
    const box = table.getBoundingClientRect();
    for (const tile of [...table.querySelectorAll(".tile")].filter((it) => it.checkVisibility())) {
      const { left, right, top, bottom } = tile.getBoundingClientRect();
      most = Math.max(most, box.left - left, right - box.right, box.top - top, bottom - box.bottom);
    }
  }
  return most;
}""".replace("IMPORTS", IMPORTS)


@pytest.fixture
def table(page: Page) -> Page:
    """A page with nothing on it but what a test shows."""
    page.route("**/rooms.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto("/rooms")
    return page


def show(page: Page, messages: Sequence[object], **options: object) -> Locator:
    """The table after some messages."""
    page.evaluate(SHOW, [messages, OPTIONS | options])
    return page.locator("nuki-table")


def tiles(parent: Locator) -> list[tuple[str, str]]:
    """The tiles in an element, each with its classes."""
    found: list[tuple[str, str]] = parent.locator(".tile").evaluate_all(
        "tiles => tiles.map((tile) => [tile.dataset.tile, [...tile.classList].slice(1).join(' ')])"
    )
    return [(name, classes) for name, classes in found]


def names(parent: Locator) -> str:
    """The names of the tiles in an element."""
    return " ".join(name for name, _ in tiles(parent))


def example_game() -> list[dict[str, Any]]:
    """A whole game."""
    return [json.loads(line) for line in (REPOSITORY / "examples" / "game.mjson").read_text().splitlines()]


def test_the_sprite_has_all_tiles_as_shapes() -> None:
    symbols = ElementTree.fromstring(sprite())
    names = set(TILES.values()) - {HIDDEN_TILE} | {"back"}
    assert sorted(str(symbol.get("id")) for symbol in symbols) == sorted(f"tile-{name}" for name in names)
    assert all(len(symbol) for symbol in symbols)
    shapes = {element.tag.rpartition("}")[2] for symbol in symbols for element in symbol.iter()}
    assert shapes <= {"symbol", "g", "path", "circle"}
    assert len(sprite()) < 40_000


@both_sizes
def test_a_table_shows_a_state_from_any_seat(table: Page) -> None:
    board = show(table, ROUND)
    bottom, right, left = (board.locator(f".seat.{side}") for side in ("bottom", "right", "left"))

    assert names(bottom.locator(".hand")) == "9m 1p 1p 2p 2p 3p 4p 5pr 6p C 5s"
    assert names(bottom.locator(".slot.drawn")) == "5s"
    assert names(right.locator(".hand")) == "9p 1s 1s 2s 3s 4s 5sr 6s 7s 8s 9s S S"
    assert names(left.locator(".hand")) == "7p 7p 7p 8p 9p 2s 3s 4s W W"

    assert tiles(bottom.locator(".river")) == [("1m", "")]
    assert tiles(right.locator(".river")) == [("E", "tsumogiri called"), ("P", "sideways")]
    assert tiles(left.locator(".river")) == [("6p", "tsumogiri last")]

    assert tiles(bottom.locator(".meld")) == [("E", ""), ("E", ""), ("E", "sideways")]
    assert names(left.locator(".meld")) == "? F F ?"
    assert [names(seat.locator(".norths")) for seat in (bottom, right, left)] == ["N", "", ""]

    assert names(board.locator(".dora")) == "4p 8s ? ? ?"
    assert names(board.locator(".ura")) == ""
    expect(board.locator(".round")).to_have_text("East 2")
    expect(board.locator(".remaining")).to_have_text("49 left")
    expect(board.locator(".counters")).to_have_text("Honba 3 Riichi sticks 1")
    expect(board.locator(".points")).to_have_text(["W 33000", "E 34000 +1000", "S 37000 +4000"])
    expect(board.locator(".edge.turn")).to_have_class("edge bottom turn")
    expect(board.locator(".edge.riichi")).to_have_class("edge right dealer riichi")
    expect(board.locator(".stick").nth(1)).to_be_visible()
    expect(board.locator(".stick").nth(0)).not_to_be_visible()

    show(table, ROUND, bottom=2)
    expect(board.locator(".name")).to_have_text(["c", "a", HOSTILE])
    assert names(board.locator(".seat.right .norths")) == "N"
    assert names(bottom.locator(".hand")) == "7p 7p 7p 8p 9p 2s 3s 4s W W"


def test_closed_hands_are_not_in_the_page(table: Page) -> None:
    board = show(table, ROUND[:7], open=False)
    assert set(names(board.locator(".seat.right .hand")).split()) == {"?"}
    assert set(names(board.locator(".seat.left .hand")).split()) == {"?"}
    expect(board.locator("[aria-live]")).to_have_text(f"{HOSTILE} draws")
    show(table, ROUND[:7], open=True)
    expect(board.locator("[aria-live]")).to_have_text(f"{HOSTILE} draws 9 pin")


def test_a_winner_shows_the_hand(table: Page) -> None:
    win = {"type": "hora", "actor": 2, "target": 0, "pai": "6p", "uradora_markers": ["E"], "hora_tehais": HANDS[2]}
    win |= {"scores": [30000, 35000, 40000], "deltas": [-3000, 0, 3000], "yakus": [], "fu": 30, "fan": 1}
    discard = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": False}
    draw = {"type": "tsumo", "actor": 0, "pai": "1p"}
    start = START[1] | {"oya": 0}
    board = show(table, [START[0], start, draw, discard, win], open=False)
    assert names(board.locator(".seat.left .hand")) == " ".join([*HANDS[2], "6p"])
    assert set(names(board.locator(".seat.right .hand")).split()) == {"?"}
    assert names(board.locator(".ura")) == "E"
    expect(board.locator(".call")).to_have_text("Ron")
    expect(board.locator("[aria-live]")).to_have_text("c wins from a with 6 pin")


@pytest.mark.parametrize(("target", "place"), [(1, -1), (2, 0)])
def test_the_called_tile_lies_on_the_side_it_came_from(table: Page, target: int, place: int) -> None:
    messages = [
        START[0],
        START[1] | {"oya": target},
        {"type": "tsumo", "actor": target, "pai": "1p"},
        {"type": "dahai", "actor": target, "pai": "1p", "tsumogiri": True},
        {"type": "pon", "actor": 0, "target": target, "pai": "1p", "consumed": ["1p", "1p"]},
    ]
    meld = show(table, messages).locator(".seat.bottom .meld")
    sideways = [classes for _, classes in tiles(meld)]
    assert sideways.pop(place) == "sideways"
    assert sideways == ["", ""]

    messages += [
        {"type": "dahai", "actor": 0, "pai": "C", "tsumogiri": False},
        {"type": "tsumo", "actor": 1, "pai": "9p"},
        {"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True},
        {"type": "tsumo", "actor": 2, "pai": "9p"},
        {"type": "dahai", "actor": 2, "pai": "9p", "tsumogiri": True},
        {"type": "tsumo", "actor": 0, "pai": "1p"},
        {"type": "kakan", "actor": 0, "pai": "1p", "consumed": ["1p", "1p", "1p"]},
    ]
    show(table, messages)
    assert names(meld.locator(".called")) == "1p 1p"
    assert len(tiles(meld)) == 4


def test_only_playable_tiles_can_be_discarded(table: Page) -> None:
    board = show(table, ROUND, playable={"hand": ["1p", "C"], "drawn": True})
    slots = board.locator("button.slot")
    expect(slots).to_have_count(11)
    for index in range(11):
        slots.nth(index).click(force=True)
    assert table.evaluate("discards") == [
        {"tile": "1p", "tsumogiri": False},
        {"tile": "1p", "tsumogiri": False},
        {"tile": "C", "tsumogiri": False},
        {"tile": "5s", "tsumogiri": True},
    ]
    expect(board.get_by_role("button", name="Red", exact=True)).to_be_enabled()
    expect(board.get_by_role("button", name="red 5 pin", exact=True)).to_be_disabled()
    board.get_by_role("button", name="Red", exact=True).focus()
    table.keyboard.press("Enter")
    assert table.evaluate("discards")[4:] == [{"tile": "C", "tsumogiri": False}]
    show(table, ROUND, playable=None)
    expect(slots).to_have_count(0)
    show(table, ROUND, playable={"hand": ["1p"], "drawn": True})  # the focus stays in the hand
    expect(board.locator("button.slot.drawn")).to_be_focused()


def test_marks(table: Page) -> None:
    marks = {
        "1p": {"value": 0.5, "text": "half", "role": "played"},
        "drawn": {"value": 1, "text": "best of all", "role": "best"},
    }
    board = show(table, ROUND, marks=marks)
    expect(board.locator(".bar")).to_have_count(3)
    expect(board.get_by_title("half")).to_have_count(2)
    heights = board.locator(".bar").evaluate_all("bars => bars.map((bar) => bar.offsetHeight)")
    assert 0.4 < heights[0] / heights[-1] < 0.6
    expect(board.get_by_title("best of all").locator(".bar.best")).to_be_visible()


@pytest.mark.parametrize("bottom", [0, 1, 2])
def test_the_number_of_a_house_bot_stays_where_its_name_is_cut(table: Page, bottom: int) -> None:
    names = ["rule (house)", "residual (house) #2", "a-bot-with-a-long-name#3"]
    board = show(table, [{**START[0], "names": names}, *START[1:]], bottom=bottom)
    shown = ["rule", "residual #2", names[2]]  # a table has no room to say that they are the house's
    expect(board.locator(".name")).to_have_text([*shown[bottom:], *shown[:bottom]])
    expect(board.get_by_title(names[1], exact=True)).to_have_text("residual #2")
    assert [
        each.evaluate("(span) => span.scrollWidth > span.clientWidth + 1")
        for each in (board.get_by_title(name, exact=True).locator("span").first for name in names)
    ] == [False, False, True]
    for name, number in zip(board.locator(".name").all(), [*names[bottom:], *names[:bottom]]):
        outer, inner = name.bounding_box(), name.locator("span").last.bounding_box()
        assert outer
        assert inner
        assert (min(inner["width"], inner["height"]) > 5) == ("#" in number)  # those of two sides are turned
        for start, length in (("x", "width"), ("y", "height")):
            assert inner[start] >= outer[start] - 1
            assert inner[start] + inner[length] <= outer[start] + outer[length] + 1


def test_names_stay_text(table: Page) -> None:
    board = show(table, ROUND)
    expect(board.locator(".name").nth(1)).to_have_text(HOSTILE)
    expect(table.locator("img")).to_have_count(0)
    expect(board).to_have_attribute(
        "aria-label",
        f"East 2, honba 3, riichi sticks 1, 49 draws left, dora indicators "
        f"4 pin, 8 sou. W a: 33000; E {HOSTILE}: 34000, riichi; S c: 37000",
    )


def test_japanese(table: Page) -> None:
    table.evaluate("localStorage.setItem('nukidora.language', 'ja')")
    board = show(table, ROUND[:5])
    expect(board.locator(".round")).to_have_text("東2局")
    expect(board.locator(".call")).to_have_text("ポン")
    expect(board.locator("[aria-live]")).to_have_text("aが東をポン")
    expect(board.get_by_role("img", name="赤5筒")).to_be_visible()


def test_any_state_can_follow_any_other(table: Page) -> None:
    assert table.evaluate(COMPARE, example_game()) == []


@pytest.mark.parametrize("size", [(360, 640), (390, 844), (667, 375), (844, 390), (1280, 800), (3840, 2160)])
def test_a_whole_game_fits(table: Page, size: tuple[int, int]) -> None:
    table.set_viewport_size({"width": size[0], "height": size[1]})
    assert table.evaluate(OUTSIDE, example_game()) <= 1
    hand = show(table, ROUND).locator(".seat.bottom .hand .tile").first.bounding_box()
    assert hand is not None
    assert hand["width"] >= 22
