"""Waits and furiten in the page of a player are those of the engine."""

from __future__ import annotations

import random
from typing import Any

from playwright.sync_api import Browser

from engine.shanten import shanten_of
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES, N_KINDS
from tests.conftest import Scale
from tests.support.seat_questions import seat_questions
from tests.web.conftest import Site, in_browser

FOLLOW = """async (seats) => {
  const [mjai, waits] = await Promise.all(["mjai", "waits"].map((name) => import(`/web/${name}.js`)));
  return seats.map((messages) => {
    let state = mjai.initial();
    let passed = waits.NOTHING_PASSED;
    return messages.flatMap((message) => {
      state = mjai.apply(state, message);
      passed = waits.followPassed(passed, state, message);
      if (!message.can_act) return [];
      const own = waits.waitsOf(state.seats[state.viewer]);
      const unseen = own.map((kind) => waits.unseen(state, kind));
      return [{ waits: own, temporary: passed.temporary, riichi: passed.riichi, unseen,
                furiten: waits.furiten(state, passed, own) }];
    });
  });
}"""


def check(browser: Browser, site: Site, seeds: range) -> tuple[int, int]:
    """Compare games of both presets. Returns how many positions were tenpai, and how many furiten."""
    seats = [seat for seed in seeds for rules in ("tenhou", "majsoul") for seat in seat_questions(seed, rules)]
    found = in_browser(browser, site, FOLLOW, seats)
    tenpai = furiten = 0
    for messages, answers in zip(seats, found, strict=True):
        questions = [message for message in messages if "can_act" in message]
        for message, answer in zip(questions, answers, strict=True):
            if message["type"] in ("pon", "reach"):
                continue  # the engine's waits are those of the hand before it
            expected: dict[str, Any] = message["expected"]
            assert answer["waits"] == expected["waits"], message
            assert answer["temporary"] == expected["temporary"], message
            assert answer["riichi"] == expected["riichi"], message
            assert answer["unseen"] == expected["unseen"], message
            barred = expected["discarded"] or expected["temporary"] or expected["riichi"]
            assert bool(answer["furiten"]) == (barred and bool(expected["waits"])), message
            tenpai += bool(expected["waits"])
            furiten += bool(answer["furiten"])
    return tenpai, furiten


def test_waits_and_furiten_are_those_of_the_engine(browser: Browser, site: Site, scale: Scale) -> None:
    for first in range(0, 4 if scale == "quick" else 44, 4):
        tenpai, furiten = check(browser, site, range(first, first + 4))
        assert (tenpai > 100, furiten > 10) == (True, True), (tenpai, furiten)


def near_tenpai(rng: random.Random) -> list[str]:
    """A hand of 13 that is often tenpai: of few kinds, of pairs, or of terminals and honours."""
    kinds = sorted({MJAI_NAMES[KIND_OF[tile]] for tile in FULL_SET})
    orphans = [kind for kind in kinds if kind[0] in "19" or len(kind) == 1]
    shape = rng.choice(["flush", "pairs", "orphans"])
    if shape == "pairs":
        return (rng.sample(kinds, 7) * 2)[:13]
    if shape == "orphans":
        return rng.sample(orphans, 12) + [rng.choice(orphans)] if rng.random() < 0.5 else orphans
    suit = rng.choice("ps")
    return rng.sample([kind for kind in kinds if kind.endswith(suit)] * 4, 13)


def test_waits_of_rare_hands(browser: Browser, site: Site) -> None:
    """Flushes, seven pairs and thirteen orphans, which games seldom show."""
    rng = random.Random(7)
    hands = [near_tenpai(rng) for _ in range(1000)]
    script = "async (hands) => { const { waits } = await import('/web/waits.js'); return hands.map(waits); }"
    found = in_browser(browser, site, script, hands)
    for hand, kinds in zip(hands, found, strict=True):
        assert kinds == [MJAI_NAMES[kind] for kind in expected_waits(hand)], hand
    assert sum(map(bool, found)) > 150


def expected_waits(hand: list[str]) -> list[int]:
    """The kinds that the engine finds to complete a concealed hand."""
    counts = [hand.count(name) for name in MJAI_NAMES[:N_KINDS]]
    found = []
    for kind in sorted({int(KIND_OF[tile]) for tile in FULL_SET}):
        drawn = [count + (kind == other) for other, count in enumerate(counts)]
        if drawn[kind] <= 4 and shanten_of(drawn) == -1:
            found.append(kind)
    return found
