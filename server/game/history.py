"""The messages of a game so far; finished rounds are compressed."""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import to_json

from engine.common.error_text import coded
from engine.mjai.messages import Message

ERROR = "error"  # type of the lines that report faults; they are no messages of the game
ANNOTATION = b',"ext_bot":'  # the last key of a line; within a string its quotes would be escaped
LEVEL = 2  # of zlib: faster than the default, and the event loop waits for it


def type_of(line: bytes) -> str:
    """The type of a message of the history; it is always its first key."""
    return line.split(b'"', 4)[3].decode()


def without_annotation(line: bytes) -> bytes:
    """A line without the bot's annotation, which may be much longer than the rest."""
    message, annotation, _ = line.partition(ANNOTATION)
    return message + b"}" if annotation else message


class History:
    """Lines of the game's record: canonical messages with the annotations of bots, and errors between them."""

    def __init__(self) -> None:
        self.count = 0  # messages; errors are not counted
        self.rounds = 0  # finished rounds
        self._finished_rounds: list[bytes] = []  # each compressed; the first begins with ``start_game``
        self._counts: list[int] = []  # of messages up to the end of each of these
        self._current_round: list[bytes] = []

    def add(self, message: Message, annotation: Any = None) -> None:
        """Add a message of the game, with the annotation (`ext_bot`) of the bot whose reply caused it."""
        self.count += 1
        self._current_round.append(to_json(message if annotation is None else message | {"ext_bot": annotation}))
        if message["type"] == "end_kyoku":
            self.rounds += 1
            self._counts.append(self.count)
            self._finished_rounds.append(zlib.compress(b"\n".join(self._current_round), LEVEL))
            self._current_round.clear()

    def add_error(self, seat: int, text: str, played_by: str | None = None) -> None:
        """Add the report of a fault of a seat, and who plays it from here on if that changes; its bot again: ``""``."""
        line = {"type": ERROR, "actor": seat, "message": text}
        new_player = {} if played_by is None else {"played_by": played_by}
        self._current_round.append(to_json(line | new_player | coded(text)))

    def lines(self) -> Iterator[bytes]:
        """All lines in order, without line ends."""
        for lines in self._finished_rounds:
            yield from zlib.decompress(lines).split(b"\n")
        yield from self._current_round

    def lines_of_round(self, number: int) -> Sequence[bytes]:
        """The lines of round `number`, counted from 0: a finished one, or those so far of the round in play.

        The first round begins with ``start_game``; after the last one comes a round of ``end_game`` alone.
        """
        if number < self.rounds:
            return zlib.decompress(self._finished_rounds[number]).split(b"\n")
        return self._current_round

    def since(self, first: int) -> list[Message]:
        """The messages from index `first` on, without annotations; hands are not hidden.

        Only these are parsed: a bot may resume ten times a second, and the annotations of a game have a megabyte.
        """
        start = bisect_right(self._counts, first)
        rounds = map(self.lines_of_round, range(start, self.rounds + 1))
        lines = [line for of_round in rounds for line in of_round if type_of(line) != ERROR]
        before = self._counts[start - 1] if start else 0
        return [json.loads(without_annotation(line)) for line in lines[max(0, first - before) :]]
