"""A mjai server of one chair, over TCP, whose every step a test decides."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any

from agents.external.mjai_bot import OPENING as FIRST_DECISION
from engine.mjai.connection import HELLO

Message = dict[str, Any]


class Call:
    """One connection, from the server's side."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._file = connected.makefile("rw", encoding="utf-8", newline="\n")

    def send(self, *messages: Message) -> None:
        """Send messages, all at once."""
        self._file.write("".join(json.dumps(message) + "\n" for message in messages))
        self._file.flush()

    def receive(self) -> Message:
        """The next message; ConnectionError where there is none."""
        line = self._file.readline()
        if not line:
            raise ConnectionError
        message: Message = json.loads(line)
        return message

    def welcome(self) -> Message:
        """Say hello; returns the join message."""
        self.send(HELLO)
        return self.receive()

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()


class FakeServer:
    """Runs one script a connection, in turn, then listens no more. Leaving the block waits for them."""

    def __init__(self, *scripts: Callable[[Call], None]) -> None:
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self.url = f"mjsonp://127.0.0.1:{self.port}/room"
        self._scripts = scripts
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.join(10)
        self._door.close()
        if error is None:
            assert not self._thread.is_alive(), "not all connections came"
            if self._failure is not None:
                raise self._failure

    def _serve(self) -> None:
        try:
            for script in self._scripts:
                connected, _ = self._door.accept()
                connected.settimeout(10)
                call = Call(connected)
                try:
                    script(call)
                finally:
                    call.close()
        except BaseException as error:
            self._failure = error


START, KYOKU, DRAW = (dict(message) for message in FIRST_DECISION)
DISCARD = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": True}
SECOND_DRAW = {"type": "tsumo", "actor": 0, "pai": "E"}
END = {"type": "end_game", "scores": [34500, 40000, 30500], "points": [-5.5, 30.0, -24.5]}
ASKS = {"can_act": True}


def play_game(call: Call, start: Message = START) -> None:
    """A short game."""
    call.send(start, KYOKU, DRAW | ASKS)
    assert call.receive() == DISCARD
    call.send(DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"})
    call.send({"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}, SECOND_DRAW | ASKS)
    assert call.receive() == DISCARD | {"pai": "E"}
    call.send({"type": "end_kyoku"}, END)
