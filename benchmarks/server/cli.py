"""python -m benchmarks.server: the server's throughput compared with a bare asyncio echo server.

The echo server has as many connections. The server runs in one process, all bots in another, over real sockets of the
loopback address.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

from benchmarks.server.clients import CONNECT, Client, Counter, EchoClient, TsumogiriBot
from benchmarks.server.processes import Counts, ServerProcess, echo_main, nukidora_main, percentiles, server_process
from engine.common.options import Parser, positive
from engine.rules import N_SEATS

REPEATS = 3  # pairs of echo and server; the pair with the median ratio is shown
SETTLE_TIME = 1.0  # seconds between the last connection and the measurement
# What bots receive most often: another seat's draw.
ECHO_MESSAGE = b'{"type":"tsumo","actor":0,"pai":"?","possible_actions":[]}'


@dataclass(frozen=True, slots=True)
class Measurement:
    """A load for some seconds."""

    seconds: float
    messages: int  # received by the clients, each of them answered
    before: Counts
    after: Counts
    delays: list[float]

    @property
    def rate(self) -> float:
        """Messages received by the clients per second."""
        return self.messages / self.seconds

    @property
    def cpu(self) -> float:
        """Microseconds of the server's processor time per message."""
        return 1e6 * (self.after.cpu - self.before.cpu) / self.messages


@asynccontextmanager
async def connected(server: ServerProcess, transport: str, clients: Sequence[Client]) -> AsyncIterator[None]:
    """All clients connected, and their games started."""
    closers: list[Callable[[], None]] = []
    try:
        for client in clients:
            closers.append(await CONNECT[transport](server.ports[transport], client))
        await asyncio.sleep(SETTLE_TIME)
        yield
    finally:
        for close in closers:
            close()
        await asyncio.sleep(0.1)


async def measure(
    server: ServerProcess, transport: str, clients: Sequence[Client], counter: Counter, seconds: float
) -> Measurement:
    """Connect the clients, which share the counter, and measure."""
    async with connected(server, transport, clients):
        before = server.counts()
        counter.delays.clear()
        messages, start = counter.messages, perf_counter()
        await asyncio.sleep(seconds)
        messages, elapsed = counter.messages - messages, perf_counter() - start
        return Measurement(elapsed, messages, before, server.counts(), list(counter.delays))


def bots_for(games: int, counter: Counter, thinking: float = 0.0) -> list[TsumogiriBot]:
    """Three bots for each of `games` games, each game in its own room."""
    seats = range(N_SEATS * games)
    return [TsumogiriBot(counter, f"bench-{number // N_SEATS}", f"bot{number}", thinking) for number in seats]


def measure_games(server: ServerProcess, transport: str, games: int, seconds: float, thinking: float) -> Measurement:
    """Games of bots that discard what they draw, after `thinking` seconds on average."""
    counter = Counter()
    return asyncio.run(measure(server, transport, bots_for(games, counter, thinking), counter, seconds))


def measure_echo(server: ServerProcess, transport: str, games: int, seconds: float) -> Measurement:
    """As many connections as the games have, each with one message in flight."""
    counter = Counter()
    clients = [EchoClient(counter, ECHO_MESSAGE) for _ in range(N_SEATS * games)]
    return asyncio.run(measure(server, transport, clients, counter, seconds))


LEGEND = f"""\
decisions and games: of the server. messages: sent to bots, each answered by one. echo: messages of a bare asyncio echo
server (TCP) or a bare websockets echo server, as many connections, one message in flight on each. ratio: messages to
echo. cpu us: processor time of the echo and of the server for a message, and their ratio, which other work on the
machine disturbs less. server ms: from the last reply needed until its event is written; bot ms: from a bot's decision
to its next message; each p50 / p99 / maximum. kB/game: memory the server has allocated for each game in play (100 games
and more). Echo and server are measured in turns, {REPEATS} times; the pair with the median ratio is shown.
"""
COLUMNS = {
    "": 4, "games": 6, "decisions/s": 12, "games/s": 8, "messages/s": 11, "echo/s": 8, "ratio": 6, "cpu us": 18,
    "server ms": 22, "bot ms": 26, "kB/game": 8,
}  # fmt: skip


def format_row(cells: Iterable[str]) -> str:
    """One line of the table."""
    return " ".join(cell.rjust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The server's games and the bare echo, measured one after the other."""

    games: Measurement
    echo: Measurement
    idle_memory: int  # bytes, before the games

    @property
    def ratio(self) -> float:
        """The ratio of the server's message rate to that of the echo."""
        return self.games.rate / self.echo.rate


def cells_of(transport: str, games: int, comparison: Comparison) -> list[str]:
    """The cells of one line of the table."""
    played = comparison.games
    decisions = (played.after.decisions - played.before.decisions) / played.seconds
    finished = (played.after.games - played.before.games) / played.seconds
    memory = (played.after.memory - comparison.idle_memory) / max(1, played.after.playing) / 1000
    return [
        transport,
        f"{games}",
        f"{decisions:,.0f}",
        f"{finished:.1f}",
        f"{played.rate:,.0f}",
        f"{comparison.echo.rate:,.0f}",
        f"{comparison.ratio:.2f}",
        f"{comparison.echo.cpu:.1f} / {played.cpu:.1f}, {comparison.echo.cpu / played.cpu:.2f}",
        played.after.server_times,
        percentiles(played.delays),
        f"{memory:.0f}" if games >= 100 else "",
    ]


def compare(transport: str, games: int, seconds: float, thinking: float) -> Comparison:
    """Measure the bare echo, then a fresh server with as many connections."""
    with server_process(echo_main) as echo_server:
        echo = measure_echo(echo_server, transport, games, seconds)
    with server_process(nukidora_main) as server:
        idle_memory = server.counts().memory
        return Comparison(measure_games(server, transport, games, seconds, thinking), echo, idle_memory)


def print_table(args: argparse.Namespace) -> None:
    """Every transport with every number of games; each line is printed once it is measured."""
    print(LEGEND)
    print(format_row(COLUMNS))
    for transport in args.transports:
        for games in args.games:
            repeats = [compare(transport, games, args.seconds, args.thinking / 1000) for _ in range(REPEATS)]
            median = sorted(repeats, key=lambda comparison: comparison.ratio)[REPEATS // 2]
            print(format_row(cells_of(transport, games, median)), flush=True)


async def soak(server: ServerProcess, transport: str, games: int, minutes: int) -> None:
    """Play games for that long and print the server's memory every minute."""
    async with connected(server, transport, bots_for(games, Counter())):
        for minute in range(1, minutes + 1):
            await asyncio.sleep(60)
            counts = server.counts()
            memory = counts.memory / 1e6
            print(
                f"minute {minute}: {memory:.1f} MB, {counts.games:,} games so far, server ms {counts.server_times}",
                flush=True,
            )


def numbers(text: str) -> list[int]:
    """Whole numbers from 1 up, separated by commas. Raises ArgumentTypeError."""
    return [positive(part) for part in text.split(",")]


def transports(text: str) -> list[str]:
    """Transports separated by commas. Raises ArgumentTypeError."""
    found = text.split(",")
    if not set(found) <= CONNECT.keys():
        raise argparse.ArgumentTypeError(f"{text!r}: choose from {', '.join(CONNECT)}")
    return found


def main(argv: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.server", description=__doc__)
    parser.add_argument("--games", type=numbers, default=[1, 10, 100, 300], metavar="N,N", help="games at a time")
    parser.add_argument("--transports", type=transports, default=list(CONNECT), metavar="T,T", help="tcp, ws or both")
    parser.add_argument("--seconds", type=positive, default=5, metavar="S", help="of each measurement")
    parser.add_argument(
        "--thinking",
        type=positive,
        default=0,
        metavar="MS",
        help="of a bot, for each decision; half to one and a half times as long",
    )
    parser.add_argument(
        "--soak",
        type=positive,
        metavar="MINUTES",
        help="measure the first of the games and transports only, and print the memory every minute",
    )
    args = parser.parse_args(argv)
    if not args.soak:
        print_table(args)
        return 0
    with server_process(nukidora_main) as server:
        asyncio.run(soak(server, args.transports[0], args.games[0], args.soak))
    return 0
