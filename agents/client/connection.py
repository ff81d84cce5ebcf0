"""Blocking transports of JSON messages over TCP and WebSocket."""

from __future__ import annotations

import json
import selectors
import socket
from time import monotonic
from typing import Protocol

from agents.external.mjai_bot import parse_message
from engine.mjai.connection import MAX_MESSAGE
from engine.mjai.messages import Message

CONNECT_TIMEOUT = 10.0  # seconds
HELLO_TIMEOUT = 5.0  # seconds a server has to greet us once connected


class FatalConnectionError(Exception):
    """The server cannot be joined, and a retry will not help."""


class Transport(Protocol):
    """A connection that carries messages."""

    def send(self, message: Message) -> None:
        """Send `message`. May raise ConnectionError if the connection is closed."""
        ...

    def receive(self, timeout: float | None = None) -> Message:
        """The next message. Raises ConnectionError if the connection is closed.

        Raises TimeoutError after `timeout` seconds (None: never), and ValueError for data that is not a message.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class TcpTransport:
    """A `Transport` of one message a line (mjsonp). One thread may receive while another sends."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # to notice a peer that has vanished
        self._socket.settimeout(CONNECT_TIMEOUT)  # treat a peer that reads nothing as disconnected
        self._unread = bytearray()

    def send(self, message: Message) -> None:
        """Send `message` as a line. Raises ConnectionError also if the other side has stopped reading."""
        try:
            self._socket.sendall(to_text(message).encode() + b"\n")
        except TimeoutError:
            raise ConnectionError("the other side has stopped reading") from None

    def receive(self, timeout: float | None = None) -> Message:
        """Return the message in the next line, which may have arrived already."""
        deadline = None if timeout is None else monotonic() + timeout
        while (end := self._unread.find(b"\n")) < 0 and len(self._unread) <= MAX_MESSAGE:
            self._wait_for_data(deadline)
            data = self._socket.recv(MAX_MESSAGE)
            if not data:
                raise ConnectionError("the connection was closed")
            self._unread += data
        if not 0 <= end <= MAX_MESSAGE:
            raise ValueError(f"a message of more than {MAX_MESSAGE:,} bytes")
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return parse_message(line)

    def _wait_for_data(self, deadline: float | None) -> None:
        """Wait until data can be read. A timeout of the socket would apply to a sending thread, too."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._socket, selectors.EVENT_READ)
            if not waiting.select(None if deadline is None else max(deadline - monotonic(), 1e-3)):
                raise TimeoutError("timed out")

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def to_text(message: Message) -> str:
    """`message` as JSON in one line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
