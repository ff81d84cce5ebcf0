"""Blocking transports of JSON messages over TCP and WebSocket, and the addresses of rooms."""

from __future__ import annotations

import json
import selectors
import socket
from dataclasses import dataclass
from time import monotonic
from typing import Protocol
from urllib.parse import parse_qs, urlsplit, urlunsplit

from agents.external.mjai_bot import parse_message
from engine.mjai.connection import (
    DEFAULT_DIALECT,
    DEFAULT_PORT,
    DEFAULT_ROOM,
    DIALECTS,
    MAX_MESSAGE,
    ROOM_TEXT,
    is_room,
)
from engine.mjai.messages import Message

CONNECT_TIMEOUT = 10.0  # seconds
HELLO_TIMEOUT = 5.0  # seconds a server has to greet us once it is connected
PORTS = {"mjsonp": DEFAULT_PORT, "ws": 80, "wss": 443}


class FatalConnectionError(Exception):
    """The server cannot be joined, and a retry will not help."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a room. `url` is as it was given."""

    url: str
    scheme: str  # mjsonp, ws or wss
    host: str
    port: int
    room: str
    dialect: str

    @property
    def full(self) -> str:
        """The URL with a port, so that a port left out is seen."""
        parts = urlsplit(self.url)
        with_port = parts.netloc if parts.port else f"{parts.netloc.removesuffix(':')}:{self.port}"
        return urlunsplit(parts._replace(netloc=with_port))

    def api(self, http_port: int | None) -> str:
        """Where the server's HTTP API is; "" if that is not known. `http_port` is its port as the server has told it.

        WebSockets share the port of the API, which a proxy may have changed.
        """
        if self.scheme == "mjsonp":
            host = f"[{self.host}]" if ":" in self.host else self.host
            return f"http://{host}:{http_port}" if http_port else ""
        return urlunsplit(("https" if self.scheme == "wss" else "http", urlsplit(self.url).netloc, "", "", ""))


def parse_url(url: str) -> Address:
    """``mjsonp://host:11600/room``, ``ws://host:8000/mjai/room``, each perhaps with ``?dialect=…``.

    Raises ValueError saying what is wrong.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r}: {error}") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a room, such as mjsonp://localhost:11600/default")
    path = parts.path.removeprefix("/")
    room = (path if parts.scheme == "mjsonp" else path.rpartition("/")[2]) or DEFAULT_ROOM
    if not is_room(room):
        raise ValueError(f"{url!r}: a room is {ROOM_TEXT}, then +BOT for each house bot")
    (dialect,) = parse_qs(parts.query).get("dialect", [DEFAULT_DIALECT])[-1:]
    if dialect not in DIALECTS:
        raise ValueError(f"{url!r}: dialect must be one of {', '.join(DIALECTS)}")
    return Address(url, parts.scheme, parts.hostname, port or PORTS[parts.scheme], room, dialect)


class Transport(Protocol):
    """A connection that carries messages."""

    def send(self, message: Message) -> None:
        """Send `message`. May raise ConnectionError if the connection is closed."""
        ...

    def receive(self, timeout: float | None = None) -> Message:
        """The next message. Raises ConnectionError if the connection is closed.

        Raises TimeoutError after `timeout` seconds (None: never), and ValueError for data that is no message.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class TcpTransport:
    """One message a line (mjsonp). One thread may receive while another sends."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # to notice a peer that has vanished
        self._socket.settimeout(CONNECT_TIMEOUT)  # treat a peer that reads nothing as disconnected
        self._unread = bytearray()

    def send(self, message: Message) -> None:
        """See `Transport`."""
        try:
            self._socket.sendall(to_text(message).encode() + b"\n")
        except TimeoutError:
            raise ConnectionError("the other side has stopped reading") from None

    def receive(self, timeout: float | None = None) -> Message:
        """See `Transport`."""
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
        """Wait until data can be read. A timeout of the socket would be that of a thread that sends, too."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._socket, selectors.EVENT_READ)
            if not waiting.select(None if deadline is None else max(deadline - monotonic(), 1e-3)):
                raise TimeoutError("timed out")

    def close(self) -> None:
        """See `Transport`."""
        self._socket.close()


def connect(address: Address) -> Transport:
    """Connect to a server. Raises OSError if a retry may help, else FatalConnectionError."""
    if address.scheme == "mjsonp":
        return TcpTransport(socket.create_connection((address.host, address.port), CONNECT_TIMEOUT))
    from agents.client.websocket import connect_websocket

    return connect_websocket(address.url)


def to_text(message: Message) -> str:
    """`message` as JSON in one line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
