"""A WebSocket as a connection; see `agents.client.connection`."""

from __future__ import annotations

import ssl
from contextlib import ExitStack, suppress

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from agents.client.connection import CONNECT_WITHIN, Unreachable, to_text
from agents.external.mjai_bot import parse_message
from engine.mjai.connection import MAX_MESSAGE
from engine.mjai.messages import Message

BUSY = frozenset({408, 425, 429})  # HTTP states that pass, besides those of 500 and more


class WebSocketLine:
    """A frame a message: a `agents.client.connection.Line`."""

    def __init__(self, connected: ClientConnection, opened: ExitStack) -> None:
        """`opened` is closed with the line."""
        self._socket = connected
        self._opened = opened

    def send(self, message: Message) -> None:
        """See `agents.client.connection.Line`."""
        with suppress(ConnectionClosed):  # the other side's last words may still be read; receive tells that it is gone
            self._socket.send(to_text(message))

    def receive(self, timeout: float | None = None) -> Message:
        """See `agents.client.connection.Line`."""
        try:
            return parse_message(self._socket.recv(timeout))
        except ConnectionClosed:
            raise ConnectionError("the connection was closed") from None

    def close(self) -> None:
        """See `agents.client.connection.Line`."""
        self._opened.close()


def call(url: str) -> WebSocketLine:
    """See `agents.client.connection.connect`."""
    try:
        with ExitStack() as opened:
            connected = opened.enter_context(connect(url, max_size=MAX_MESSAGE, open_timeout=CONNECT_WITHIN))
            return WebSocketLine(connected, opened.pop_all())
    except InvalidStatus as refused:
        status = refused.response.status_code
        if status in BUSY or status >= 500:
            raise ConnectionError(f"the server answered HTTP {status}") from refused
        raise Unreachable(f"no room at {url}: the server answered HTTP {status}") from refused
    except InvalidMessage as cut:
        raise ConnectionError("the connection was closed") from cut
    except InvalidHandshake as refused:
        raise Unreachable(f"no WebSocket at {url}: {refused}") from refused
    except ssl.SSLCertVerificationError as refused:
        raise Unreachable(f"{url}: {refused.verify_message}") from refused
