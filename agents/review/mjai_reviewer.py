"""A review in the JSON that mjai-reviewer writes, with a fourth seat that never plays, so that its viewers open it.

What the format asks for and three-player reviews do not have:

- A fourth seat: score 0, a hand of ``?``, delta 0, as in dialect libriichi3p, in which all messages are written.
- ``q_value`` is the action value in hundredths of a placement, since viewers show two decimals. ``prob`` is the bot's
  probability, or, for a bot that has none, softmax(values / TEMPERATURE). ``temperature`` is the one used, for values
  in hundredths.
- Options that the bot did not evaluate are left out. If such a one was played, it is the last of ``details``, with the
  ``q_value`` of the one before it and ``prob`` 0.
- ``relative_phi_matrix`` (the chances of each placement at the start of a round) is not estimated: the three places
  are equally likely for each of the three seats, and the fourth seat is always last.
- ``state.fuuros`` has no norths; they are in ``mjai_log``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agents.base import Probabilities
from agents.review.decisions import Decision, hand_of_viewer
from agents.review.opinions import Opinion, softmax
from agents.review.review import Json, Review
from engine.common.program import version
from engine.mjai import dialects
from engine.mjai.actions import action_message
from engine.mjai.messages import Message
from engine.records.model import GameRecord, RecordError, assumed_rules, round_index
from engine.records.tenhou_json import document_of
from engine.table import N_SEATS

DIALECT = "libriichi3p"
TEMPERATURE = 0.02  # placements; of bots without probabilities
HUNDREDTHS = 100  # of a placement
LENGTHS = {"east": "Tonpuu", "hanchan": "Hanchan"}
TOOK = "0s"  # times are texts like "1s 200ms"; they are not measured, so that the same review gives the same bytes
EVEN = [[1 / N_SEATS] * N_SEATS + [0.0]] * N_SEATS + [[0.0] * N_SEATS + [1.0]]
TILE_EVENTS = frozenset({"tsumo", "dahai", "kakan", "nukidora"})
NO_RANGE = 1e-6  # placements: options that differ by less are as good as each other in the rating


def document(review: Review) -> Json:
    """The review of the first bot as mjai-reviewer writes it."""
    record, seat = review.of.record, review.of.seat
    ((spec, bot), *_), opinions = review.bots.items(), review.opinions[0]
    temperature = bot.value_temperature if isinstance(bot, Probabilities) else TEMPERATURE
    entries = [
        entry(review, decision, view, opinion, temperature)
        for decision, view, opinion in zip(review.of.decisions, review.of.views, opinions, strict=True)
    ]
    return {
        "engine": "nukidora",
        "game_length": LENGTHS[assumed_rules(record).length],
        "loading_time": TOOK,
        "review_time": TOOK,
        "show_rating": True,
        "version": version(),
        "review": {
            "total_reviewed": len(opinions),
            "total_matches": sum(opinion.agrees for opinion in opinions),
            "rating": rating(opinions),
            "temperature": HUNDREDTHS * temperature,
            "kyokus": [
                {
                    "kyoku": round_index(events[0]),
                    "honba": events[0]["honba"],
                    "end_status": [to_reviewer(event) for event in events if event["type"] in ("hora", "ryukyoku")],
                    "relative_scores": relative([*events[0]["scores"], 0], seat),
                    "entries": [
                        each
                        for each, decision in zip(entries, review.of.decisions, strict=True)
                        if decision.round == index
                    ],
                }
                for index, events in enumerate(record.rounds())
            ],
            "relative_phi_matrix": [relative(EVEN, seat) for _ in record.rounds()],
            "model_tag": spec,
        },
        "player_id": seat,
        "split_logs": split_logs(record),
        "mjai_log": [to_reviewer(event) for event in record.events],
    }


def entry(review: Review, decision: Decision, view: Any, opinion: Opinion, temperature: float) -> Json:
    """A decision and what the bot thinks of it."""
    seat, events = review.of.seat, review.of.record.events
    start = next(at for at in range(decision.message, -1, -1) if events[at]["type"] == "start_kyoku")
    events = events[start : decision.message + 1]  # earlier rounds may depart from the rules
    event, own = events[-1], view["seat"][seat]
    furiten = own["temporary_furiten"] or own["riichi_furiten"] or int(own["waits"]) & int(own["discarded"])
    details = [
        {"action": to_reviewer(action_message(view, seat, action)), "q_value": HUNDREDTHS * value, "prob": probability}
        for action, value, probability in options_with_values(opinion, temperature)
    ]
    actual = min(opinion.actual, len(details) - 1)
    return {
        "junme": decision.turn,
        "tiles_left": int(view["live_left"]),
        "last_actor": next(each["actor"] for each in reversed(events) if "actor" in each),
        "tile": next(each["pai"] for each in reversed(events) if each["type"] in TILE_EVENTS and each["pai"] != "?"),
        "state": {"tehai": hand_of_viewer(view), "fuuros": melds(events, seat)},
        "at_self_chi_pon": event["type"] == "pon" and event["actor"] == seat,
        "at_self_riichi": event["type"] == "reach" and event["actor"] == seat,
        "at_opponent_kakan": event["type"] == "kakan" and event["actor"] != seat,
        "expected": details[0]["action"],
        "actual": details[actual]["action"],
        "is_equal": opinion.agrees,
        "details": details,
        "shanten": max(decision.shanten, 0),
        "at_furiten": bool(furiten),
        "actual_index": actual,
    }


def options_with_values(opinion: Opinion, temperature: float) -> Iterator[tuple[int, float, float]]:
    """Action, value and probability of the options with a value, and of the one that was played."""
    values = [option.value for option in opinion.options if option.value is not None]
    shares = softmax(np.array(values), temperature)
    for option, value, share in zip(opinion.options, values, shares, strict=False):
        yield option.action, value, share
    if opinion.actual >= len(values):
        yield opinion.options[opinion.actual].action, values[-1], 0.0


def rating(opinions: list[Opinion]) -> float:
    """mjai-reviewer's rating, 0 to 1: the squared mean of where each actual value lies between the worst and the best.

    An actual option without a value counts 0.
    """
    return (sum(map(standing, opinions)) / len(opinions)) ** 2


def standing(opinion: Opinion) -> float:
    """Where the value of what was played lies between the worst, 0, and the best, 1."""
    if opinion.agrees:
        return 1.0
    if opinion.loss is None:
        return 0.0
    values = [option.value for option in opinion.options if option.value is not None]
    return 1.0 - opinion.loss / max(values[0] - values[-1], NO_RANGE)


def to_reviewer(message: Message) -> Message:
    """A canonical event or action as these files have it; a pass is no more than its type."""
    return {"type": "none"} if message["type"] == "none" else dialects.write(message, DIALECT)


def relative(by_seat: list[Any], seat: int) -> list[Any]:
    """A list of the four seats from the reviewed one on."""
    return by_seat[seat:] + by_seat[:seat]


def melds(events: list[Message], seat: int) -> list[Message]:
    """The melds of a seat after `events` of a round, as mjai-reviewer writes them."""
    found: list[Message] = []
    for event in events:
        kind = event["type"]
        if event.get("actor") != seat:
            continue
        if kind in ("pon", "daiminkan"):
            found.append({key: event[key] for key in ("type", "target", "pai", "consumed")})
        elif kind == "ankan":
            found.append({"type": kind, "consumed": event["consumed"]})
        elif kind == "kakan":
            index = next(
                i for i, meld in enumerate(found) if meld["type"] == "pon" and meld["pai"][:2] == event["pai"][:2]
            )
            pon = found[index]
            found[index] = {
                "type": kind,
                "pai": event["pai"],
                "previous_pon_target": pon["target"],
                "previous_pon_pai": pon["pai"],
                "consumed": pon["consumed"],
            }
    return found


def split_logs(record: GameRecord) -> list[Json]:
    """tenhou.net/6 documents of one round each; none if that format cannot represent the game."""
    try:
        document = document_of(record)
    except RecordError:
        return []
    return [document | {"log": [log]} for log in document["log"]]
