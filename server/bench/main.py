"""python -m server bench: how much the server carries, beside a bare asyncio echo of as many connections.

The server runs in a process of its own, the bots in this one, all over real sockets of the loopback address.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter

from rich.console import Console
from rich.table import Table

from engine.commandline import Parser, positive
from server.bench.clients import TALK, Bouncer, Counter, Talker, Tsumogiri
from server.bench.host import Counts, Host, echo, hosted, nukidora

SEATS = 3
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


async def load(host: Host, transport: str, talkers: Sequence[Talker], counter: Counter, seconds: float) -> Measurement:
    """Connect the talkers, let them settle, and measure."""
    closers: list[Callable[[], None]] = []
    try:
        for talker in talkers:
            closers.append(await TALK[transport](host.ports[transport], talker))
        await asyncio.sleep(SETTLING)
        before = host.ask()
        counter.delays.clear()
        messages, start = counter.messages, perf_counter()
        await asyncio.sleep(seconds)
        messages, elapsed = counter.messages - messages, perf_counter() - start
        return Measurement(elapsed, messages, before, host.ask(), list(counter.delays))
    finally:
        for close in closers:
            close()
        await asyncio.sleep(0.1)


def play(host: Host, transport: str, games: int, seconds: float, run: str) -> Measurement:
    """Games of bots that discard what they draw."""
    counter = Counter()
    bots = [Tsumogiri(counter, f"{run}-{place // SEATS}", f"bot{place}") for place in range(SEATS * games)]
    return asyncio.run(load(host, transport, bots, counter, seconds))


def bounce(host: Host, transport: str, games: int, seconds: float) -> Measurement:
    """As many connections, each with one message under way."""
    counter = Counter()
    return asyncio.run(
        load(host, transport, [Bouncer(counter, TYPICAL) for _ in range(SEATS * games)], counter, seconds)
    )


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of all do not exceed, in ms."""
    ordered = sorted(values) or [float("nan")]
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def times(values: list[float]) -> str:
    """p50, p99 and the largest of some seconds, in ms."""
    return " / ".join(f"{percentile(values, share):.2f}" for share in (0.5, 0.99, 1.0))


CAPTION = """\
decisions and games: of the server. messages: sent to bots, each answered by one; echo: the same with a bare asyncio
echo (TCP) or a bare websockets echo, as many connections, one message under way on each. server ms: from the last
reply needed to the next event sent; bot ms: from a bot's decision to its next message; each p50 / p99 / largest.
kB/game: what the server's memory has grown by, for each game being played."""
HEADINGS = (
    "transport", "games", "decisions/s", "games/s", "messages/s", "echo/s", "of echo", "server ms", "bot ms", "kB/game",
)  # fmt: skip


def row(transport: str, games: int, played: Measurement, bounced: Measurement, idle: int) -> list[str]:
    """One line of the table."""
    assert played.before is not None
    assert played.after is not None
    decisions = (played.after.decisions - played.before.decisions) / played.seconds
    finished = (played.after.games - played.before.games) / played.seconds
    memory = (played.after.memory - idle) / max(1, played.after.playing) / 1000
    return [
        transport,
        f"{games}",
        f"{decisions:,.0f}",
        f"{finished:.1f}",
        f"{played.rate:,.0f}",
        f"{bounced.rate:,.0f}",
        f"{played.rate / bounced.rate:.2f}",
        times(played.after.own_times),
        times(played.delays),
        f"{memory:.0f}" if games >= 100 else "",
    ]


def compare(args: argparse.Namespace, screen: Console) -> None:
    """The table: every transport with every number of games, each with a fresh server."""
    table = Table(*HEADINGS, caption=CAPTION, box=None, header_style="bold")
    for column in table.columns:
        column.justify = "right"
    with screen.status("measuring …") as status:
        for transport in args.transports:
            for games in args.games:
                status.update(f"{transport}, {games} games …")
                with hosted(echo) as bare:
                    bounced = bounce(bare, transport, games, args.seconds)
                with hosted(nukidora) as server:
                    idle = server.ask().memory
                    played = play(server, transport, games, args.seconds, "bench")
                table.add_row(*row(transport, games, played, bounced, idle))
    screen.print(table)


def soak(server: Host, args: argparse.Namespace, screen: Console) -> None:
    """Games all the time, and the server's memory minute by minute."""
    end, minute = monotonic() + 60 * args.soak, 0
    while monotonic() < end:
        played = play(server, args.transports[0], args.games[0], min(60.0, end - monotonic()), f"soak-{minute}")
        assert played.after is not None
        minute += 1
        screen.print(
            f"minute {minute}: {played.after.memory / 1e6:.1f} MB, {played.after.games:,} games so far,"
            f" server ms {times(played.after.own_times)}"
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
    parser = Parser(prog="python -m server bench", description=__doc__)
    parser.add_argument("--games", type=numbers, default=[1, 10, 100, 300], metavar="N,N", help="games at a time")
    parser.add_argument("--transports", type=transports, default=list(TALK), metavar="T,T", help="tcp, ws or both")
    parser.add_argument("--seconds", type=positive, default=5, metavar="S", help="of each measurement")
    parser.add_argument("--soak", type=positive, metavar="MINUTES", help="only play, and print the memory every minute")
    args = parser.parse_args(argv)
    screen = Console(width=None if sys.stdout.isatty() else 120)
    if not args.soak:
        compare(args, screen)
        return 0
    with hosted(nukidora) as server:
        soak(server, args, screen)
    return 0
