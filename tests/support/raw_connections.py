"""Connections of bots to the server, over TCP and WebSocket."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection as WebSocketClient
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed


class Address(Protocol):
    """The ports of a server."""

    @property
    def port(self) -> int: ...
    @property
    def mjai_port(self) -> int: ...


class ClientConnection(Protocol):
    """A connection, one message at a time."""

    async def send(self, data: bytes | str) -> None: ...
    async def read(self) -> bytes | None: ...
    async def close(self) -> None: ...
    def abort(self) -> None: ...


class TcpConnection:
    """mjai over TCP."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, server: Address, room: str, query: dict[str, str]) -> TcpConnection:
        """`room` and `query` are ignored; only WebSockets have them."""
        return cls(*await asyncio.open_connection("127.0.0.1", server.mjai_port, limit=1 << 20))

    async def send(self, data: bytes | str) -> None:
        self._writer.write((data.encode() if isinstance(data, str) else data) + b"\n")

    async def read(self) -> bytes | None:
        line = await self._reader.readline()
        if line and not line.endswith(b"\n"):
            raise ConnectionResetError(f"a message was cut: {line!r}")
        return line[:-1] if line else None

    async def close(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        self._writer.transport.abort()


class WebSocketConnection:
    """mjai over a WebSocket."""

    def __init__(self, socket: WebSocketClient) -> None:
        self._socket = socket

    @classmethod
    async def connect(cls, server: Address, room: str, query: dict[str, str]) -> WebSocketConnection:
        """`room` and `query` go into the URL."""
        url = f"ws://127.0.0.1:{server.port}/mjai/{room}" + ("?" + urlencode(query) if query else "")
        return cls(await connect_websocket(url, ping_interval=None, max_size=None, max_queue=None))

    async def send(self, data: bytes | str) -> None:
        with suppress(ConnectionClosed):  # as with TCP, `read` reports it
            await self._socket.send(data)

    async def read(self) -> bytes | None:
        try:
            data = await self._socket.recv()
        except ConnectionClosed:
            return None
        assert isinstance(data, str), "the server sends text frames"
        return data.encode()

    async def close(self) -> None:
        await self._socket.close()

    def abort(self) -> None:
        self._socket.transport.abort()


CONNECTIONS: dict[str, type[TcpConnection] | type[WebSocketConnection]] = {
    "tcp": TcpConnection,
    "websocket": WebSocketConnection,
}
