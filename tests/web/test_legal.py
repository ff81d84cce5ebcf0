"""What the page of a player offers is what the engine allows."""

from __future__ import annotations

import json

from playwright.sync_api import Browser

from engine.mjai.messages import Message
from tests.conftest import Scale
from tests.support.seat_questions import seat_questions
from tests.web.conftest import Site, in_browser

FOLLOW = """async (seats) => {
  const [mjai, legal] = await Promise.all(["mjai", "legal"].map((name) => import(`/web/${name}.js`)));
  return seats.map((messages) => {
    let state = mjai.initial();
    return messages.flatMap((message) => {
      state = mjai.apply(state, message);
      if (!message.can_act) return [];
      const replies = legal.replies(state, message);
      return [{ replies, riichi: message.type === "reach" ? legal.riichiDiscards(state) : null,
                playable: legal.playable(replies) }];
    });
  });
}"""


def check(browser: Browser, site: Site, seeds: range) -> int:
    """Compare the replies in games of both presets; returns how many questions there were."""
    seats = [seat for seed in seeds for rules in ("tenhou", "majsoul") for seat in seat_questions(seed, rules)]
    found = in_browser(browser, site, FOLLOW, seats)
    count = 0
    for messages, answers in zip(seats, found, strict=True):
        questions = [message for message in messages if "can_act" in message]
        for message, answer in zip(questions, answers, strict=True):
            expected = message["expected"]["replies"]
            assert as_set(answer["replies"]) == as_set(expected), message
            assert len(answer["replies"]) == len(expected), message
            discards = [reply for reply in expected if reply["type"] == "dahai"]
            if answer["riichi"] is not None:
                assert as_set(answer["riichi"]) == as_set(discards), message
            hand = {reply["pai"] for reply in discards if not reply["tsumogiri"]}
            drawn = any(reply["tsumogiri"] for reply in discards)
            assert (set(answer["playable"]["hand"]), answer["playable"]["drawn"]) == (hand, drawn), message
            count += 1
    return count


def as_set(replies: list[Message]) -> set[str]:
    """Replies, however their keys and tiles are ordered."""
    return {json.dumps({**reply, "consumed": sorted(reply.get("consumed", []))}, sort_keys=True) for reply in replies}


def test_the_replies_offered_are_those_the_engine_allows(browser: Browser, site: Site, scale: Scale) -> None:
    seeds = range(4 if scale == "quick" else 24)
    parts = [seeds[first : first + 4] for first in range(0, len(seeds), 4)]
    assert sum(check(browser, site, part) for part in parts) > 400 * len(seeds)


AUTOMATIC = """async (cases) => {
  const { automatic } = await import("/web/legal.js");
  return cases.map(([types, switches]) =>
    automatic(types.map((type) => type === "tsumogiri" ? { type: "dahai", tsumogiri: true } : { type }),
              new Set(switches))?.type ?? null);
}"""
OWN_TURN = ["dahai", "tsumogiri", "nukidora", "reach"]
CASES: list[tuple[list[str], list[str], str | None]] = [
    (OWN_TURN, [], None),
    (OWN_TURN, ["no_calls", "win"], None),
    (OWN_TURN, ["nukidora", "tsumogiri"], "nukidora"),
    (OWN_TURN, ["tsumogiri"], "dahai"),
    ([*OWN_TURN, "hora"], ["nukidora", "tsumogiri", "no_calls"], None),
    ([*OWN_TURN, "hora"], ["nukidora", "win"], "hora"),
    (["pon", "daiminkan", "none"], ["no_calls"], "none"),
    (["pon", "none"], ["win", "nukidora", "tsumogiri"], None),
    (["hora", "pon", "none"], ["no_calls"], None),
    (["hora", "pon", "none"], ["no_calls", "win"], "hora"),
    (["dahai"], ["tsumogiri", "nukidora"], None),
]


def test_switches_never_pass_a_win(browser: Browser, site: Site) -> None:
    found = in_browser(browser, site, AUTOMATIC, [case[:2] for case in CASES])
    assert found == [case[2] for case in CASES]
