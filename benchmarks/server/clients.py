"""Clients that cost next to nothing: a bot that discards what it draws, and a client of an echo server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from random import Random
from time import perf_counter
from typing import Protocol

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket

NONE = b'{"type":"none"}'
DECISION = b'{"type":"dahai"'
START_GAME = b'{"type":"start_game"'
HELLO = b'{"type":"hello"'


class Counter:
    """What all clients of a measurement have received."""

    def __init__(self) -> None:
        self.messages = 0  # each of them answered
        self.delays: list[float] = []  # seconds from a decision to the next message


class Client(Protocol):
    """What is sent back for each message."""

    first_message: bytes | None  # sent once connected
    room: str
    thinking: float  # seconds until the decision that `reply` has just returned is sent

    def reply(self, message: bytes) -> bytes:
        """The reply to a message."""
        ...


class TsumogiriBot:
    """A bot that discards what it draws and replies ``none`` to everything else."""

    def __init__(self, counter: Counter, room: str, name: str, thinking: float = 0.0) -> None:
        self.first_message: bytes | None = None
        self.thinking = 0.0
        self._thinking = thinking
        self._random = Random(name)
        self.room = room
        self._counter = counter
        self._join = json.dumps({"type": "join", "name": name, "room": room, "games": 0}).encode()
        self._own_draw = b""  # how its own tsumo messages begin, once its seat is known
        self._decided_at = 0.0

    def reply(self, message: bytes) -> bytes:
        """Join after hello, discard what was drawn, and reply ``none`` to everything else."""
        self._counter.messages += 1
        if self._decided_at:
            self._counter.delays.append(perf_counter() - self._decided_at)
            self._decided_at = 0.0
        if message.startswith(self._own_draw) and self._own_draw:
            self.thinking = self._thinking * self._random.uniform(0.5, 1.5)
            self._decided_at = perf_counter() + self.thinking
            return DECISION + b',"pai":"%b","tsumogiri":true}' % message.split(b'"', 10)[9]
        if message.startswith(START_GAME):
            self._own_draw = b'{"type":"tsumo","actor":%d,' % json.loads(message)["id"]
        elif message.startswith(HELLO):
            return self._join
        return NONE


class EchoClient:
    """Sends the same message again whenever the echo server has sent it back."""

    def __init__(self, counter: Counter, message: bytes) -> None:
        self.first_message: bytes | None = message
        self.thinking = 0.0
        self.room = "echo"
        self._counter = counter
        self._message = message

    def reply(self, message: bytes) -> bytes:
        """Send the message again."""
        self._counter.messages += 1
        return self._message


class TcpProtocol(asyncio.Protocol):
    """A client on a TCP connection, one message a line."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Reply to each line, to one that asks for a decision after the client's time to think."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        replies = b"".join([self._client.reply(line) + b"\n" for line in lines])
        if self._client.thinking and replies.startswith(DECISION):
            asyncio.get_running_loop().call_later(self._client.thinking, self.transport.write, replies)
        elif replies:
            self.transport.write(replies)


async def connect_tcp(port: int, client: Client) -> Callable[[], None]:
    """Connect over TCP; returns a function that closes the connection."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(lambda: TcpProtocol(client), "127.0.0.1", port)
    if client.first_message is not None:
        protocol.transport.write(client.first_message + b"\n")
    return protocol.transport.abort


async def connect_websocket(port: int, client: Client) -> Callable[[], None]:
    """Connect over WebSocket; returns a function that closes the connection."""
    socket = await open_websocket(f"ws://127.0.0.1:{port}/mjai/{client.room}", compression=None)
    task = asyncio.create_task(_reply_to_frames(socket, client))

    def close() -> None:
        task.cancel()
        socket.transport.abort()

    return close


async def _reply_to_frames(socket: ClientConnection, client: Client) -> None:
    if client.first_message is not None:
        await socket.send(client.first_message.decode())
    while True:
        reply = client.reply(await socket.recv(decode=False))
        if client.thinking and reply.startswith(DECISION):
            await asyncio.sleep(client.thinking)
        await socket.send(reply.decode())


CONNECT: dict[str, Callable[[int, Client], Awaitable[Callable[[], None]]]] = {
    "tcp": connect_tcp,
    "ws": connect_websocket,
}
