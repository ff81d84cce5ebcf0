"""The puzzle of a day, made from records in the worker process: a discard that good bots find, and a simple one not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any

from agents.base import Agent
from agents.review.decisions import DISCARD_KIND, Decision, SeatDecisions, seat_decisions
from agents.review.opinions import Opinion, cached_bot, opinions_of
from agents.review.review import Review
from engine.mjai.messages import Message, for_seat, start_game
from engine.mjai.schema import KEYS
from engine.records.archives import find_records, members
from engine.records.files import RecordError
from engine.rules import N_SEATS
from engine.tiles import WINDS
from server.review_work import Records, gzip_json, parse_upload
from server.worker import Progress

LEAST_LOSS, MOST_LOSS = 0.02, 0.3  # of the second best discard, in placements: neither a toss-up nor obvious
LEAST_OPTIONS = 5  # tiles that may be discarded: after a riichi or a call there is often little to choose from
SIMPLE = "efficiency"  # the bot that should choose otherwise: what it finds is easy
MAX_LISTED = 20_000  # the first records of a folder or archive, of which those of a day are chosen
MAX_CHOSEN = 20  # records that are looked at in a day
NO_PUZZLE = b""  # the result where no decision is suitable


def puzzle(progress: Progress, *, records: Records, bots: tuple[str, ...], day: date) -> bytes:
    """The puzzle of a day from finished games, as gzipped JSON; NO_PUZZLE if there is none.

    It depends on the arguments alone. Raises ValueError if a bot fails.
    """
    return packed(find(records, bots, day))


def puzzle_of_files(progress: Progress, *, path: str, bots: tuple[str, ...], day: date) -> bytes:
    """The puzzle of a day from a folder, file or archive of records, whose names it does not tell.

    Raises ValueError if a bot fails or nothing is there.
    """
    try:
        records = records_of(path, day)
    except OSError as error:
        raise ValueError(str(error)) from error
    found = find(records, bots, day)
    return packed(found and found | {"game": ""})


def records_of(path: str, day: date) -> Records:
    """Some records of a folder, file or archive, chosen by the day. Raises OSError."""
    chosen: list[tuple[int, str, bytes]] = []  # a heap, the last in the order of the day first
    for member in islice(members(find_records([path])), MAX_LISTED):
        place = -int.from_bytes(order_of(day, member.name))
        if len(chosen) == MAX_CHOSEN and place < chosen[0][0]:
            continue
        try:
            entry = (place, member.name, member.read())
        except RecordError:
            continue
        if len(chosen) < MAX_CHOSEN:
            heappush(chosen, entry)
        else:
            heappushpop(chosen, entry)
    return [(name, data) for _, name, data in chosen]


def find(records: Records, bots: tuple[str, ...], day: date) -> dict[str, Any] | None:
    """The puzzle of a day: the first that is hard, in an order of seats that is the day's own, else the first."""
    made, simple = {bot: cached_bot(bot) for bot in bots}, cached_bot(SIMPLE)
    data = dict(records)
    easy: dict[str, Any] | None = None
    seats = [(game, seat) for game in data for seat in range(N_SEATS)]
    for game, seat in sorted(seats, key=lambda place: order_of(day, *place)):
        try:
            found = seat_decisions(parse_upload(data[game], game), seat)
        except RecordError:
            continue
        suitable = suitable_decisions(found, made)
        hard = hard_decisions(suitable, simple)
        if hard.of.decisions:
            return chosen_of(hard, game, day)
        if easy is None and suitable.of.decisions:
            easy = chosen_of(suitable, game, day)
    return easy


def chosen_of(review: Review, game: str, day: date) -> dict[str, Any]:
    """The decision of a seat that the day chooses, as a puzzle."""
    messages = [decision.message for decision in review.of.decisions]
    chosen = min(range(len(messages)), key=lambda index: order_of(day, game, review.of.seat, messages[index]))
    return {"date": day.isoformat(), "game": game} | as_json(review, chosen)


def packed(found: dict[str, Any] | None) -> bytes:
    """A puzzle as it is sent."""
    return NO_PUZZLE if found is None else gzip_json(found)


def order_of(day: date, *place: object) -> bytes:
    """Orders places as a day does: at random, but always the same."""
    return hashlib.sha256(repr((day.isoformat(), *place)).encode()).digest()


def suitable_decisions(of: SeatDecisions, bots: dict[str, Agent]) -> Review:
    """The review of those decisions on a discard that all bots answer alike, and the first one by a clear margin."""
    left = only(of, (index for index, each in enumerate(of.decisions) if is_open(each)))
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


def hard_decisions(review: Review, simple: Agent) -> Review:
    """The review of those decisions in which the simple bot chooses otherwise."""
    of, (first, *_) = review.of, review.opinions
    answers = simple.act(of.views).tolist() if of.decisions else []
    hard = [
        index
        for index, answer in enumerate(answers)
        if answer not in of.decisions[index].options[effect(of, index, first[index])]
    ]
    return Review(only(of, hard), review.bots, [[each[index] for index in hard] for each in review.opinions])


def only(of: SeatDecisions, indices: Iterable[int]) -> SeatDecisions:
    """Some of the decisions."""
    kept = list(indices)
    return replace(of, decisions=[of.decisions[index] for index in kept], views=of.views[kept])


def is_open(decision: Decision) -> bool:
    """Whether this is a choice between many discards."""
    return decision.kind == DISCARD_KIND and len(decision.options) >= LEAST_OPTIONS


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
