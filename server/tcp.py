"""mjai over TCP (``mjsonp://``): one JSON object a line."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from engine.mjai.connection import MAX_MESSAGE
from server.line import LINGER, MAX_UNREAD, Listener, Welcome


class TcpLine(asyncio.Protocol):
    """A TCP connection as a `server.line.Line`."""

    def __init__(self, welcome: Welcome) -> None:
        self.address = ""
        self._welcome = welcome
        self._buffer = bytearray()
        self._closing = False
        self._skipping = False  # inside a line that was too long
        self._transport: asyncio.Transport
        self._listener: Listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's call: the peer is there."""
        self._transport = cast(asyncio.Transport, transport)
        peer = self._transport.get_extra_info("peername")  # None where the connection has been reset already
        self.address = peer[0] if peer else ""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._listener = self._welcome(self)

    def data_received(self, data: bytes) -> None:
        """Asyncio's call: cut what came into lines."""
        if self._closing:
            return
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", start)) >= 0:
            self._take(start, end)
            start = end + 1
            if self._closing or self._transport.is_closing():
                self._buffer.clear()
                return
        del self._buffer[:start]
        if len(self._buffer) > MAX_MESSAGE:
            self._buffer.clear()
            if not self._skipping:
                self._skipping = True
                self._listener.oversized()

    def _take(self, start: int, end: int) -> None:
        """One whole line."""
        if self._skipping:
            self._skipping = False
        elif end - start > MAX_MESSAGE:
            self._listener.oversized()
        else:
            line = bytes(self._buffer[start:end])
            if not line.isspace() and line:
                self._listener.received(line)

    def connection_lost(self, error: Exception | None) -> None:
        """Asyncio's call: the connection is gone."""
        self._listener.lost()

    def send(self, messages: Sequence[bytes]) -> None:
        """See `server.line.Line`."""
        if self._closing or self._transport.is_closing():
            return
        self._transport.write(b"\n".join(messages) + b"\n")
        if self._transport.get_write_buffer_size() > MAX_UNREAD:
            self._transport.abort()

    def close(self) -> None:
        """See `server.line.Line`."""
        if not self._closing and not self._transport.is_closing():
            self._closing = True
            with suppress(OSError):  # the peer may be gone already
                self._transport.write_eof()  # a whole close would take back what the peer has not read yet
            asyncio.get_running_loop().call_later(LINGER, self._transport.abort)


async def accept(listener: socket.socket, welcome: Welcome) -> asyncio.Server:
    """Accept mjsonp connections at a socket that listens."""
    return await asyncio.get_running_loop().create_server(lambda: TcpLine(welcome), sock=listener)
