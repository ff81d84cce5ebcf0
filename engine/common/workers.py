"""A pool of worker processes.

Differences to `concurrent.futures.ProcessPoolExecutor`: a task may send updates before it is done, a worker keeps state
that is closed in good order, the first task runs alone, and Ctrl-C and the death of the parent are taken care of. What
the workers need is compiled before they start.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from engine.warm_up import warm_up_once

SPAWN = multiprocessing.get_context("spawn")  # the same on every system, and safe beside threads

T = TypeVar("T")  # task
U = TypeVar("U")  # update

Work = Callable[[T], Iterable[U]]  # runs a task; yields its updates
OpenWorker = Callable[[], AbstractContextManager[Work[T, U]]]


class WorkerError(Exception):
    """A worker process ended without an exception: it was killed, or crashed."""

    def __init__(self) -> None:
        super().__init__("a worker process ended unexpectedly; if memory ran out, try fewer --jobs")


@dataclass(frozen=True, slots=True)
class _Update:
    value: Any


@dataclass(frozen=True, slots=True)
class _TaskDone:
    pass


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


def run_tasks(open_worker: OpenWorker[T, U], tasks: Sequence[T], n_workers: int) -> Generator[U]:
    """Run ``tasks`` in ``n_workers`` processes and yield their updates as they come, of all tasks intermixed.

    Each process enters the context manager ``open_worker()``, which gives the function that runs a task, and leaves it
    at its end; `stateless` makes one of a plain function. All of this must be picklable. The first task runs alone, so
    that a cold compile cache is filled once and not by every process. With ``n_workers`` = 0, the tasks run in this
    process.

    Raises what a task raises, and `WorkerError`. When the generator is closed or raises, the workers are terminated:
    by SIGTERM, for which ``open_worker`` may set a handler. Ctrl-C interrupts the parent only. Workers also end when
    the parent is killed. Must be called in the main thread.
    """
    if n_workers == 0:
        with open_worker() as work:
            for task in tasks:
                yield from work(task)
        return
    warm_up_once()  # not in each worker
    with _workers(open_worker, min(n_workers, len(tasks))) as connections:
        queue = iter(tasks)
        for first, task in zip(connections[:1], queue):
            _send(first, task)
        n_done = 0
        while n_done < len(tasks):
            for connection in wait(connections):
                message = _receive(connection)
                if isinstance(message, _Update):
                    yield message.value
                else:
                    n_done += 1
                    for each, task in zip(connections if n_done == 1 else [connection], queue):
                        _send(each, task)


def stateless(work: Work[T, U]) -> OpenWorker[T, U]:
    """The ``open_worker`` of `run_tasks` for a function that needs no state."""
    return partial(_without_state, work)


@contextmanager
def _without_state(work: Work[T, U]) -> Iterator[Work[T, U]]:
    yield work


def _send(connection: Any, task: object) -> None:
    """Send a task. If the worker has ended, `_receive` will raise the reason."""
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


@contextmanager
def _workers(open_worker: OpenWorker[T, U], n: int) -> Iterator[list[Any]]:
    """Start ``n`` workers, and terminate them at the end of the block."""
    connections: list[Any] = []  # Connection, on Windows PipeConnection
    processes: list[SpawnProcess] = []
    try:
        if sys.platform != "win32":  # where there is none
            with delayed_interrupts():
                resource_tracker.ensure_running()  # its start unblocks SIGINT, which would reach the first worker
        for _ in range(n):
            connection, far_end = SPAWN.Pipe()
            process = SPAWN.Process(target=_serve, args=(far_end, open_worker), daemon=True)
            with delayed_interrupts():
                process.start()
                processes.append(process)
            far_end.close()  # only then does the end of the worker close the connection
            connections.append(connection)
        yield connections
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def delayed_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block. Processes that are started in the block never receive it."""
    received: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))  # another thread may get it
    mask = _block_interrupts()  # is inherited by processes started here
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)


def _block_interrupts() -> set[signal.Signals] | set[int]:
    """Block SIGINT and return the mask before; Windows (not tested) has no such masks."""
    if sys.platform == "win32":
        return set()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(connection: Connection, open_worker: OpenWorker[T, U]) -> None:
    """The main function of a worker process: runs tasks until the process is terminated or a task raises."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while the process started
    threading.Thread(target=_terminate_with_parent, daemon=True).start()
    try:
        with open_worker() as work:
            while True:
                for update in work(connection.recv()):
                    connection.send(_Update(update))
                connection.send(_TaskDone())
    except Exception as error:
        with suppress(OSError):  # the parent is gone
            connection.send(_Failed(_picklable(error)))


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


def _picklable(error: Exception) -> Exception:
    """The error with its traceback as a note, or one that says the same if it cannot be sent to the parent."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    return error
