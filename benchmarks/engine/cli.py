"""python -m benchmarks.engine: the speed of the engine compared with riichienv and mahjong, start-up time and memory.

The engine and the baseline are measured in turn, so that a change of the machine's speed affects both.
"""

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

from benchmarks.engine import workloads
from benchmarks.timing import ROUNDS, Work, rate
from engine.common.options import Parser
from engine.tables import Tables

FIRST_STEP = "import engine.game as g; game = g.Game(1); game.act(0, game.legal(0)[0])"


@dataclass(frozen=True)
class Comparison:
    """The median rates of the engine and of the baseline, in ``unit`` per second. ``goal``: the ratio aimed at."""

    name: str
    unit: str
    engine_rate: float
    baseline: str
    baseline_rate: float
    goal: float

    @property
    def ratio(self) -> float:
        """The rate of the engine over that of the baseline."""
        return self.engine_rate / self.baseline_rate


@dataclass(frozen=True)
class Measurement:
    """A measured quantity and its upper limit."""

    name: str
    unit: str
    value: float
    limit: float


def compare(name: str, unit: str, goal: float, engine: Work, baseline: str, baseline_work: Work) -> Comparison:
    """Measure both sides in turn. The first round is a warm-up and does not count."""
    rates = [(rate(engine), rate(baseline_work)) for _ in range(ROUNDS + 1)][1:]
    engine_rate, baseline_rate = map(statistics.median, zip(*rates))
    return Comparison(name, unit, engine_rate, baseline, baseline_rate, goal)


def play_in_processes(pool: multiprocessing.pool.Pool, n: int) -> int:
    """Play ``n`` batches of games, half of them in each of two processes; return the number of decisions."""
    return sum(pool.map(workloads.play_batch, [512] * n, chunksize=n // 2))


def compare_cores() -> Comparison:
    """Batch play on two cores, with one core as the baseline."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        both = partial(play_in_processes, pool, 12)
        return compare("batch play, two cores", "decisions", 2, both, "one core", workloads.play_batch)


def comparisons() -> list[Callable[[], Comparison]]:
    """A function for each comparison that runs it."""
    play_batch, play_game, riichienv_play = workloads.play_batch, workloads.play_game, workloads.riichienv_play_game
    shanten, riichienv_shanten = workloads.shanten_sides()
    hands = workloads.winning_hands(5_000)
    scoring = workloads.engine_scoring(hands)
    mahjong_scoring, riichienv_scoring = workloads.mahjong_scoring(hands), workloads.riichienv_scoring(hands)
    return [
        partial(compare, "batch random play", "decisions", 50, play_batch, "riichienv", riichienv_play),
        partial(compare, "Game, step by step", "decisions", 5, play_game, "riichienv", riichienv_play),
        partial(compare, "shanten, 14 tiles", "hands", 5, shanten, "riichienv", riichienv_shanten),
        partial(compare, "scoring of wins", "hands", 50, scoring, "mahjong", mahjong_scoring),
        partial(compare, "scoring of wins", "hands", 3, scoring, "riichienv", riichienv_scoring),
        compare_cores,
    ]


def seconds_to_first_step(cache: str | None) -> float:
    """Seconds until a new process has played one action, with the usual compile cache or the folder ``cache``."""
    environment = os.environ | ({"NUKIDORA_CACHE": cache} if cache else {})
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", FIRST_STEP], env=environment, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def measurements() -> list[Measurement]:
    """Start-up time, compile time and memory."""
    seconds_to_first_step(None)
    warm = statistics.median(seconds_to_first_step(None) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as cold_cache:
        cold = seconds_to_first_step(cold_cache)
    tracemalloc.start()
    tables = Tables(range(100_000))
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [
        Measurement("process start to first step, warm cache", "s", warm, 1.0),
        Measurement("process start to first step, cold cache", "s", cold, 60.0),
        Measurement(f"memory of {len(tables.records):,} tables", "MB", memory / 1e6, 250.0),
    ]


def report(console: Console, compared: list[Comparison], measured: list[Measurement]) -> None:
    """Print both tables."""
    table = Table("", "per second", "engine", "baseline", "", "ratio", "goal")
    for line in compared:
        rates = f"{line.engine_rate:,.0f}", f"{line.baseline_rate:,.0f}"
        table.add_row(line.name, line.unit, *rates, line.baseline, f"{line.ratio:.1f}x", f"{line.goal:g}x")
    console.print(table)
    table = Table("", "measured", "limit")
    for each in measured:
        table.add_row(each.name, f"{each.value:.2f} {each.unit}", f"{each.limit:g} {each.unit}")
    console.print(table)


def main(argv: list[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.engine", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    args = parser.parse_args(argv)
    try:
        import mahjong  # noqa: F401
        import riichienv  # noqa: F401
    except ImportError as error:
        parser.error(f"{error}: the baselines need: pip install -c constraints.txt -e '.[test]'")
    if args.json and not args.json.parent.is_dir():
        parser.error(f"--json {args.json}: there is no folder {args.json.parent}")
    console = Console()
    compared = []
    for run in comparisons():
        with console.status("measuring …"):
            compared.append(run())
        console.print(f"{compared[-1].name}, baseline {compared[-1].baseline}: {compared[-1].ratio:.1f}x")
    with console.status("measuring start-up time, compile time and memory …"):
        measured = measurements()
    report(console, compared, measured)
    if args.json:
        rows = [asdict(line) | {"ratio": line.ratio} for line in compared]
        args.json.write_text(
            json.dumps({"comparisons": rows, "measurements": [asdict(each) for each in measured]}, indent=2) + "\n"
        )
    return 0
