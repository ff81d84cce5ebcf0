"""The explanation of a result: names of yaku, and fu that add up to what the engine has counted."""

from __future__ import annotations

from playwright.sync_api import Browser

from engine.scoring.yaku import YAKU, YAKUMAN_HAN
from tests.conftest import Scale
from tests.support.seat_questions import seat_questions
from tests.web.conftest import Site, in_browser

EXPLAIN = """async (games) => {
  const [mjai, fu] = await Promise.all(["mjai", "fu"].map((name) => import(`/web/${name}.js`)));
  return games.map((messages) => {
    let state = mjai.initial();
    return messages.flatMap((message) => {
      state = mjai.apply(state, message);
      return message.type === "hora" ? [{ win: message, parts: fu.fuParts(state, message) }] : [];
    });
  });
}"""


def check(browser: Browser, site: Site, seeds: range) -> int:
    """Explain the fu of all wins of games; returns how many there were."""
    games = [seat_questions(seed, rules)[0] for seed in seeds for rules in ("tenhou", "majsoul")]
    found = [each for game in in_browser(browser, site, EXPLAIN, games) for each in game]
    for each in found:
        win, parts = each["win"], each["parts"]
        if win["fan"] < YAKUMAN_HAN:
            total = sum(part["fu"] for part in parts)
            assert (total if total == 25 else -(-total // 10) * 10) == win["fu"], each
            assert [part["fu"] for part in parts if part["why"] == "wait"] in ([], [2]), each
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
