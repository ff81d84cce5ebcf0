"""mjai logs: one JSON event per line.

Read liberally (see `engine.mjai.reading`), written exactly: keys in one fixed order, compact separators, UTF-8.
"""

from __future__ import annotations

import json

from engine.mjai.messages import Event, complete, dumps, ordered, rules_of
from engine.mjai.reading import TALK, canonical_event
from engine.records.model import GameRecord, RecordError, located


def read(text: str, source: str) -> GameRecord:
    """The game of a mjai log. Raises RecordError naming the line."""
    events: list[Event] = []
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        with located(source, f"line {number}"):
            message = _parse(line)
            if message["type"] not in TALK:
                events.append(canonical_event(message))
                _check_frame(events)
    if not events or events[-1]["type"] != "end_game":
        raise RecordError(source, f"line {number}", "the log ends without end_game; it was cut off, fetch it again")
    with located(source, "line 1"):
        rules = rules_of(events[0])
    return GameRecord(complete(events), rules, source)


def write(record: GameRecord) -> str:
    """The canonical log of a game: one event per line, each line ended. Notes (``error``) are written as they are."""
    return "".join(dumps(ordered(event)) + "\n" for event in record.events)


def _parse(line: str) -> Event:
    try:
        message = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at column {error.colno} ({error.msg}); the line was cut or changed") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError('not a mjai event: expected an object with a "type"')
    return message


def _check_frame(events: list[Event]) -> None:
    """The last event must be possible after the ones before it, as far as the frame of games and rounds goes."""
    kind = events[-1]["type"]
    if (kind == "start_game") != (len(events) == 1):
        raise ValueError("a log holds one game and begins with start_game" + f", not {kind}" * (len(events) == 1))
    if len(events) > 1 and events[-2]["type"] == "end_game":
        raise ValueError(f"{kind} after end_game: a log holds one game")
