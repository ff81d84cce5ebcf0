"""Process all records of files and archives, in order, in bounded memory, on all cores.

This process reads the archives and sends the records to the workers, a few at a time and only when a worker is free.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from engine.common.options import jobs_in_environment, usable_cores
from engine.common.workers import open_pool, stateless
from engine.records.archives import Member, split_name, total_size
from engine.records.files import parse_record
from engine.records.filters import Filters
from engine.records.model import FourPlayersError, GameRecord, RecordError, record_errors, with_rules_of

BATCH, BATCH_BYTES = 16, 1 << 20  # maximum records of a task; a task is full after this many bytes
WINDOW = 64  # maximum tasks in flight, which bounds the results waiting for an earlier one
# From this many files, or bytes of archives, on, several processes are faster than one.
PARALLEL_FROM, PARALLEL_FROM_BYTES = 100, 400_000

R = TypeVar("R")


class Item(NamedTuple):
    """A record to process, see `Member`. `data`: its bytes; None if its name excludes it; or why it cannot be read."""

    name: str
    file: Path
    inner: str | None
    position: int
    data: bytes | RecordError | None


Task = tuple[int, list[Item]]  # the number of the first record, and some records


def in_order(
    work: Callable[[Item], R], found: Iterable[Member], filters: Filters, jobs: int
) -> Generator[tuple[Item, R]]:
    """Yield each `found` record, without its data, and the result of `work` on it, in order.

    `work` must be picklable; with more than one job, it runs in that many processes. Raises what `work` raises.
    """
    early: dict[int, tuple[Item, R]] = {}  # results of records after one that is not done
    n_given = 0
    tasks = batches(item_of(member, filters) for member in found)
    with open_pool(stateless(partial(_work_on, work)), 0 if jobs == 1 else jobs) as pool:
        for task in tasks:
            with closing(pool.run(chain([task], islice(tasks, WINDOW - 1)))) as results:
                for number, item, result in results:
                    early[number] = (item, result)
                    while n_given in early:
                        yield early.pop(n_given)
                        n_given += 1


def _work_on(work: Callable[[Item], R], task: Task) -> Iterator[tuple[int, Item, R]]:
    first, batch = task
    for number, item in enumerate(batch, first):
        yield number, item._replace(data=None), work(item)


def item_of(member: Member, filters: Filters) -> Item:
    """A record with its bytes, unless its name excludes it."""
    return Item(member.name, member.file, member.inner, member.position, _data(member, filters))


def select_record(item: Item, filters: Filters) -> GameRecord | None:
    """Read the game of a record, with the rules of the filters; None if they exclude it.

    Raises RecordError if it cannot be read.
    """
    if item.data is None:
        return None
    if isinstance(item.data, RecordError):
        raise item.data
    try:
        record = parse_record(item.data, item.file.name if item.inner is None else f"{item.file.name}:{item.inner}")
    except FourPlayersError:
        if filters.players:
            return None
        raise
    with record_errors(item.name, "what it says of itself"):
        return with_rules_of(record, filters.rules) if filters.admits(record, item.inner or item.file.name) else None


def _data(member: Member, filters: Filters) -> bytes | RecordError | None:
    if filters.excludes_name(member.name):
        return None
    try:
        return member.read()
    except RecordError as error:
        return error
    except OSError as error:
        return RecordError(member.name, "file", error.strerror or str(error))


def batches(records: Iterable[Item]) -> Iterator[Task]:
    """Group the records into tasks. The first task has one record, so that it is done quickly."""
    batch: list[Item] = []
    first = size = 0
    limit = 1
    for item in records:
        batch.append(item)
        size += len(item.data) if isinstance(item.data, bytes) else 0
        if len(batch) == limit or size >= BATCH_BYTES:
            yield first, batch
            first += len(batch)
            batch, size = [], 0
            limit = min(2 * limit, BATCH)
    if batch:
        yield first, batch


def jobs_for(paths: Sequence[Path]) -> int:
    """Return the number of processes for records: what the environment sets, otherwise what is fastest.

    Raises ValueError for a variable that is no number.
    """
    if (chosen := jobs_in_environment()) is not None:
        return chosen
    archives = [path for path in paths if split_name(path)[1] is None]
    many = len(paths) >= PARALLEL_FROM or total_size(archives) >= PARALLEL_FROM_BYTES
    return usable_cores() if many else 1
