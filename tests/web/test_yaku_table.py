"""The table of yaku beside a game: its han are the engine's, its marks what the tiles allow."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.rules import MAJSOUL, PRESETS
from engine.scoring import yaku as numbers
from engine.scoring.yaku import BONUS, YAKU, YAKUMAN_HAN
from tests.support.accessibility import serious_faults
from tests.web.conftest import Site, both_sizes, in_browser
from tests.web.scripted_table import ScriptedTable

TABLE = """async ([hand, melds, rules]) => {
  const [mjai, table] = await Promise.all(["mjai", "yaku_table"].map((name) => import(`/web/${name}.js`)));
  const state = mjai.initial();
  const seat = { ...state.seats[1], hand, melds };
  const round = { wind: "E", kyoku: 1, honba: 0, dealer: 0, index: 0, startScores: [] };
  return table.yakuOf({ ...state, rules, round, viewer: 1, seats: state.seats.with(1, seat) });
}"""
NOT_LISTED = {*BONUS, numbers.SANSHOKU}  # no yaku; impossible with three players
SIMPLE = ["2p", "2p", "3p", "4p", "5pr", "6p", "7p", "2s", "3s", "4s", "6s", "7s", "8s"]


def table(browser: Browser, site: Site, hand: list[str], melds: list[Any], rules: str = "tenhou") -> list[Any]:
    found: list[Any] = in_browser(browser, site, TABLE, [hand, melds, rules])
    return found


def pon(tile: str) -> dict[str, Any]:
    return {"type": "pon", "tiles": [tile] * 3, "called": tile, "target": 0}


def ankan(tile: str) -> dict[str, Any]:
    return {"type": "ankan", "tiles": [tile] * 4, "called": "", "target": -1}


@pytest.mark.parametrize("rules", PRESETS)
def test_all_yaku_with_the_han_of_the_engine(browser: Browser, site: Site, rules: str) -> None:
    most = 2 * YAKUMAN_HAN if rules == MAJSOUL.name else YAKUMAN_HAN
    expected = [
        (yaku.mjai, min(yaku.closed, most), min(yaku.open, most)) for yaku in YAKU if yaku.number not in NOT_LISTED
    ]
    found = [(row["name"], row["closed"], row["open"]) for row in table(browser, site, SIMPLE, [], rules)]
    assert sorted(found) == sorted(expected)
    assert [row["tile"] for row in table(browser, site, SIMPLE, []) if row["name"] == "sangenpai"] == ["P", "F", "C"]


@pytest.mark.parametrize(
    ("hand", "melds", "marks"),
    [
        (SIMPLE, [], {"tanyaochu": "has", "honiso": "", "pinfu": "", "honchantaiyao": "", "chitoitsu": ""}),
        (SIMPLE[:10], [pon("8p")], {"tanyaochu": "has", "pinfu": "lost", "reach": "lost", "chitoitsu": "lost"}),
        (SIMPLE[:10], [pon("9p")], {"tanyaochu": "lost", "junchantaiyao": "", "honiso": "near"}),
        (SIMPLE[:10], [pon("P")], {"P": "has", "F": "", "tanyaochu": "lost", "junchantaiyao": "lost"}),
        (SIMPLE[:10], [ankan("8p")], {"reach": "", "ipeko": "", "pinfu": "lost", "ryanpeko": "lost"}),
        (["F", "F", *SIMPLE[2:]], [], {"F": "near", "C": "", "tanyaochu": "near", "jikaze": ""}),
        (["E", "E", "S", "S", "S", *SIMPLE[5:]], [], {"bakaze": "near", "jikaze": "has", "tanyaochu": ""}),
        (["1p", "2p", "3p", "4p", "5p", "6p", "7p", "9p", "9p", "E"], [pon("C")],
         {"honiso": "has", "chiniso": "lost", "ikkitsukan": "near"}),
        (["1p", "2p", "3p", "4p", "5p", "6p", "7p", "9p", "9p", "9p", "2s", "3s", "4s"], [],
         {"chiniso": "near", "honiso": "near", "churenpoton": "", "ikkitsukan": "near"}),
        (["1p", "2p", "3p", "4p"], [pon("8p"), pon("8s"), pon("2s")], {"honiso": "lost", "chiniso": "lost"}),
        (["1m", "1m", "9m", "9m", "E", "S", "W"], [pon("F"), pon("P")], {"honiso": "has", "honroto": "has"}),
        (["1p", "1p", "5p", "5p", "7s", "7s", "E", "E", "2s", "3s", "4s", "6s", "7p"], [],
         {"chitoitsu": "near", "toitoiho": "near", "sananko": ""}),
        (["1p", "1p", "5p", "5p", "7s", "7s", "E"], [pon("2s"), pon("8s")],
         {"toitoiho": "near", "chitoitsu": "lost", "sananko": "lost", "suanko": "lost"}),
        (["1p", "1p", "1p", "5p", "5p", "5p", "E"], [pon("2s"), ankan("8s")],
         {"toitoiho": "has", "sananko": "has", "suanko": "lost", "sankantsu": ""}),
        (["1p", "1p", "1p", "E"], [ankan("5p"), ankan("2s"), ankan("8s")],
         {"sankantsu": "has", "sukantsu": "near", "suanko": "has", "reach": ""}),
        (["1m", "9m", "1p", "9p", "1s", "9s", "E", "S", "W", "N", "5p", "5p", "6p"], [], {"kokushimuso": "near"}),
        (["P", "P", "F", "F", *SIMPLE[6:9]], [pon("C"), pon("8p")], {"daisangen": "near", "C": "has"}),
        (["1p", "2p", "3p", "7s", "8s", "9s", "E", "E", "1s", "1s"], [pon("9p")],
         {"honchantaiyao": "near", "junchantaiyao": "", "tsuiso": "lost"}),
    ],
)  # fmt: skip
def test_what_a_hand_has(
    browser: Browser, site: Site, hand: list[str], melds: list[Any], marks: dict[str, str]
) -> None:
    """The seat is South in an East round."""
    found = {row["tile"] or row["name"]: row["progress"] for row in table(browser, site, hand, melds)}
    assert {name: found[name] for name in marks} == marks


@both_sizes
def test_the_table_is_shown_beside_the_hand(page: Page, scripted: ScriptedTable) -> None:
    scripted.begin(SIMPLE)
    scripted.draw("N")
    panel = page.get_by_role("region", name="All yaku")
    expect(panel).to_be_hidden()
    expect(page.locator("nuki-table button:enabled")).to_have_count(14)
    page.keyboard.press("t")
    expect(panel.locator("[data-yaku=tanyaochu]")).to_contain_text("Tanyao (few tiles are missing)")
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tops = page.locator(".seat.bottom .hand .tile").evaluate_all(
        "tiles => tiles.map((tile) => tile.getBoundingClientRect().top)"
    )
    assert panel.evaluate("panel => panel.getBoundingClientRect().bottom") <= min(tops)  # the hand is not covered
    page.locator("nuki-table button.drawn").click()
    scripted.say("dahai", actor=0, pai="N", tsumogiri=True)
    expect(panel.locator("[data-yaku=tanyaochu]")).to_contain_text("Tanyao (the hand has it so far)")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="Yaku")).to_have_attribute("aria-pressed", "false")
