"""A pool of worker processes, or of workers on a cluster.

Differences from `concurrent.futures.ProcessPoolExecutor`: a task may send updates before it is done, a worker may hold
state that is closed properly, the first task runs alone, and Ctrl-C and the death of the parent are handled. The
kernels that the workers need are compiled before they start.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic

from engine.common.cluster import Cluster
from engine.common.pools import AnyPool, OpenWorker, T, U, Work, WorkerError, delay_interrupts, picklable
from engine.common.program import repeat_signal
from engine.warm_up import warm_up_imported

SPAWN = multiprocessing.get_context("spawn")  # the same on every system, and safe with threads


@dataclass(frozen=True, slots=True)
class _Update:
    value: Any


@dataclass(frozen=True, slots=True)
class _TaskDone:
    pass


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


class Pool(Generic[T, U]):
    """A pool of processes, see `open_pool`."""

    def __init__(self, open_worker: OpenWorker[T, U], n_workers: int, processes: list[SpawnProcess]) -> None:
        self._open_worker = open_worker
        self._n_workers = n_workers
        self._processes = processes
        self._idle: list[Any] = []  # Connection, on Windows PipeConnection
        self._warm = False  # a task has been completed, so the code that tasks need is compiled

    def run(self, tasks: Iterable[T]) -> Generator[U]:
        """Run ``tasks`` and yield their updates as they arrive, those of different tasks interleaved.

        A task is taken from ``tasks`` only when a worker is free for it, so it may depend on updates yielded before.
        After all tasks are done, the workers wait for another call. Raises what a task raises, or `WorkerError`; after
        an exception, or if the generator is closed early, the pool can no longer be used.
        """
        queue = iter(tasks)
        busy: list[Any] = []
        while True:
            n_free = (self._n_workers if self._warm else 1) - len(busy)
            for task in islice(queue, n_free):
                worker = self._idle.pop() if self._idle else self._start_worker()
                _send(worker, task)
                busy.append(worker)
            if not busy:
                return
            for worker in wait(busy):
                message = _receive(worker)
                if isinstance(message, _Update):
                    yield message.value
                else:
                    self._warm = True
                    busy.remove(worker)
                    self._idle.append(worker)

    def _start_worker(self) -> Any:
        """Start a process and return the connection to it."""
        if sys.platform != "win32":  # which has no resource tracker
            with delay_interrupts():
                resource_tracker.ensure_running()  # a later start would unblock SIGINT for the first worker
        connection, far_end = SPAWN.Pipe()
        process = SPAWN.Process(target=_serve, args=(far_end, self._open_worker), daemon=True)
        with delay_interrupts():
            process.start()
            self._processes.append(process)
        far_end.close()  # only then does the end of the worker close the connection
        return connection


class _PoolOfThisProcess(Generic[T, U]):
    """A pool without workers."""

    def __init__(self, work: Work[T, U]) -> None:
        self._work = work

    def run(self, tasks: Iterable[T]) -> Generator[U]:
        for task in tasks:
            yield from self._work(task)


@contextmanager
def open_pool(open_worker: OpenWorker[T, U], workers: int | Cluster) -> Iterator[AnyPool[T, U]]:
    """Open a pool of up to ``workers`` workers, started when there are tasks; 0: this process does the work.

    If ``workers`` is a `Cluster`, they run on its machines, see `engine.common.cluster_pool`; otherwise they are local
    processes. Each worker enters the context manager ``open_worker()``, whose value is the function that runs a task,
    and exits it at the end; `stateless` makes one from a plain function. Everything must be picklable. The first task
    runs alone, so that a cold compile cache is filled once and not by every process.

    At the end of the block the workers are terminated: by SIGTERM, for which ``open_worker`` may set a handler. Ctrl-C
    interrupts the parent only. Workers also end when the parent is killed. Must be called in the main thread.
    """
    if isinstance(workers, Cluster):
        from engine.common.cluster_pool import open_cluster_pool  # needs Ray

        with open_cluster_pool(open_worker, workers) as cluster_pool:
            yield cluster_pool
        return
    if workers == 0:
        with open_worker() as work:
            yield _PoolOfThisProcess(work)
        return
    warm_up_imported()  # not in each worker
    processes: list[SpawnProcess] = []
    try:
        yield Pool(open_worker, workers, processes)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def run_tasks(open_worker: OpenWorker[T, U], tasks: Iterable[T], workers: int | Cluster) -> Generator[U]:
    """Run ``tasks`` in a new pool and yield their updates, see `open_pool` and `Pool.run`."""
    with open_pool(open_worker, workers) as pool:
        yield from pool.run(tasks)


@contextmanager
def connected(workers: int | Cluster) -> Iterator[int]:
    """Yield the number of ``workers``, and keep the connection to their cluster, if any, open while the block runs.

    Raises ConnectionError if there is no cluster, ValueError or OSError if its files cannot be sent.
    """
    if isinstance(workers, Cluster):
        from engine.common.cluster_pool import connection, n_workers

        with connection(workers):
            yield n_workers(workers)
    else:
        yield workers


def at_most(workers: int | Cluster, n: int) -> int | Cluster:
    """Return the same workers, limited to ``n``."""
    if isinstance(workers, Cluster):
        return replace(workers, limit=min(n, workers.limit or n))
    return min(workers, n)


def stateless(work: Work[T, U]) -> OpenWorker[T, U]:
    """The ``open_worker`` of `run_tasks` for a function that needs no state."""
    return partial(_without_state, work)


@contextmanager
def _without_state(work: Work[T, U]) -> Iterator[Work[T, U]]:
    yield work


def _send(connection: Any, task: object) -> None:
    """Send a task. If the worker has ended, `_receive` raises the reason."""
    with suppress(ConnectionError):
        connection.send(task)


def _receive(connection: Any) -> _Update | _TaskDone:
    """The next message of a worker. Raises its exception, or WorkerError."""
    try:
        message: _Update | _TaskDone | _Failed = connection.recv()
    except (EOFError, ConnectionError) as error:
        raise WorkerError from error
    if isinstance(message, _Failed):
        raise message.error
    return message


def _serve(connection: Connection, open_worker: OpenWorker[T, U]) -> None:
    """The main function of a worker process: runs tasks until the process is terminated or a task raises."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while the process started
    sys.unraisablehook = repeat_signal
    threading.Thread(target=_terminate_with_parent, daemon=True).start()
    try:
        with open_worker() as work:
            while True:
                for update in work(connection.recv()):
                    connection.send(_Update(update))
                connection.send(_TaskDone())
    except Exception as error:
        with suppress(OSError):  # the parent is gone
            connection.send(_Failed(picklable(error)))


def _terminate_with_parent() -> None:
    """Wait until the parent process has ended, then send SIGTERM to this one."""
    parent = multiprocessing.parent_process()
    main = threading.main_thread().ident
    if parent is None or main is None:
        return
    parent.join()
    if sys.platform == "win32":  # untested; ends the process without handlers
        os.kill(os.getpid(), signal.SIGTERM)
    else:
        signal.pthread_kill(main, signal.SIGTERM)
