"""A scripted mjai server over TCP, for one client: a test decides every message."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any

from agents.external.mjai_bot import OPENING as FIRST_DECISION
from engine.mjai.connection import HELLO

Message = dict[str, Any]
PATIENCE = 60.0  # seconds for what takes a moment, unless the machine is busy


class Connection:
    """One connection, seen from the server."""

    def __init__(self, connected: socket.socket) -> None:
        self.joins: list[Message] = []
        self._socket = connected
        self._file = connected.makefile("rw", encoding="utf-8", newline="\n")

    def send(self, *messages: Message) -> None:
        """Send all `messages` in one write."""
        self._file.write("".join(json.dumps(message) + "\n" for message in messages))
        self._file.flush()

    def receive(self) -> Message:
        """The next message. Raises ConnectionError if the client has disconnected."""
        line = self._file.readline()
        if not line:
            raise ConnectionError
        message: Message = json.loads(line)
        return message

    def handshake(self) -> Message:
        """Send ``hello``; returns the ``join`` of the client."""
        self.send(HELLO)
        self.joins.append(self.receive())
        return self.joins[-1]

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self._socket.close()


Script = Callable[[Connection], object]


class FakeServer:
    """Runs one script for each connection, in turn. Leaving the block waits for the scripts and stops listening.

    `joins` are what clients have joined with. Where a script fails, every later connection is told so: a client would
    reconnect for ever.
    """

    def __init__(self, *scripts: Script) -> None:
        self.joins: list[Message] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"mjsonp://127.0.0.1:{self.port}/room"
        self._scripts = scripts
        self._failure: BaseException | None = None
        self._over = Event()  # all scripts have been played, or one has failed
        self._thread = Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        played, failure = self._over.wait(PATIENCE), self._failure
        with suppress(OSError):  # macOS refuses it
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if failure is not None:
            raise failure
        assert played or error is not None, "the client made fewer connections than there are scripts"

    def _serve(self) -> None:
        try:
            for script in self._scripts:
                accepted, _ = self._listener.accept()
                accepted.settimeout(PATIENCE)
                connection = Connection(accepted)
                try:
                    script(connection)
                finally:
                    self.joins += connection.joins
                    connection.close()
        except BaseException as error:
            self._failure = error
        self._over.set()
        if self._failure is not None:
            self._refuse({"type": "error", "message": f"a script failed: {self._failure!r}"})

    def _refuse(self, error: Message) -> None:
        with suppress(OSError):  # the block is left
            while True:
                connection = Connection(self._listener.accept()[0])
                with suppress(ConnectionError):
                    connection.send(error)
                connection.close()


CLASSIC_START_GAME, START_KYOKU, DRAW = (dict(message) for message in FIRST_DECISION)
START_GAME = CLASSIC_START_GAME | {"can_act": False}  # of a server that knows `when_asked`
DISCARD = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": True}
SECOND_DRAW = {"type": "tsumo", "actor": 0, "pai": "E"}
END = {"type": "end_game", "scores": [34500, 40000, 30500], "points": [-5.5, 30.0, -24.5]}
CAN_ACT = {"can_act": True}


def play_game(connection: Connection, start: Message = START_GAME) -> None:
    """Play a short game with the client."""
    connection.send(start, START_KYOKU, DRAW | CAN_ACT)
    assert connection.receive() == DISCARD
    connection.send(DISCARD, {"type": "tsumo", "actor": 1, "pai": "?"})
    connection.send({"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}, SECOND_DRAW | CAN_ACT)
    assert connection.receive() == DISCARD | {"pai": "E"}
    connection.send({"type": "end_kyoku"}, END)


def serves(connection: Connection, start: Message = START_GAME, games: int = 1) -> None:
    """Games with whoever joins."""
    connection.handshake()
    for _ in range(games):
        play_game(connection, start)


def loses(connection: Connection) -> None:
    """The connection is lost in the first round of a game that can be resumed."""
    connection.handshake()
    connection.send(START_GAME | {"resume": "s3cret"}, START_KYOKU)


def says(message: str, *, early: bool = False, **keys: Any) -> Script:
    """An error in place of a game, or, if `early`, in place of ``hello``."""

    def script(connection: Connection) -> None:
        if not early:
            connection.handshake()
        connection.send({"type": "error", "message": message} | keys)

    return script
