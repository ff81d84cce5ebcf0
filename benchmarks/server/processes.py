"""The two servers that are measured, nukidora and a bare echo server, each in a separate process."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from server.descriptors import fit_connections
from server.logs import start_logging
from server.metrics import Metrics
from server.running import running
from server.settings import Settings
from server.warm_up import settle, warm_up

SPAWN = multiprocessing.get_context("spawn")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
MANY = 10_000  # rooms and connections: no limit stops a benchmark


@dataclass(frozen=True, slots=True)
class Counts:
    """What a server has done so far."""

    decisions: int
    games: int
    server_times: str  # from the last reply needed until its event is written, since the last call; see `percentiles`
    memory: int  # resident bytes
    playing: int  # games
    cpu: float  # seconds of processor time


def percentile(values: list[float], fraction: float) -> float:
    """Return the quantile at ``fraction`` of values in seconds, in ms; NaN if there are none."""
    ordered = sorted(values) or [float("nan")]
    return 1000 * ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def percentiles(values: list[float]) -> str:
    """p50, p99 and maximum of times in seconds, in ms."""
    return " / ".join(f"{percentile(values, fraction):.2f}" for fraction in (0.5, 0.99, 1.0))


class RecordingMetrics(Metrics):
    """Metrics that also keep every server time."""

    def __init__(self) -> None:
        super().__init__()
        self.server_times: list[float] = []

    def observe_server_time(self, seconds: float) -> None:
        """Observe the time, and keep it."""
        super().observe_server_time(seconds)
        self.server_times.append(seconds)

    def value(self, name: str) -> int:
        """A counter or gauge by its Prometheus name."""
        return int(self.registry.get_sample_value(f"nukidora_{name}") or 0)

    def counts(self) -> Counts:
        """What the server has done so far; server times are those since the last call."""
        server_times, self.server_times = self.server_times, []
        return Counts(
            decisions=self.value("decisions_total"),
            games=self.value("games_total"),
            server_times=percentiles(server_times),
            memory=int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE,
            playing=self.value("games_playing"),
            cpu=time.process_time(),
        )


class ServerProcess:
    """A running server, seen from the process that measures it."""

    def __init__(self, pipe: Connection, ports: dict[str, int]) -> None:
        self.ports = ports  # by transport
        self._pipe = pipe

    def counts(self) -> Counts:
        """What the server has done so far; an echo server counts nothing."""
        self._pipe.send("counts")
        counts: Counts = self._pipe.recv()
        return counts


@contextmanager
def server_process(main: Callable[[Connection], None]) -> Iterator[ServerProcess]:
    """Run `main`, `nukidora_main` or `echo_main`, in a process that ends with the block."""
    pipe, other_end = SPAWN.Pipe()
    process = SPAWN.Process(target=main, args=(other_end,), daemon=True)
    process.start()
    other_end.close()
    try:
        yield ServerProcess(pipe, pipe.recv())
    finally:
        pipe.close()
        process.join(10)
        process.kill()


def nukidora_main(pipe: Connection) -> None:
    """Process of a nukidora server on free ports of the loopback address."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            port=0, mjai_port=0, data=Path(folder), max_rooms=MANY, joins_per_minute=10 * MANY,
            rooms_per_address=MANY, connections_per_address=MANY, max_connections=MANY,
        )  # fmt: skip
        settings = fit_connections(settings)
        start_logging("text", logging.ERROR)
        warm_up(settings)
        uvloop.run(_serve_nukidora(pipe, settings))


async def _serve_nukidora(pipe: Connection, settings: Settings) -> None:
    metrics = RecordingMetrics()
    async with running(settings, metrics) as server:
        settle()
        pipe.send({"tcp": server.mjai_port, "ws": server.port})
        await _report(pipe, metrics.counts)


def echo_main(pipe: Connection) -> None:
    """Process of two echo servers: asyncio for lines (TCP), websockets for frames."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve_echo(pipe))


class EchoProtocol(asyncio.Protocol):
    """Sends back whatever it receives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Send the data back."""
        self._transport.write(data)


async def _echo_frames(socket: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        async for frame in socket:
            await socket.send(frame)


async def _serve_echo(pipe: Connection) -> None:
    lines = await asyncio.get_running_loop().create_server(EchoProtocol, "127.0.0.1", 0)
    async with lines, serve(_echo_frames, "127.0.0.1", 0, compression=None) as frames:
        pipe.send({"tcp": lines.sockets[0].getsockname()[1], "ws": next(iter(frames.sockets)).getsockname()[1]})
        await _report(pipe, lambda: Counts(0, 0, "", 0, 0, time.process_time()))


async def _report(pipe: Connection, counts: Callable[[], Counts]) -> None:
    """Send counts whenever the measuring process asks for them, until it closes the pipe."""
    done = asyncio.Event()

    def readable() -> None:
        try:
            pipe.recv()
            pipe.send(counts())
        except (EOFError, OSError):
            done.set()

    loop = asyncio.get_running_loop()
    loop.add_reader(pipe.fileno(), readable)
    await done.wait()
    loop.remove_reader(pipe.fileno())
