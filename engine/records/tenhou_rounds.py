"""Conversion of a round of a tenhou.net/6 record (a list of head, hands, rows and result) to events and back."""

from __future__ import annotations

from typing import Any

from engine.common.error_text import error_text
from engine.mjai.messages import Message, make, start_kyoku
from engine.records.model import FOURTH_PLAYS, NotThreePlayersError, round_name, written_index
from engine.records.tenhou_results import read_result, write_result
from engine.records.tenhou_rows import interleave, tile_name, tile_number, write_rows
from engine.table import N_SEATS

# A round is [[index, honba, sticks], scores, indicators, ura indicators, hand, draws, discards of each seat…, result].
_HEAD = 4
_SEAT_ROWS = 3
_LENGTH = _HEAD + 4 * _SEAT_ROWS + 1


def read_round(log: list[Any], notes: list[str]) -> list[Message]:
    """Return the events of a round; anything not understood is added to `notes`.

    Raises ValueError if its parts do not fit together.
    """
    if len(log) != _LENGTH:
        raise ValueError(error_text("round_parts", "a round has {wanted} parts, not {n}", wanted=_LENGTH, n=len(log)))
    (index, honba, sticks), scores, indicators, ura = log[:_HEAD]
    seats = [log[_HEAD + _SEAT_ROWS * seat : _HEAD + _SEAT_ROWS * (seat + 1)] for seat in range(N_SEATS + 1)]
    if any(seats.pop()):
        raise NotThreePlayersError(FOURTH_PLAYS)
    hands = [[tile_name(number) for number in hand] for hand, _, _ in seats]
    markers = [tile_name(number) for number in indicators]
    start = start_kyoku(index, honba, sticks, markers[0], scores[:N_SEATS], hands)
    play = interleave(start["oya"], [draws for _, draws, _ in seats], [discards for _, _, discards in seats])
    riichi = {event["actor"] for event in play if event["type"] == "reach"}
    result = read_result(log[-1], [tile_name(number) for number in ura], riichi, round_name(start), notes)
    body = accept_riichi(place_indicators(play, markers[1:]), result)
    return [start, *body, *result, make("end_kyoku")]


def place_indicators(events: list[Message], markers: list[str]) -> list[Message]:
    """Insert a ``dora`` event for each further indicator at the time when Tenhou turns it over.

    That is immediately after an ankan; after a daiminkan or kakan, before the next discard or at the next kan or
    nukidora. The number of `markers` is assumed to be correct: kans beyond it turn over none, and remaining markers are
    put at the end.
    """
    placed: list[Message] = []
    left = [make("dora", dora_marker=marker) for marker in markers]
    pending = 0

    def turn_over(count: int) -> None:
        placed.extend(left[:count])
        del left[:count]

    for event in events:
        kind = event["type"]
        if kind == "dahai":
            turn_over(pending)
            pending = 0
        placed.append(event)
        if kind in ("ankan", "daiminkan", "kakan", "nukidora"):
            turn_over(pending + (kind == "ankan"))
            pending = int(kind in ("daiminkan", "kakan"))
    turn_over(len(left))
    return placed


def accept_riichi(events: list[Message], result: list[Message]) -> list[Message]:
    """Insert a ``reach_accepted`` after each riichi discard, except one that is won on by ron."""
    accepted: list[Message] = []
    declared = False
    last = len(events) - 1
    for number, event in enumerate(events):
        accepted.append(event)
        if event["type"] == "reach":
            declared = True
        elif event["type"] == "dahai" and declared:
            declared = False
            taken = number == last and result[0].get("target") == event["actor"]
            if not taken:
                accepted.append(make("reach_accepted", actor=event["actor"]))
    return accepted


def write_round(events: list[Message]) -> list[Any]:
    """Return the list of a round. Raises ValueError if the events lack required data."""
    start = events[0]
    draws, discards = write_rows(events)
    indicators = [start["dora_marker"], *(event["dora_marker"] for event in events if event["type"] == "dora")]
    ura: list[str] = next((event["uradora_markers"] for event in events if event.get("uradora_markers")), [])
    log: list[Any] = [
        [written_index(start), start["honba"], start["kyotaku"]],
        [*start["scores"], 0],
        [tile_number(name) for name in indicators],
        [tile_number(name) for name in ura],
    ]
    for seat in range(N_SEATS):
        log += [[tile_number(name) for name in start["tehais"][seat]], draws[seat], discards[seat]]
    return [*log, [], [], [], write_result(events)]
