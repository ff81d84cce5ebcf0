"""Bots that cost next to nothing: they discard what they draw, and answer ``none`` to everything else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect

NONE = b'{"type":"none"}'
START = b'{"type":"start_game"'
HELLO = b'{"type":"hello"'


class Counter:
    """What all clients of a measurement have seen."""

    def __init__(self) -> None:
        self.messages = 0  # received, each of them answered
        self.delays: list[float] = []  # seconds from a decision to the next message


class Talker(Protocol):
    """Decides what goes back for what came."""

    opening: bytes | None  # sent first, if anything
    room: str

    def answer(self, message: bytes) -> bytes:
        """The reply to a message."""
        ...


class Tsumogiri:
    """A bot in a room of its own for three."""

    def __init__(self, counter: Counter, room: str, name: str) -> None:
        self.opening: bytes | None = None
        self.room = room
        self._counter = counter
        self._join = json.dumps({"type": "join", "name": name, "room": room, "games": 0}).encode()
        self._own_draw = b""
        self._decided = 0.0

    def answer(self, message: bytes) -> bytes:
        """See `Talker`."""
        self._counter.messages += 1
        if self._decided:
            self._counter.delays.append(perf_counter() - self._decided)
            self._decided = 0.0
        if message.startswith(self._own_draw) and self._own_draw:
            self._decided = perf_counter()
            return b'{"type":"dahai","pai":"%b","tsumogiri":true}' % message.split(b'"', 10)[9]
        if message.startswith(START):
            self._own_draw = b'{"type":"tsumo","actor":%d,' % json.loads(message)["id"]
        elif message.startswith(HELLO):
            return self._join
        return NONE


class Bouncer:
    """Sends the same again and again, to an echo server."""

    def __init__(self, counter: Counter, message: bytes) -> None:
        self.opening: bytes | None = message
        self.room = "echo"
        self._counter = counter
        self._message = message

    def answer(self, message: bytes) -> bytes:
        """See `Talker`."""
        self._counter.messages += 1
        return self._message


class LineClient(asyncio.Protocol):
    """A talker on a TCP connection."""

    def __init__(self, talker: Talker) -> None:
        self._talker = talker
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's call."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Asyncio's call."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines:
            self.transport.write(b"".join([self._talker.answer(line) + b"\n" for line in lines]))


async def talk_in_lines(port: int, talker: Talker) -> Callable[[], None]:
    """Connect by TCP; returns what closes the connection."""
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(lambda: LineClient(talker), "127.0.0.1", port)
    if talker.opening is not None:
        client.transport.write(talker.opening + b"\n")
    return client.transport.abort


async def talk_in_frames(port: int, talker: Talker) -> Callable[[], None]:
    """Connect by WebSocket; returns what closes the connection."""
    socket = await connect(f"ws://127.0.0.1:{port}/mjai/{talker.room}", compression=None)
    task = asyncio.create_task(_talk(socket, talker))

    def close() -> None:
        task.cancel()
        socket.transport.abort()

    return close


async def _talk(socket: ClientConnection, talker: Talker) -> None:
    if talker.opening is not None:
        await socket.send(talker.opening.decode())
    while True:
        message = await socket.recv(decode=False)
        await socket.send(talker.answer(message).decode())


TALK = {"tcp": talk_in_lines, "ws": talk_in_frames}
