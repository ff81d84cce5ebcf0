"""The explanation of a result: names of yaku, and fu that add up to what the engine has counted."""

from __future__ import annotations

from playwright.sync_api import Browser

from engine.scoring.yaku import YAKU, YAKUMAN_HAN
from tests.conftest import Scale
from tests.support.seat_questions import seat_questions
from tests.web.conftest import Site, in_browser

EXPLAIN = """async (games) => {
  const names = ["mjai", "fu", "result"];
  const [mjai, fu, result] = await Promise.all(names.map((name) => import(`/web/${name}.js`)));
  return games.map((messages) => {
    let state = mjai.initial();
    return messages.flatMap((message) => {
      state = mjai.apply(state, message);
      if (message.type !== "hora") return [];
      const [panel] = [...result.resultPanel(state).querySelectorAll(".result-payments")].slice(-1);
      return [{ win: message, parts: fu.fuParts(state, message), round: state.round, wins: state.wins.length,
                payments: panel.textContent }];
    });
  });
}"""


def fu_of_pair(kind: str, seat: int, dealer: int, round_wind: str) -> int:
    """Fu of a pair: 2 for each of a dragon, the seat's wind and the round's."""
    return 2 * ((kind in "PFC") + (kind == "ESW"[(seat - dealer) % 3]) + (kind == round_wind))


def check(browser: Browser, site: Site, seeds: range) -> int:
    """Explain the fu and payments of all wins of games; returns how many there were."""
    games = [seat_questions(seed, rules)[0] for seed in seeds for rules in ("tenhou", "majsoul")]
    found = [each for game in in_browser(browser, site, EXPLAIN, games) for each in game]
    for each in found:
        win, parts = each["win"], each["parts"]
        if win["fan"] < YAKUMAN_HAN:
            total = sum(part["fu"] for part in parts)
            assert (total if total == 25 else -(-total // 10) * 10) == win["fu"], each
            assert [part["fu"] for part in parts if part["why"] == "wait"] in ([], [2]), each
        for part in parts:
            if part["why"] == "pair":
                assert part["fu"] == fu_of_pair(
                    part["tile"], win["actor"], each["round"]["dealer"], each["round"]["wind"]
                )
        if honba := each["round"]["honba"] * (each["wins"] == 1):
            share = 100 if win["actor"] == win["target"] else 200
            assert f" + {share * honba:,} (honba)" in each["payments"]
    return len(found)


def test_the_fu_of_wins_are_explained(browser: Browser, site: Site) -> None:
    assert check(browser, site, range(2)) > 5


def test_the_fu_of_many_wins_are_explained(browser: Browser, site: Site, scale: Scale) -> None:
    seeds = {"quick": range(2, 10), "long": range(2, 42)}[scale]
    assert check(browser, site, seeds) > 3 * len(seeds)


def test_every_yaku_has_its_names(browser: Browser, site: Site) -> None:
    shown, dragons = in_browser(
        browser, site, "async () => { const m = await import('/web/yaku.js'); return [m.YAKU, m.DRAGONS]; }", None
    )
    names = {yaku["en"]: yaku for yaku in [*shown.values(), *dragons.values()]}
    for yaku in YAKU:
        assert names[yaku.name]["ja"] == yaku.japanese
        assert yaku.mjai in shown
        assert bool(names[yaku.name].get("yakuman")) == (yaku.closed >= YAKUMAN_HAN)
