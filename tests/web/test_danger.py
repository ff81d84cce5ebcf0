"""How safe discards are against a riichi, as the page of a player says."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.accessibility import serious_faults
from tests.web.conftest import Site, both_sizes, in_browser
from tests.web.scripted_table import ScriptedTable

REASONS = """async ([messages, tiles]) => {
  const [mjai, danger] = await Promise.all(["mjai", "danger"].map((name) => import(`/web/${name}.js`)));
  let state = mjai.initial();
  let passed = danger.NONE_PASSED;
  for (const message of messages) {
    state = mjai.apply(state, message);
    passed = danger.followRiichi(passed, state, message);
  }
  return tiles.map((tile) => danger.reasonOf(state, passed, 1, tile));
}"""
HAND = ["2p", "2p", "2p", "2p", "4s", "5s", "6s", "E", "E", "E", "S", "C", "1m"]


def discard(seat: int, tile: str) -> list[dict[str, Any]]:
    """A turn of another seat."""
    return [
        {"type": "tsumo", "actor": seat, "pai": "?"},
        {"type": "dahai", "actor": seat, "pai": tile, "tsumogiri": True},
    ]


def round_with_riichi(before: list[str], after: list[str]) -> list[dict[str, Any]]:
    """Seat 1 discards some tiles and is then in riichi; then seat 2 discards some others."""
    riichi = [{"type": "tsumo", "actor": 1, "pai": "?"}, {"type": "reach", "actor": 1}]
    start = {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 2, "honba": 0, "kyotaku": 0, "oya": 1, "dora_marker": "S",
        "scores": [35000] * 3, "tehais": [HAND, ["?"] * 13, ["?"] * 13],
    }  # fmt: skip
    *earlier, last = before
    return [
        {"type": "start_game", "names": ["me", "riichi", "other"], "id": 0},
        start,
        *(message for tile in earlier for message in discard(1, tile)),
        *discard(2, "F"),  # before the riichi: says nothing
        *riichi,
        {"type": "dahai", "actor": 1, "pai": last, "tsumogiri": True},
        *(message for tile in after for message in discard(2, tile)),
    ]


@pytest.mark.parametrize(
    ("before", "after", "tile", "reason"),
    [
        (["5s", "9p"], [], "5sr", "genbutsu"),
        (["9p"], ["7s"], "7s", "genbutsu"),  # nobody has won on it
        (["9p"], [], "F", "live"),  # seat 2 discarded it before the riichi
        (["9p"], [], "E", "single"),
        (["9p"], ["E"], "E", "genbutsu"),
        (["9p"], [], "S", "live"),  # one held, one seen as dora indicator
        (["9p"], [], "1m", "live"),
        (["9p"], [], "1p", "no_chance"),  # all 2p are held
        (["9p"], [], "3p", "open"),  # 4p 5p waits for it
        (["6p"], [], "3p", "suji"),
        (["4s", "9p"], [], "1s", "suji"),
        (["4s", "9p"], [], "7s", "suji"),
        (["1s", "9p"], [], "4s", "open"),  # 5s 6s waits for it
        (["1s", "7s"], [], "4s", "suji"),
        (["1s", "9p"], ["7s"], "4s", "suji"),
        (["9p"], [], "5s", "open"),
        (["9p"], ["4p", "4p", "4p", "4p"], "3p", "no_chance"),
    ],
)
def test_why_a_tile_is_safe(
    browser: Browser, site: Site, before: list[str], after: list[str], tile: str, reason: str
) -> None:
    assert in_browser(browser, site, REASONS, [round_with_riichi(before, after), [tile]]) == [reason]


@both_sizes
def test_the_switch_marks_the_own_tiles(page: Page, scripted: ScriptedTable) -> None:
    scripted.begin(HAND, dealer=1)
    page.keyboard.press("d")
    bars = page.locator("nuki-table .seat.bottom .bar")
    expect(page.get_by_role("button", name="Danger")).to_have_attribute("aria-pressed", "true")
    expect(bars).to_have_count(0)
    expect(page.locator(".danger-legend")).to_have_text("Danger: nobody is in riichi")
    scripted.say("tsumo", actor=1, pai="?")
    scripted.say("reach", actor=1)
    scripted.say("dahai", actor=1, pai="C", tsumogiri=True)
    scripted.say("reach_accepted", actor=1, deltas=[0, -1000, 0], scores=[35000, 34000, 35000])
    scripted.other_discards(2, "E")
    scripted.draw("9s")
    expect(bars).to_have_count(14)
    roles = bars.evaluate_all("each => each.map((bar) => bar.className)")
    assert roles.count("bar danger-0") == 4  # E E E C
    assert roles[-1] == "bar danger-3"
    expect(page.get_by_role("button", name="genbutsu (right)")).to_have_count(4)
    expect(page.locator(".danger-legend")).to_contain_text("no suji")
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Danger").click()
    expect(bars).to_have_count(0)
    expect(page.locator(".danger-legend")).to_have_count(0)
