"""The puzzle of a day, made from finished games in the worker process: a discard on which bots agree."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from agents.base import Agent
from agents.review.decisions import DISCARD_KIND, SeatDecisions, seat_decisions
from agents.review.opinions import Opinion, opinions_of
from agents.review.review import Review
from engine.mjai.messages import Message, for_seat, start_game
from engine.mjai.schema import KEYS
from engine.records.files import RecordError
from engine.rules import N_SEATS
from engine.tiles import WINDS
from server.review_work import Records, gzip_json, parse_upload, the_bot
from server.worker import Progress

LEAST_LOSS, MOST_LOSS = 0.02, 0.3  # of the second best discard, in placements: neither a toss-up nor obvious
NO_PUZZLE = b""  # the result where no decision is suitable


def puzzle(progress: Progress, *, records: Records, bots: tuple[str, ...], day: date) -> bytes:
    """The puzzle of a day, as gzipped JSON; NO_PUZZLE if there is none. It depends on the arguments alone.

    Seats are looked at in an order that is the day's own, until one has a suitable decision: mostly the first one has.
    Raises ValueError if a bot fails.
    """
    made = {bot: the_bot(bot) for bot in bots}
    data = dict(records)
    seats = [(game, seat) for game in data for seat in range(N_SEATS)]
    for game, seat in sorted(seats, key=lambda place: order_of(day, *place)):
        try:
            found = seat_decisions(parse_upload(data[game], game), seat)
        except RecordError:
            continue
        suitable = suitable_decisions(found, made)
        if suitable.of.decisions:
            messages = [decision.message for decision in suitable.of.decisions]
            chosen = min(range(len(messages)), key=lambda index: order_of(day, game, seat, messages[index]))
            return gzip_json({"date": day.isoformat(), "game": game} | as_json(suitable, chosen))
    return NO_PUZZLE


def order_of(day: date, *place: object) -> bytes:
    """Orders places as a day does: at random, but always the same."""
    return hashlib.sha256(repr((day.isoformat(), *place)).encode()).digest()


def suitable_decisions(of: SeatDecisions, bots: dict[str, Agent]) -> Review:
    """The review of those decisions on a discard that all bots answer alike, and the first one by a clear margin."""
    left = only(of, (index for index, each in enumerate(of.decisions) if each.kind == DISCARD_KIND))
    opinions: list[list[Opinion]] = []
    for spec, bot in bots.items():
        own = opinions_of(bot, spec, left, lambda n: None)
        first = opinions[0] if opinions else own
        kept = [
            index
            for index, each in enumerate(own)
            if is_between(first[index]) and effect(left, index, first[index]) == effect(left, index, each)
        ]
        opinions = [[each[index] for index in kept] for each in (*opinions, own)]
        left = only(left, kept)
    return Review(left, bots, opinions)


def only(of: SeatDecisions, indices: Iterable[int]) -> SeatDecisions:
    """Some of the decisions."""
    kept = list(indices)
    return replace(of, decisions=[of.decisions[index] for index in kept], views=of.views[kept])


def is_between(opinion: Opinion) -> bool:
    """Whether the second best option is as much worse as that of a puzzle."""
    best, second = opinion.options[0].value, opinion.options[1].value
    return best is not None and second is not None and LEAST_LOSS <= best - second <= MOST_LOSS


def effect(of: SeatDecisions, index: int, opinion: Opinion) -> int:
    """The index of the best option: the drawn tile and the same tile of the hand are one."""
    best = opinion.options[0].action
    return next(number for number, option in enumerate(of.decisions[index].options) if best in option)


def as_json(review: Review, index: int) -> dict[str, Any]:
    """A decision as the API sends it (docs/web.md)."""
    found, decision = review.decision(index), review.of.decisions[index]
    return {
        "seat": review.of.seat,
        "round": decision.round,
        "message": decision.message,
        "messages": messages_of(review.of, decision.message),
        "bots": [
            {"bot": bot, "actions": opinion["actions"]}
            for bot, opinion in zip(review.bots, found["reviews"], strict=True)
        ],
        "played": found["actual"],
    }


def messages_of(of: SeatDecisions, last: int) -> list[Message]:
    """The messages of a round up to `last` as the seat was sent them, without the names of players.

    Neither the seed of the walls nor what bots have said of their moves is left in them.
    """
    events = of.record.events[: last + 1]
    start = max(index for index, event in enumerate(events) if event["type"] == "start_kyoku")
    dealer = events[start]["oya"]
    names = [WINDS[(seat - dealer) % N_SEATS] for seat in range(N_SEATS)]
    round_so_far = [
        {key: value for key, value in event.items() if key in ("type", *KEYS[event["type"]])}
        for event in events[start:]
    ]
    return [for_seat(event, of.seat) for event in (start_game(names, of.record.rules), *round_so_far)]
