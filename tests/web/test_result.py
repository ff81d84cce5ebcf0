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
        if honba := each["round"]["honba"] * (each["wins"] == 1):
            share = 100 if win["actor"] == win["target"] else 200
            assert f" + {share * honba:,} (honba)" in each["payments"]
    return len(found)


def test_the_fu_of_wins_are_explained(browser: Browser, site: Site, scale: Scale) -> None:
    seeds = range(8 if scale == "quick" else 42)
    assert check(browser, site, seeds) > 3 * len(seeds)


PAIR = """async (pairs) => {
  const { fuParts } = await import("/web/fu.js");
  return pairs.map(([actor, dealer, wind, pair]) => {
    const seat = { melds: [] };
    const hand = "1p 2p 3p 4p 5p 6p 7s 8s 9s 3s 4s".split(" ");
    const win = { actor, target: actor, pai: "2s", hora_tehais: [...hand, pair, pair], yakus: [["tsumo", 1]], fu: 30 };
    const parts = fuParts({ round: { dealer, wind }, seats: [seat, seat, seat] }, win);
    return parts.filter(({ why }) => why === "pair").map(({ fu }) => fu);
  });
}"""


def test_fu_of_a_pair_are_those_of_dragons_of_the_rounds_wind_and_of_the_seats_own(
    browser: Browser, site: Site
) -> None:
    rows = {
        (1, 0, "E", "S"): [2], (2, 0, "E", "W"): [2], (0, 1, "E", "W"): [2], (2, 1, "E", "S"): [2],
        (1, 0, "E", "W"): [], (2, 0, "E", "S"): [], (0, 1, "E", "S"): [], (2, 1, "E", "W"): [],
        (0, 0, "S", "S"): [2], (0, 0, "E", "E"): [4], (1, 1, "S", "E"): [2], (0, 0, "E", "N"): [],
        (0, 0, "S", "F"): [2],
    }  # fmt: skip
    assert in_browser(browser, site, PAIR, list(rows)) == list(rows.values())


def test_every_yaku_has_its_names(browser: Browser, site: Site) -> None:
    shown, dragons = in_browser(
        browser, site, "async () => { const m = await import('/web/yaku.js'); return [m.YAKU, m.DRAGONS]; }", None
    )
    names = {yaku["en"]: yaku for yaku in [*shown.values(), *dragons.values()]}
    for yaku in YAKU:
        assert names[yaku.name]["ja"] == yaku.japanese
        assert yaku.mjai in shown
        assert bool(names[yaku.name].get("yakuman")) == (yaku.closed >= YAKUMAN_HAN)
