"""A low-priority worker process for tasks that would block the event loop, run one after another.

The process is started for the first task and ends after it has been idle for a while, so that a server without such
work pays nothing.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from time import monotonic
from typing import Any

from engine.common.error_text import changed, error_text, line_of

if sys.platform != "win32":
    import resource

SPAWN = multiprocessing.get_context("spawn")
NICENESS = 10  # so that games come first, while reviews still proceed on a busy processor
IDLE_TIME = 60.0  # seconds
START_TIMEOUT = 120.0  # seconds until the process begins a task, which may include its start and imports
MAX_MEMORY = 2 << 30  # bytes of the process's data segment
MAX_ERROR = 500  # characters of an error

Progress = Callable[[int, int], None]  # called with (units done, units in all)
Work = Callable[[Progress], bytes]  # a task; it is pickled, so it is a `partial` of a module-level function


class WorkerError(Exception):
    """A task has failed; the message is one line."""


class WorkerUnavailableError(WorkerError):
    """A task was not done, for no fault of its own as far as is known: it may be tried again."""


class TaskStoppedError(WorkerUnavailableError):
    """A task took too long, and was stopped with the process.

    `restart`: the seconds for which tasks have waited for that process, until it was started, and had imported what
    they need. The next one is going to need them again.
    """

    def __init__(self, text: str, restart: float) -> None:
        super().__init__(text)
        self.restart = restart


@dataclass(frozen=True, slots=True)
class Begun:
    """The message of the process when it begins a task."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The message of the process when a task has failed."""

    text: str


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default of `run`."""


def nothing() -> None:
    """Ignore that a task begins; the default of `run`."""


class Worker:
    """One worker process; the methods are called in the event loop, and never block it."""

    def __init__(self, idle_time: float = IDLE_TIME) -> None:
        """`idle_time`: seconds without a task after which the process ends."""
        self._idle_time = idle_time
        self._thread = ThreadPoolExecutor(1)  # waits for the process
        self._process: SpawnProcess | None = None
        self._connection: Any = None  # Connection, on Windows PipeConnection
        self._idle: asyncio.TimerHandle | None = None
        self._starting = 0.0  # seconds for which tasks have waited until the process began them
        self._n_tasks = 0
        self._closed = False

    async def run(
        self, work: Work, timeout: float, progress: Progress = no_progress, begin: Callable[[], None] = nothing
    ) -> bytes:
        """Return the result of `work`, which may take `timeout` seconds once begun; earlier tasks are run first.

        `begin` is called when the process begins the task: the start of a process is nobody's work. It and `progress`
        are called in another thread. Raises WorkerError; TaskStoppedError where the time was not enough.
        """
        loop = asyncio.get_running_loop()
        self._n_tasks += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            return await loop.run_in_executor(self._thread, self._run, work, timeout, progress, begin)
        finally:
            self._n_tasks -= 1
            if not self._n_tasks and not self._closed:
                self._idle = loop.call_later(self._idle_time, self._end_if_idle)

    async def close(self) -> None:
        """End the process, even if it is busy."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None:
            self._process.kill()
        await asyncio.to_thread(self._thread.shutdown)
        self._end()

    def _end_if_idle(self) -> None:
        self._thread.submit(self._end)  # a task that arrives meanwhile starts another process

    # In the thread ----------------------------------------------------------------------------------------------------

    def _run(self, work: Work, timeout: float, progress: Progress, begin: Callable[[], None]) -> bytes:
        if self._closed:
            raise WorkerUnavailableError(error_text("work_stopped", "the server stops"))
        start, begun = monotonic(), False
        end = start + START_TIMEOUT
        try:
            if self._process is None:
                self._start()
            self._connection.send(work)
            while self._connection.poll(max(0.0, end - monotonic())):
                answer = self._connection.recv()
                if isinstance(answer, Failed):
                    raise WorkerError(answer.text)
                if isinstance(answer, bytes):
                    return answer
                if isinstance(answer, Begun):
                    begun, now = True, monotonic()
                    self._starting += now - start
                    end = now + timeout
                    begin()
                else:
                    progress(*answer)
        except (OSError, EOFError):
            self._end()
            raise WorkerUnavailableError(
                error_text("work_ended", "the worker process has ended unexpectedly; try again")
            ) from None
        restart = self._starting if begun else 0.0
        self._end()
        slow = error_text("work_slow", "it took longer than {seconds:g} s", seconds=timeout)
        raise TaskStoppedError(slow, restart)

    def _start(self) -> None:
        """Start the process. Ctrl-C only reaches the server, which then ends the process."""
        self._connection, far_end = SPAWN.Pipe()
        process = SPAWN.Process(target=serve, args=(far_end,), daemon=True)
        if sys.platform == "win32":
            process.start()
        else:
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by the process
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        far_end.close()
        self._process = process
        if self._closed:  # closed meanwhile, when `close` saw no process to kill
            process.kill()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._connection.close()
            self._process = None
            self._starting = 0.0


# In the process -------------------------------------------------------------------------------------------------------


def serve(connection: Connection) -> None:
    """Do tasks until the server closes the connection."""
    if sys.platform != "win32":
        os.nice(NICENESS)
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    threading.Thread(target=end_with_parent, daemon=True).start()

    def progress(done: int, total: int) -> None:
        connection.send((done, total))

    with suppress(EOFError, OSError):
        while True:
            work: Work = connection.recv()
            answer: bytes | Failed
            connection.send(Begun())
            try:
                answer = work(progress)
            except Exception as error:
                answer = Failed(in_one_line(error))
            connection.send(answer)


def in_one_line(error: Exception) -> str:
    """Describe an error; with its type unless it is a ValueError, whose line keeps its code."""
    line = changed(line_of(error), lambda text: " ".join(text.split())[:MAX_ERROR])
    return line if isinstance(error, ValueError) else f"{type(error).__name__}: {line}"


def end_with_parent() -> None:
    """Wait until the server has ended, then end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
