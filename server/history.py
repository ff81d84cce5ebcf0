"""The messages of a game so far, kept small: finished rounds are compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json

from engine.mjai.messages import Message
from engine.mjai.schema import KEYS

NOTE = "error"  # type of the lines that tell of faults; no messages of the game


class History:
    """Lines of the game's record, one canonical message each, with notes of faults and bots' own remarks between."""

    def __init__(self) -> None:
        self.count = 0  # messages, notes not counted
        self.rounds = 0  # rounds finished
        self._closed: list[bytes] = []  # compressed: up to the first round's end, then one round each
        self._open: list[bytes] = []

    def add(self, message: Message, remark: Any = None) -> None:
        """The next message of the game, with the `ext_bot` of the bot that caused it."""
        self.count += 1
        self._open.append(to_json(message if remark is None else message | {"ext_bot": remark}))
        if message["type"] == "end_kyoku":
            self.rounds += 1
            self._closed.append(zlib.compress(b"\n".join(self._open)))
            self._open.clear()

    def note(self, seat: int, text: str) -> None:
        """A fault of a seat."""
        self._open.append(to_json({"type": NOTE, "actor": seat, "message": text}))

    def lines(self) -> Iterator[bytes]:
        """All lines in order, without line ends."""
        for part in self._closed:
            yield from zlib.decompress(part).split(b"\n")
        yield from self._open

    def since(self, first: int) -> list[Message]:
        """The messages from place `first` on, as everybody may know they happened; hands are not hidden yet."""
        messages = (message for message in map(json.loads, self.lines()) if message["type"] != NOTE)
        return [strip(message) for place, message in enumerate(messages) if place >= first]

    def round_lines(self, number: int) -> list[bytes]:
        """The lines of finished round `number`, counted from 0; the first begins with ``start_game``."""
        return zlib.decompress(self._closed[number]).split(b"\n")


def strip(message: Message) -> Message:
    """A message of the record without what a bot remarked to itself."""
    keys = KEYS[message["type"]]
    return {key: value for key, value in message.items() if key == "type" or key in keys}
