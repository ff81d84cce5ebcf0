"""The WebSocket transport; see `agents.client.connection`."""

from __future__ import annotations

import logging
import ssl
from contextlib import ExitStack, suppress

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    SecurityError,
)
from websockets.sync import client
from websockets.sync.client import ClientConnection, connect

from agents.client.connection import CONNECT_TIMEOUT, FatalConnectionError, to_text
from agents.external.mjai_bot import parse_message
from engine.mjai.connection import MAX_MESSAGE
from engine.mjai.messages import Message

client.MAX_REDIRECTS = 1  # the first answer counts: the token and the join are for the server that the user has named
# websockets would log tracebacks of what the client reports in one line.
SILENT = logging.getLogger("agents.client.websocket")
SILENT.disabled = True
RETRYABLE_STATUS = frozenset({408, 425, 429})  # HTTP status codes where a retry may help, in addition to 500 and above


class WebSocketTransport:
    """A `Transport` of one message a text frame."""

    def __init__(self, connected: ClientConnection, opened: ExitStack) -> None:
        """`opened` is closed with the transport."""
        self._socket = connected
        self._opened = opened

    def send(self, message: Message) -> None:
        """Send `message` as a text frame; that the connection is closed is raised by `receive`."""
        with suppress(ConnectionClosed):  # messages may still be unread; receive raises once they are read
            self._socket.send(to_text(message))

    def receive(self, timeout: float | None = None) -> Message:
        """Return the message in the next frame."""
        try:
            return parse_message(self._socket.recv(timeout))
        except ConnectionClosed:
            raise ConnectionError("the connection was closed") from None

    def close(self) -> None:
        """Close the connection, and what was opened for it."""
        self._opened.close()


def connect_websocket(url: str) -> WebSocketTransport:
    """Connect by WebSocket. Raises OSError if a retry may help, else FatalConnectionError."""
    try:
        with ExitStack() as opened:
            connected = opened.enter_context(
                connect(url, max_size=MAX_MESSAGE, open_timeout=CONNECT_TIMEOUT, logger=SILENT)
            )
            return WebSocketTransport(connected, opened.pop_all())
    except InvalidStatus as refused:
        status = refused.response.status_code
        if status in RETRYABLE_STATUS or status >= 500:
            raise ConnectionError(f"the server answered HTTP {status}") from refused
        raise FatalConnectionError(
            f"no room at {url}: the server answered HTTP {status}; the path is /mjai/ROOM"
        ) from refused
    except (SecurityError, InvalidURI) as elsewhere:
        raise FatalConnectionError(f"{url} redirects to another address: join there, if you trust it") from elsewhere
    except (InvalidMessage, ConnectionClosed, AssertionError) as cut:  # a server that speaks first breaks websockets
        raise ConnectionError("the connection was closed, or what answers is no WebSocket") from cut
    except InvalidHandshake as refused:
        raise FatalConnectionError(f"no WebSocket at {url}: {refused}") from refused
    except ssl.SSLCertVerificationError as refused:
        raise FatalConnectionError(f"{url}: {refused.verify_message}") from refused
