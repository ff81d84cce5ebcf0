"""python -m benchmarks.cluster: the arena's games/s by two processes and by two workers of a Ray cluster.

Both play the same games in turn: processes, cluster, processes, cluster … on this machine. The rate is of the games, as
the arena prints it, without the start of the workers, whose time is printed beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from time import monotonic

from rich.console import Console

from arena.run import ArenaRun
from arena.schedule import RunSettings, round_up
from benchmarks.timing import ROUNDS
from engine.common.cluster import LOCAL, Cluster
from engine.common.options import Parser, positive
from engine.common.program import OK
from engine.common.workers import connected

WORKERS = 2


def play(settings: RunSettings, workers: int | Cluster) -> tuple[float, float]:
    """Games a second, and the seconds before the first game."""
    run, start = ArenaRun(settings, workers), monotonic()
    run.play(Console(stderr=True, quiet=True))
    return run.speed.games_per_second, monotonic() - start - run.speed.seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.cluster", description=__doc__)
    parser.add_argument("--games", type=positive, default=2000, metavar="N", help="of each measurement")
    options = parser.parse_args(arguments)
    settings = RunSettings(("rule", "rule", "rule"), round_up(options.games), 0, "tenhou", "hanchan")
    start = monotonic()
    cluster = Cluster(LOCAL, WORKERS)
    sides: dict[str, int | Cluster] = {f"{WORKERS} processes": WORKERS, f"{WORKERS} workers of a cluster": cluster}
    with connected(cluster):
        print(f"the cluster started in {monotonic() - start:.1f} s; games/s, and seconds before the first game:")
        measured: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
        for _ in range(ROUNDS):
            for side, workers in sides.items():
                measured[side].append(play(settings, workers))
    rates = []
    for side, found in measured.items():
        rates.append(statistics.median(rate for rate, _ in found))
        seconds = statistics.median(seconds for _, seconds in found)
        print(
            f"{side:25} {rates[-1]:7.1f} games/s {seconds:5.1f} s   ({', '.join(f'{rate:.1f}' for rate, _ in found)})"
        )
    print(f"cluster / processes {rates[1] / rates[0]:.3f}")
    return OK
