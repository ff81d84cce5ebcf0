"""Shards made in several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from agents.bert.training.data.manifest import fill
from agents.bert.training.data.sources import Chunk, SourceError

SPAWN = multiprocessing.get_context("spawn")  # the same on every system, and safe beside threads


def fill_all(folder: Path, tasks: Sequence[tuple[int, Chunk]], jobs: int) -> Generator[int]:
    """Make the shards `tasks`, with `jobs` processes; yields the games of each when it is whole.

    Raises SourceError, OSError. Closing the generator ends the processes.
    """
    if jobs == 1 or len(tasks) == 1:
        for number, chunk in tasks:
            yield fill(folder, number, chunk)
        return
    with workers(min(jobs, len(tasks))) as pool:
        for some in (tasks[:1], tasks[1:]):  # the first alone: it compiles what the others only load
            with interrupts_held_back():
                futures = [pool.submit(fill, folder, number, chunk) for number, chunk in some]
            for future in as_completed(futures):
                yield future.result()


@contextmanager
def workers(n: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of `n` processes that end with the block, at once where it is left by an exception."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n, mp_context=SPAWN, initializer=end_with_parent)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise SourceError("a worker process ended unexpectedly; if memory ran out, try fewer --jobs") from error
    finally:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()  # shards are whole or not there at all
        pool.shutdown(cancel_futures=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal: those started inside this block never hear of it, this one after."""
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))  # another thread may hear it
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which processes started here inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


def end_with_parent() -> None:
    """In a worker: end when the parent does, however that comes about."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
