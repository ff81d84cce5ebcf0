"""Filling shards in several processes."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path

from agents.bert.training.data.manifest import fill
from agents.bert.training.data.sources import Chunk, read_ahead
from engine.common.workers import run_tasks, stateless

Task = tuple[int, Chunk]  # the number of a shard, and what fills it


def fill_all(folder: Path, tasks: Sequence[Task], jobs: int) -> Generator[int]:
    """Fill the shards ``tasks`` with ``jobs`` processes; yields the number of games of each shard when it is complete.

    One job, or one shard, needs no further process. Raises what `fill` and `engine.common.workers.run_tasks` raise.
    """
    n_workers = jobs if jobs > 1 and len(tasks) > 1 else 0
    yield from run_tasks(stateless(partial(_fill, folder)), read_ahead(tasks), n_workers)


def _fill(folder: Path, task: Task) -> Iterator[int]:
    number, chunk = task
    yield fill(folder, number, chunk)
