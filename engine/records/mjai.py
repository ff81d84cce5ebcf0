"""mjai logs: one JSON event per line.

Any dialect is read (see `engine.mjai.reading`). mjai3p is written: keys in a fixed order, compact separators, UTF-8.
"""

from __future__ import annotations

import json

from engine.common.error_text import error_text
from engine.mjai import dialects
from engine.mjai.connection import DEFAULT_DIALECT
from engine.mjai.jansou import unsupported_rules
from engine.mjai.kinds import HIDDEN_TILE
from engine.mjai.messages import Message, complete, dumps, loads, order_keys, rules_of
from engine.mjai.reading import canonical_event
from engine.mjai.schema import NOT_OF_A_GAME
from engine.records.cut_off import describe_cut, without_half_line
from engine.records.model import (
    FOUR_NAMED,
    FOURTH_PLAYS,
    GameRecord,
    HandedOver,
    NotThreePlayersError,
    RecordError,
    at_line,
    custom_rules,
    record_errors,
)
from engine.table import N_SEATS


def read(text: str, source: str, *, allow_cut: bool = False) -> GameRecord:
    """Read the game in the `text` of an mjai log; `source`: file name, for messages. RecordError names the line.

    `allow_cut`: read a log that was cut off as far as it goes; see `GameRecord.cut`.
    """
    if allow_cut:
        text = without_half_line(text)
    events: list[Message] = []
    custom: list[str] = []
    ended: list[HandedOver] = []  # seats that their bots play again
    playing: dict[int, HandedOver] = {}
    number = 0
    # Not splitlines(): JSON may contain other Unicode line breaks, such as U+2028, unescaped.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if not line.strip():
            continue
        with record_errors(source, at_line(number)):
            message = _parse(line)
            if message["type"] not in NOT_OF_A_GAME:
                _check_players(message)
                custom += unsupported_rules(message)
                events.append(canonical_event(message))
                _check_frame(events)
            elif "played_by" in message and message.get("actor") in range(N_SEATS):  # an error
                _hand_over(ended, playing, int(message["actor"]), str(message["played_by"]), len(events))
    cut = describe_cut(events) if allow_cut else None
    if cut is None and (not events or events[-1]["type"] != "end_game"):
        what = "the log ends without end_game; it was cut off, fetch it again"
        raise RecordError(source, at_line(number), error_text("log_cut", what))
    with record_errors(source, at_line(1)):
        rules = rules_of(events[0])
    return GameRecord(complete(events), rules, source, custom_rules(custom), [*ended, *playing.values()], cut)


def _hand_over(ended: list[HandedOver], playing: dict[int, HandedOver], seat: int, who: str, n_before: int) -> None:
    """Record who plays a seat after the first `n_before` events; `who` is ``""`` for its bot."""
    before = playing.pop(seat, None)
    if before is not None and before.first < n_before:
        before.end = n_before
        ended.append(before)
    if who:
        playing[seat] = HandedOver(seat, who, n_before)


def write(record: GameRecord, dialect: str = DEFAULT_DIALECT) -> str:
    """The log of a game in `dialect`: one event per line, each ended by a newline. ``error`` events are kept."""
    return "".join(dumps(dialects.write(order_keys(event), dialect)) + "\n" for event in record.events)


def _parse(line: str) -> Message:
    try:
        message = loads(line)
    except json.JSONDecodeError as error:
        what = "not JSON at column {n} ({error}); the line was cut or changed"
        raise ValueError(error_text("line_no_json", what, n=error.colno, error=error.msg)) from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(error_text("no_event", 'not an mjai event: expected an object with a "type"'))
    return message


def _check_players(message: Message) -> None:
    """Raise NotThreePlayersError if four players are named, or four get tiles."""
    names, hands = message.get("names"), message.get("tehais")
    if message["type"] == "start_game" and isinstance(names, list) and len(names) > N_SEATS and names[N_SEATS]:
        raise NotThreePlayersError(FOUR_NAMED)
    if message["type"] == "start_kyoku" and isinstance(hands, list) and len(hands) > N_SEATS:
        if isinstance(hands[N_SEATS], list) and set(map(str, hands[N_SEATS])) - {HIDDEN_TILE}:
            raise NotThreePlayersError(FOURTH_PLAYS)


def _check_frame(events: list[Message]) -> None:
    """Raise ValueError unless the log begins with the only start_game and ends at end_game."""
    kind = events[-1]["type"]
    if (kind == "start_game") != (len(events) == 1):
        if len(events) > 1:
            raise ValueError(error_text("game_again", "a log holds one game and begins with start_game"))
        what = "a log holds one game and begins with start_game, not {event}"
        raise ValueError(error_text("log_beginning", what, event=kind))
    if len(events) > 1 and events[-2]["type"] == "end_game":
        raise ValueError(error_text("after_end", "{event} after end_game: a log holds one game", event=kind))
