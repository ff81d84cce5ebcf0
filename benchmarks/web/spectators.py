"""The rate of a server that plays many games, without and with many spectators at one more table.

The watched table is played somewhat faster than people play, the other games as fast as possible.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import cast

from benchmarks.server.cli import SETTLE_TIME, bots_for
from benchmarks.server.clients import Client, Counter, TcpProtocol, TsumogiriBot, connect_tcp
from benchmarks.server.processes import ServerProcess

SPAWN = multiprocessing.get_context("spawn")
ROOM = "watched"
PAUSE = 0.1  # seconds until a bot at the watched table replies
NICENESS = 10  # of the spectators' process, so that it does not compete with the server
HANDSHAKE = (
    "GET /api/games/{game}/events?hands=closed HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class SlowProtocol(TcpProtocol):
    """A client that waits before each reply."""

    def data_received(self, data: bytes) -> None:
        """Handle the data after a pause."""
        asyncio.get_running_loop().call_later(PAUSE, super().data_received, data)


class SpectatorProtocol(asyncio.Protocol):
    """A spectator, who counts the bytes received."""

    def __init__(self, game: str, received: list[int]) -> None:
        self._game = game
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the game."""
        cast(asyncio.Transport, transport).write(HANDSHAKE.format(game=self._game).encode())

    def data_received(self, data: bytes) -> None:
        """Count the bytes."""
        self._received[0] += len(data)


async def get(port: int, path: str) -> bytes:
    """The body of a response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    response = await reader.read()
    writer.close()
    return response.partition(b"\r\n\r\n")[2]


async def watch(port: int, count: int, pipe: Connection) -> None:
    """Watch the table until told to stop."""
    (game,) = json.loads(await get(port, f"/api/games?status=playing&room={ROOM}"))["items"]
    received = [0]
    loop = asyncio.get_running_loop()
    transports = [
        (await loop.create_connection(lambda: SpectatorProtocol(game["id"], received), "127.0.0.1", port))[0]
        for _ in range(count)
    ]
    pipe.send("watching")
    await loop.run_in_executor(None, pipe.recv)
    pipe.send(received[0])
    for transport in transports:
        transport.abort()


def watch_main(port: int, count: int, pipe: Connection) -> None:
    """The process of the spectators."""
    os.nice(NICENESS)
    asyncio.run(watch(port, count, pipe))


@contextmanager
def spectators(port: int, count: int) -> Iterator[list[int]]:
    """Run that many spectators while the block runs; afterwards the list holds the bytes that they received."""
    received: list[int] = []
    if not count:
        yield received
        return
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=watch_main, args=(port, count, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.recv()
        yield received
        ours.send("stop")
        received.append(ours.recv())
    finally:
        process.join(5)
        process.kill()
        ours.close()


async def connect_slow(port: int, client: Client) -> None:
    """Connect a bot of the watched table."""
    await asyncio.get_running_loop().create_connection(lambda: SlowProtocol(client), "127.0.0.1", port)


@dataclass(frozen=True, slots=True)
class Rate:
    """The work of the server with or without spectators."""

    per_second: float  # decisions
    per_cpu_second: float  # decisions per second of the server's CPU time
    received: int  # bytes that all spectators were sent


async def rates(server: ServerProcess, games: int, count: int, seconds: float, repeats: int) -> list[tuple[Rate, Rate]]:
    """The rates without and with `count` spectators, in turns."""
    counter = Counter()
    for number in range(3):
        await connect_slow(server.ports["tcp"], TsumogiriBot(counter, ROOM, f"watched{number}"))
    for bot in bots_for(games, counter):
        await connect_tcp(server.ports["tcp"], bot)
    await asyncio.sleep(SETTLE_TIME)
    return [(await measure(server, 0, seconds), await measure(server, count, seconds)) for _ in range(repeats)]


async def measure(server: ServerProcess, count: int, seconds: float) -> Rate:
    """Measure the rate with that many spectators."""
    watching = spectators(server.ports["ws"], count)
    received = await asyncio.to_thread(watching.__enter__)
    await asyncio.sleep(SETTLE_TIME)  # what was played before is sent
    before, started = server.counts(), perf_counter()
    await asyncio.sleep(seconds)
    after, taken = server.counts(), perf_counter() - started
    await asyncio.to_thread(watching.__exit__, None, None, None)
    decisions = after.decisions - before.decisions
    return Rate(decisions / taken, decisions / (after.cpu - before.cpu), sum(received))
