"""Filling shards in several processes."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.bert.training.data.manifest import fill
from agents.bert.training.data.shards import Shard, array_path
from agents.bert.training.data.sources import Chunk, read_ahead
from engine.common.cluster import Cluster
from engine.common.files import contents, write_contents
from engine.common.workers import run_tasks, stateless

Task = tuple[int, Chunk]  # the number of a shard, and what fills it


@dataclass(frozen=True, slots=True)
class Filled:
    """A shard was filled on another machine. ``files``: its files; the last of them makes it complete."""

    n_games: int
    files: dict[str, bytes]


def fill_all(folder: Path, tasks: Sequence[Task], jobs: int | Cluster) -> Generator[int]:
    """Fill the shards ``tasks`` with ``jobs`` processes; yields the number of games of each shard once it is complete.

    One job, or one shard, needs no additional process. ``jobs`` may be a cluster: this process then writes what the
    workers send. Raises what `fill` and `engine.common.workers.run_tasks` raise.
    """
    if isinstance(jobs, Cluster):
        for filled in run_tasks(stateless(_fill_remotely), read_ahead(tasks), jobs):
            write_contents(filled.files, folder)
            yield filled.n_games
    else:
        n_workers = jobs if jobs > 1 and len(tasks) > 1 else 0
        yield from run_tasks(stateless(partial(_fill, folder)), read_ahead(tasks), n_workers)


def _fill(folder: Path, task: Task) -> Iterator[int]:
    number, chunk = task
    yield fill(folder, number, chunk)


def _fill_remotely(task: Task) -> Iterator[Filled]:
    number, chunk = task
    with TemporaryDirectory() as name:
        n_games = fill(Path(name), number, chunk)
        files = contents(Path(name))
    last = array_path(Path(), number, Shard._fields[-1]).name
    files[last] = files.pop(last)
    yield Filled(n_games, files)
