"""Runs the comparisons, alternating ours and theirs so that a noisy machine hits both alike, and prints them."""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.engine import rivals
from benchmarks.engine.rivals import Work
from engine.common.options import Parser
from engine.tables import Tables

ROUNDS = 5  # A B A B …: the median of this many is printed
FIRST_STEP = "import engine.game as g; game = g.Game(1); game.act(0, game.legal(0)[0])"


@dataclass(frozen=True)
class Comparison:
    """Medians of two rates in `unit` per second; `goal` is the ratio aimed at."""

    name: str
    unit: str
    ours: float
    theirs: float
    rival: str
    goal: float

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs


@dataclass(frozen=True)
class Figure:
    """One measured quantity and the most it should be."""

    name: str
    unit: str
    value: float
    limit: float


def rate(work: Work, at_least: float = 0.4) -> float:
    """Units per second of `work`, repeated until it has taken `at_least` seconds."""
    done, start = 0, time.perf_counter()
    while True:
        done += work()
        taken = time.perf_counter() - start
        if taken >= at_least:
            return done / taken


def compare(name: str, unit: str, rival: str, goal: float, ours: Work, theirs: Work) -> Comparison:
    """Measure both sides in turn, after one uncounted round each."""
    rates = [(rate(ours), rate(theirs)) for _ in range(ROUNDS + 1)][1:]
    return Comparison(
        name, unit, statistics.median(r[0] for r in rates), statistics.median(r[1] for r in rates), rival, goal
    )


def play_in_processes(pool: multiprocessing.pool.Pool, n: int) -> int:
    """`n` batches of games, shared evenly by two processes; returns decisions."""
    return sum(pool.map(rivals.play_batch, [512] * n, chunksize=n // 2))


def compare_cores() -> Comparison:
    """Batch play on two cores against one."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        both = partial(play_in_processes, pool, 12)
        return compare("batch play, two cores", "decisions", "one core", 2, both, rivals.play_batch)


def comparisons() -> list[Callable[[], Comparison]]:
    """Every comparison, yet to be run."""
    hands = rivals.winning_hands(5_000)
    our_shanten, their_shanten = rivals.shanten_sides()
    our_scoring = rivals.our_scoring(hands)
    return [
        lambda: compare(
            "batch random play", "decisions", "riichienv", 50, rivals.play_batch, rivals.riichienv_play_game
        ),
        lambda: compare(
            "Game, step by step", "decisions", "riichienv", 5, rivals.play_game, rivals.riichienv_play_game
        ),
        lambda: compare("shanten, 14 tiles", "hands", "riichienv", 5, our_shanten, their_shanten),
        lambda: compare("scoring of wins", "hands", "mahjong", 50, our_scoring, rivals.mahjong_scoring(hands)),
        lambda: compare("scoring of wins", "hands", "riichienv", 3, our_scoring, rivals.riichienv_scoring(hands)),
        compare_cores,
    ]


def seconds_to_first_step(cache: str | None) -> float:
    """Wall-clock seconds of a fresh process that plays one action, with the usual cache or with the folder `cache`."""
    environment = os.environ | ({"NUKIDORA_CACHE": cache} if cache else {})
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", FIRST_STEP], env=environment, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def figures() -> list[Figure]:
    """Start, compile time and memory."""
    seconds_to_first_step(None)
    warm = statistics.median(seconds_to_first_step(None) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as cold_cache:
        cold = seconds_to_first_step(cold_cache)
    tracemalloc.start()
    tables = Tables(range(100_000))
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [
        Figure("process start to first step, warm cache", "s", warm, 1.0),
        Figure("process start to first step, cold cache", "s", cold, 60.0),
        Figure(f"memory of {len(tables.records):,} tables", "MB", memory / 1e6, 250.0),
    ]


def report(console: Console, compared: list[Comparison], measured: list[Figure]) -> None:
    """Print both tables."""
    table = Table("", "per second", "ours", "theirs", "rival", "ratio", "goal")
    for line in compared:
        table.add_row(
            line.name, line.unit, f"{line.ours:,.0f}", f"{line.theirs:,.0f}", line.rival, f"{line.ratio:.1f}x",
            f"{line.goal:g}x",
        )  # fmt: skip
    console.print(table)
    table = Table("", "measured", "at most")
    for figure in measured:
        table.add_row(figure.name, f"{figure.value:.2f} {figure.unit}", f"{figure.limit:g} {figure.unit}")
    console.print(table)


def main(argv: list[str]) -> int:
    """`python -m benchmarks.engine [--json FILE]`; returns the exit code."""
    parser = Parser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    args = parser.parse_args(argv)
    try:
        import mahjong  # noqa: F401
        import riichienv  # noqa: F401
    except ImportError as error:
        parser.error(f"{error}: the rivals are not installed; pip install 'nukidora[test]'")
    if args.json and not args.json.parent.is_dir():
        parser.error(f"--json {args.json}: there is no folder {args.json.parent}")
    console = Console()
    compared = []
    for run in comparisons():
        with console.status("measuring …"):
            compared.append(run())
        console.print(f"{compared[-1].name} against {compared[-1].rival}: {compared[-1].ratio:.1f}x")
    with console.status("start, compile time, memory …"):
        measured = figures()
    report(console, compared, measured)
    if args.json:
        rows = [asdict(line) | {"ratio": line.ratio} for line in compared]
        args.json.write_text(
            json.dumps({"comparisons": rows, "figures": [asdict(f) for f in measured]}, indent=2) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
