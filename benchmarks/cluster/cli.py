"""python -m benchmarks.cluster: the arena's games/s by two processes and by two workers of a Ray cluster.

Both play the same games in turn on this machine: processes, cluster, processes, cluster … The workers of both are
started and warm before anything is measured; how long that took is printed next to the rates. The machine must be
quiet: when other programs run, the system may give processes and the workers of Ray different shares of the processor.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from time import perf_counter

from arena.schedule import RunSettings, round_up, split_walls
from arena.worker import WARM_UP, Task, Update, open_worker
from benchmarks.timing import ROUNDS
from engine.common.cluster import LOCAL, Cluster
from engine.common.options import Parser, positive
from engine.common.pools import AnyPool
from engine.common.program import OK
from engine.common.workers import connected, open_pool
from engine.contests.seating import ROTATIONS

WORKERS = 2


def seconds_for(pool: AnyPool[Task, Update], tasks: Sequence[Task]) -> float:
    """Return how long a pool takes for some tasks."""
    start = perf_counter()
    for _ in pool.run(tasks):
        pass
    return perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.cluster", description=__doc__)
    parser.add_argument("--games", type=positive, default=2000, metavar="N", help="of each measurement")
    options = parser.parse_args(arguments)
    settings = RunSettings(("rule", "rule", "rule"), round_up(options.games), 0, "tenhou", "hanchan")
    start_worker = partial(open_worker, settings, None, settings.make_bots)
    warm_up: list[Task] = [WARM_UP, *split_walls(range(4 * WORKERS), WORKERS)]
    chunks: list[Task] = [*split_walls(range(settings.n_walls), WORKERS)]
    n_games, start, cluster = ROTATIONS * settings.n_walls, perf_counter(), Cluster(LOCAL, WORKERS)
    with connected(cluster), open_pool(start_worker, WORKERS) as here, open_pool(start_worker, cluster) as there:
        print(f"the cluster started in {perf_counter() - start:.1f} s")
        pools = {f"{WORKERS} processes": here, f"{WORKERS} workers of a cluster": there}
        warm = {side: seconds_for(pool, warm_up) for side, pool in pools.items()}
        rounds = [{side: n_games / seconds_for(pool, chunks) for side, pool in pools.items()} for _ in range(ROUNDS)]
    medians = [statistics.median(rates[side] for rates in rounds) for side in pools]
    for side, median in zip(pools, medians):
        each = ", ".join(f"{rates[side]:.1f}" for rates in rounds)
        print(f"{side:25} {median:7.1f} games/s ({each}), warm after {warm[side]:.1f} s")
    print(f"cluster / processes {medians[1] / medians[0]:.3f}")
    return OK
