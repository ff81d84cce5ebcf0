"""The measured server in a process of its own, and the bare echo server beside it."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from server.logs import start_logging
from server.metrics import Metrics
from server.running import running, warm_up
from server.settings import Settings

SPAWN = multiprocessing.get_context("spawn")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a server has done so far."""

    decisions: int
    games: int
    own_times: str  # from the last reply needed to the next event sent, since the last call; see `times`
    memory: int  # bytes resident
    playing: int


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all do not exceed, in ms."""
    ordered = sorted(values) or [float("nan")]
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def times(values: list[float]) -> str:
    """p50, p99 and the largest of some seconds, in ms."""
    return " / ".join(f"{percentile(values, share):.2f}" for share in (0.5, 0.99, 1.0))


class Samples(Metrics):
    """Metrics that also keep every answer time."""

    def __init__(self) -> None:
        super().__init__()
        self.own_times: list[float] = []

    def observe_server_time(self, seconds: float) -> None:
        """See `server.metrics.Metrics`."""
        super().observe_server_time(seconds)
        self.own_times.append(seconds)

    def value(self, name: str) -> int:
        """A counter or gauge by the name Prometheus sees."""
        return int(self.registry.get_sample_value(f"nukidora_{name}") or 0)


class Host:
    """A server process; `ask` has it answer from inside."""

    def __init__(self, link: Connection, ports: dict[str, int]) -> None:
        self._link = link
        self.ports = ports  # by transport

    def ask(self) -> Counts:
        """What the server has done."""
        self._link.send("counts")
        counts: Counts = self._link.recv()
        return counts


@contextmanager
def hosted(target: Any) -> Iterator[Host]:
    """Run `target`, `nukidora` or `echo`, in a process that ends with the block."""
    link, far_end = SPAWN.Pipe()
    process = SPAWN.Process(target=target, args=(far_end,), daemon=True)
    process.start()
    far_end.close()
    try:
        yield Host(link, link.recv())
    finally:
        link.close()
        process.join(10)
        process.kill()


def nukidora(link: Connection) -> None:
    """Process with the server on free ports of the loopback address."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(port=0, mjai_port=0, data=Path(folder), max_rooms=10_000, joins_per_minute=100_000)
        settings = settings.model_copy(update={"connections_per_address": 10_000, "max_connections": 10_000})
        start_logging("text", logging.ERROR)
        warm_up(settings)
        uvloop.run(_nukidora(link, settings))


async def _nukidora(link: Connection, settings: Settings) -> None:
    samples = Samples()
    async with running(settings, samples) as server:
        link.send({"tcp": server.mjai_port, "ws": server.port})

        def counts() -> Counts:
            own_times, samples.own_times = samples.own_times, []
            memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
            return Counts(
                samples.value("decisions_total"),
                samples.value("games_total"),
                times(own_times),
                memory,
                samples.value("games_playing"),
            )

        await _answer(link, counts)


def echo(link: Connection) -> None:
    """Process with two echo servers: every line and every frame comes back as it is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_echo(link))


class EchoProtocol(asyncio.Protocol):
    """Sends back whatever comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's call."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Asyncio's call."""
        self._transport.write(data)


async def _echo_frames(socket: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        async for frame in socket:
            await socket.send(frame)


async def _echo(link: Connection) -> None:
    lines = await asyncio.get_running_loop().create_server(EchoProtocol, "127.0.0.1", 0)
    async with lines, serve(_echo_frames, "127.0.0.1", 0, compression=None) as frames:
        link.send({"tcp": lines.sockets[0].getsockname()[1], "ws": next(iter(frames.sockets)).getsockname()[1]})
        await _answer(link, lambda: None)


async def _answer(link: Connection, counts: Any) -> None:
    """Answer the other process until it closes the link."""
    done = asyncio.Event()

    def readable() -> None:
        try:
            link.recv()
            link.send(counts())
        except (EOFError, OSError):
            done.set()

    loop = asyncio.get_running_loop()
    loop.add_reader(link.fileno(), readable)
    await done.wait()
    loop.remove_reader(link.fileno())
