"""python -m benchmarks.server: how much the server carries, beside a bare asyncio echo of as many connections.

The server runs in a process of its own, the bots in this one, all over real sockets of the loopback address.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

from benchmarks.server.clients import TALK, Bouncer, Counter, Talker, Tsumogiri
from benchmarks.server.host import Counts, Host, echo, hosted, nukidora, times
from engine.common.options import Parser, positive

SEATS = 3
ROUNDS = 3  # of echo and server in turn; the one with the median share is shown
SETTLING = 1.0  # seconds from the last connection to the beginning of a measurement
# A draw of another: what bots receive most often.
TYPICAL = b'{"type":"tsumo","actor":0,"pai":"?","possible_actions":[]}'


@dataclass(frozen=True, slots=True)
class Measurement:
    """A load for some seconds."""

    seconds: float
    messages: int  # to bots, each of them answered
    before: Counts | None
    after: Counts | None
    delays: list[float]

    @property
    def rate(self) -> float:
        """Messages to bots a second."""
        return self.messages / self.seconds


@asynccontextmanager
async def connected(host: Host, transport: str, talkers: Sequence[Talker]) -> AsyncIterator[None]:
    """All talkers connected and settled."""
    closers: list[Callable[[], None]] = []
    try:
        for talker in talkers:
            closers.append(await TALK[transport](host.ports[transport], talker))
        await asyncio.sleep(SETTLING)
        yield
    finally:
        for close in closers:
            close()
        await asyncio.sleep(0.1)


async def load(host: Host, transport: str, talkers: Sequence[Talker], counter: Counter, seconds: float) -> Measurement:
    """Connect the talkers and measure."""
    async with connected(host, transport, talkers):
        before = host.ask()
        counter.delays.clear()
        messages, start = counter.messages, perf_counter()
        await asyncio.sleep(seconds)
        messages, elapsed = counter.messages - messages, perf_counter() - start
        return Measurement(elapsed, messages, before, host.ask(), list(counter.delays))


def bots_for(games: int, counter: Counter) -> list[Tsumogiri]:
    """Bots for so many games, each game in a room of its own."""
    return [Tsumogiri(counter, f"bench-{place // SEATS}", f"bot{place}") for place in range(SEATS * games)]


def play(host: Host, transport: str, games: int, seconds: float) -> Measurement:
    """Games of bots that discard what they draw."""
    counter = Counter()
    return asyncio.run(load(host, transport, bots_for(games, counter), counter, seconds))


def bounce(host: Host, transport: str, games: int, seconds: float) -> Measurement:
    """As many connections, each with one message under way."""
    counter = Counter()
    return asyncio.run(
        load(host, transport, [Bouncer(counter, TYPICAL) for _ in range(SEATS * games)], counter, seconds)
    )


LEGEND = """\
decisions and games: of the server. messages: sent to bots, each answered by one; echo: the same with a bare asyncio
echo (TCP) or a bare websockets echo, as many connections, one message under way on each. server ms: from the last
reply needed to the next event sent; bot ms: from a bot's decision to its next message; each p50 / p99 / largest.
kB/game: what the server's memory has grown by, for each game being played (100 games and more).
Echo and server take turns, three times; a line is the turn with the median share.
"""
COLUMNS = {
    "": 4, "games": 6, "decisions/s": 12, "games/s": 8, "messages/s": 11, "echo/s": 8, "share": 6, "server ms": 22,
    "bot ms": 26, "kB/game": 8,
}  # fmt: skip


def line(cells: Iterable[str]) -> str:
    """One line of the table."""
    return " ".join(cell.rjust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The server's games and the bare echo, measured one after the other."""

    played: Measurement
    bounced: Measurement
    idle: int  # bytes the server held before the games

    @property
    def share(self) -> float:
        """Of the echo's rate."""
        return self.played.rate / self.bounced.rate


def row(transport: str, games: int, comparison: Comparison) -> list[str]:
    """One line of the table."""
    played = comparison.played
    assert played.before is not None
    assert played.after is not None
    decisions = (played.after.decisions - played.before.decisions) / played.seconds
    finished = (played.after.games - played.before.games) / played.seconds
    memory = (played.after.memory - comparison.idle) / max(1, played.after.playing) / 1000
    return [
        transport,
        f"{games}",
        f"{decisions:,.0f}",
        f"{finished:.1f}",
        f"{played.rate:,.0f}",
        f"{comparison.bounced.rate:,.0f}",
        f"{comparison.share:.2f}",
        played.after.own_times,
        times(played.delays),
        f"{memory:.0f}" if games >= 100 else "",
    ]


def measured(transport: str, games: int, seconds: float) -> Comparison:
    """The bare echo, then a fresh server, under the same load."""
    with hosted(echo) as bare:
        bounced = bounce(bare, transport, games, seconds)
    with hosted(nukidora) as server:
        idle = server.ask().memory
        return Comparison(play(server, transport, games, seconds), bounced, idle)


def compare(args: argparse.Namespace) -> None:
    """The table: every transport with every number of games; each line as it is measured."""
    print(LEGEND)
    print(line(COLUMNS))
    for transport in args.transports:
        for games in args.games:
            rounds = sorted((measured(transport, games, args.seconds) for _ in range(ROUNDS)), key=lambda it: it.share)
            print(line(row(transport, games, rounds[ROUNDS // 2])), flush=True)


async def soak(server: Host, transport: str, games: int, minutes: int) -> None:
    """Games all the time, and the server's memory minute by minute."""
    async with connected(server, transport, bots_for(games, Counter())):
        for minute in range(1, minutes + 1):
            await asyncio.sleep(60)
            counts = server.ask()
            memory = counts.memory / 1e6
            print(
                f"minute {minute}: {memory:.1f} MB, {counts.games:,} games so far, server ms {counts.own_times}",
                flush=True,
            )


def numbers(text: str) -> list[int]:
    """Whole numbers from 1 up, separated by commas."""
    return [positive(part) for part in text.split(",")]


def transports(text: str) -> list[str]:
    """Transports separated by commas. Raises ArgumentTypeError."""
    found = text.split(",")
    if not set(found) <= TALK.keys():
        raise argparse.ArgumentTypeError(f"{text!r}: choose from {', '.join(TALK)}")
    return found


def main(argv: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("--games", type=numbers, default=[1, 10, 100, 300], metavar="N,N", help="games at a time")
    parser.add_argument("--transports", type=transports, default=list(TALK), metavar="T,T", help="tcp, ws or both")
    parser.add_argument("--seconds", type=positive, default=5, metavar="S", help="of each measurement")
    parser.add_argument(
        "--soak",
        type=positive,
        metavar="MINUTES",
        help="only the first of the games and transports, and the memory every minute",
    )
    args = parser.parse_args(argv)
    if not args.soak:
        compare(args)
        return 0
    with hosted(nukidora) as server:
        asyncio.run(soak(server, args.transports[0], args.games[0], args.soak))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
