"""mjai over TCP (``mjsonp://``): one JSON object a line."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from engine.mjai.connection import MAX_MESSAGE
from server.ports import CLOSE_TIMEOUT, MAX_UNSENT_BYTES, Connect, ConnectionHandler


class TcpTransport(asyncio.Protocol):
    """A TCP connection; a `server.ports.Transport`."""

    pings = False

    def __init__(self, connect: Connect) -> None:
        self.address = ""
        self._connect = connect
        self._buffer = bytearray()
        self._closing = False
        self._discarding = False  # the rest of a line that is too long
        self._transport: asyncio.Transport
        self._handler: ConnectionHandler

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast(asyncio.Transport, transport)
        peer = self._transport.get_extra_info("peername")  # None if the connection has been reset already
        self.address = peer[0] if peer else ""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._handler = self._connect(self)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`: split the data into lines."""
        if self._closing:
            return
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", start)) >= 0:
            self._handle_line(start, end)
            start = end + 1
            if self._closing or self._transport.is_closing():
                self._buffer.clear()
                return
        del self._buffer[:start]
        if len(self._buffer) > MAX_MESSAGE:
            self._buffer.clear()
            if not self._discarding:
                self._discarding = True
                self._handler.message_too_long()

    def _handle_line(self, start: int, end: int) -> None:
        """One complete line of the buffer."""
        if self._discarding:
            self._discarding = False
        elif end - start > MAX_MESSAGE:
            self._handler.message_too_long()
        else:
            line = bytes(self._buffer[start:end])
            if line and not line.isspace():
                self._handler.message_received(line)
            else:
                self._handler.blank_line_received()

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._handler.disconnected()

    def send(self, messages: Sequence[bytes]) -> None:
        """See `server.ports.Transport`."""
        if self._closing or self._transport.is_closing():
            return
        self._transport.write(b"\n".join(messages) + b"\n")
        if self._transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            self._transport.abort()

    def close(self) -> None:
        """See `server.ports.Transport`."""
        if not self._closing and not self._transport.is_closing():
            self._closing = True
            with suppress(OSError):  # the peer may be gone already
                self._transport.write_eof()  # closing the socket would discard what the peer has not read yet
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, self._transport.abort)


async def listen(listener: socket.socket, connect: Connect) -> asyncio.Server:
    """Accept mjsonp connections on a listening socket."""
    return await asyncio.get_running_loop().create_server(lambda: TcpTransport(connect), sock=listener)
