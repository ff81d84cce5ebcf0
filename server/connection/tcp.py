"""mjai over TCP (``mjsonp://``): one JSON object per line."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import cast

from engine.mjai.bot_messages import NONE
from server.access import Admission
from server.connection.base import MessageProtocol
from server.connection.bot_connection import BotConnection
from server.connection.inlet import BYTES_PER_UNIT
from server.fairness import FairQueue
from server.limits import Limits
from server.ports import Transport

NONE_LINES = frozenset(line + b"\n" for line in NONE)  # most of what bots send


class TcpTransport(MessageProtocol):
    """A TCP connection; a `server.ports.Transport`."""

    pings = False
    _handler: BotConnection

    def __init__(
        self,
        admission: Admission,
        fair_queue: FairQueue,
        messages_per_second: float,
        limits: Limits,
        connect: Callable[[Transport], BotConnection],
    ) -> None:
        super().__init__(admission, fair_queue, messages_per_second, limits)
        self._connect = connect
        self._buffer = bytearray()
        self._discarding = False  # while discarding the rest of a line that is too long

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the connection for a handler; keepalive finds peers that have vanished."""
        self._open(cast(asyncio.Transport, transport))
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._handler = self._connect(self)

    def _is_none(self, data: bytes) -> bool:
        return data in NONE_LINES and not (self._buffer or self._discarding)

    def _parse(self, data: bytes) -> None:
        """Split the data into lines."""
        if data.find(b"\n") == len(data) - 1 and not (self._buffer or self._discarding or data.isspace()):
            if not self._handler.message_received(data[:-1]):  # the usual case; most messages are asked for
                self._within_budget(1.0 + len(data) / BYTES_PER_UNIT)
            return
        if not self._within_budget(len(data) / BYTES_PER_UNIT):
            return
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", start)) >= 0:
            if self._within_budget(1.0):
                self._handle_line(bytes(self._buffer[start:end]))
            start = end + 1
            if self._closing or self._transport.is_closing():
                self._buffer.clear()
                return
        del self._buffer[:start]
        self._message_pending(bool(self._buffer), completed=start > 0)
        if len(self._buffer) > self._handler.max_message:
            self._buffer.clear()
            if not self._discarding:
                self._discarding = True
                self._handler.message_too_long()

    def _handle_line(self, line: bytes) -> None:
        """Handle one complete line, without its line end."""
        if self._discarding:
            self._discarding = False
        elif len(line) > self._handler.max_message:
            self._handler.message_too_long()
        elif line and not line.isspace():
            self._handle(line)

    def eof_received(self) -> bool:
        """Leave a peer that has closed its sending side open until it has the answer to its join message.

        The last line may lack its line end, as with ``printf``, if it ends like a message; otherwise it is ignored.
        """
        self._inlet.finish()
        if self._buffer.endswith(b"}") and not self._closing and self._within_budget(1.0):
            last, self._buffer = bytes(self._buffer), bytearray()
            self._message_pending(False, completed=True)
            self._handle_line(last)
        self._write_out()  # asyncio closes the transport if this returns False
        return not self._closing and self._handler.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        """Clean up, and tell the handler."""
        self._closed()
        self._handler.disconnected()
        del self._handler  # breaks a reference cycle

    def send(self, messages: Sequence[bytes]) -> None:
        """Send each message as a line."""
        if not self._closing and not self._transport.is_closing():
            self._write(b"\n".join(messages) + b"\n")

    def close(self) -> None:
        """Close the sending side once everything is written; what still arrives is discarded."""
        if not self._closing and not self._transport.is_closing():
            self._half_close()
