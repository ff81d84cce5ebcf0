"""The messages of a game so far; finished rounds are compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import to_json

from engine.common.error_text import coded
from engine.mjai.messages import Message
from engine.mjai.schema import KEYS

ERROR = "error"  # type of the lines that report faults; they are no messages of the game


class History:
    """Lines of the game's record: canonical messages with the annotations of bots, and errors between them."""

    def __init__(self) -> None:
        self.count = 0  # messages; errors are not counted
        self.rounds = 0  # finished rounds
        self._finished_rounds: list[bytes] = []  # each compressed; the first begins with ``start_game``
        self._current_round: list[bytes] = []

    def add(self, message: Message, annotation: Any = None) -> None:
        """Add a message of the game, with the annotation (`ext_bot`) of the bot whose reply caused it."""
        self.count += 1
        self._current_round.append(to_json(message if annotation is None else message | {"ext_bot": annotation}))
        if message["type"] == "end_kyoku":
            self.rounds += 1
            self._finished_rounds.append(zlib.compress(b"\n".join(self._current_round)))
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
        """The messages from index `first` on, without annotations; hands are not hidden."""
        messages = (message for message in map(json.loads, self.lines()) if message["type"] != ERROR)
        return [without_annotation(message) for index, message in enumerate(messages) if index >= first]


def without_annotation(message: Message) -> Message:
    """A message of the record without the bot's annotation."""
    keys = KEYS[message["type"]]
    return {key: value for key, value in message.items() if key == "type" or key in keys}
