"""Worker processes of the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from server import worker as worker_module
from server.worker import MAX_MEMORY, NICENESS, TaskStoppedError, Worker, WorkerError, WorkerUnavailableError
from tests.support import worker_tasks

SOON = 30.0  # seconds


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    """A worker, closed after the test."""
    started = Worker()
    yield started
    await started.close()


async def pid_of(worker: Worker) -> int:
    return int(json.loads(await worker.run(worker_tasks.about, SOON))["pid"])


def runs(pid: int) -> bool:
    """Whether there is a process with that id."""
    return Path(f"/proc/{pid}").exists()


async def test_tasks_are_done_in_one_process_of_low_priority(worker: Worker) -> None:
    first, second = [json.loads(await worker.run(worker_tasks.about, SOON)) for _ in range(2)]
    assert first == second
    assert first["pid"] != os.getpid()
    assert (first["nice"], first["memory"]) == (NICENESS, MAX_MEMORY)


async def test_progress_is_told(worker: Worker) -> None:
    told: list[tuple[int, int] | str] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    result = await worker.run(partial(worker_tasks.count, to=3), SOON, progress, lambda: told.append("begun"))
    assert (result, told) == (b"done", ["begun", (1, 3), (2, 3), (3, 3)])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no\n such file"), "no such file"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError("x" * 999), "x" * 500),
    ],
)
async def test_an_error_is_told_in_one_line(worker: Worker, error: Exception, told: str) -> None:
    pid = await pid_of(worker)
    with pytest.raises(WorkerError) as failed:
        await worker.run(partial(worker_tasks.fail, error=error), SOON)
    assert str(failed.value) == told
    assert await pid_of(worker) == pid


async def test_a_task_that_needs_too_much_memory_fails(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="MemoryError"):
        await worker.run(worker_tasks.need_memory, SOON)


async def test_a_crash_fails_one_task(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="ended unexpectedly"):
        await worker.run(worker_tasks.crash, SOON)
    assert await worker.run(partial(worker_tasks.count, to=1), SOON) == b"done"


async def test_a_task_that_takes_too_long_is_ended(worker: Worker) -> None:
    pid = await pid_of(worker)
    with pytest.raises(WorkerError, match=r"longer than 0\.1 s"):
        await worker.run(worker_tasks.sleep, 0.1)
    assert not runs(pid)
    assert await worker.run(partial(worker_tasks.count, to=1), SOON) == b"done"


async def test_a_task_that_is_stopped_tells_what_the_next_start_costs(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tasks have waited for that process; not for an earlier one, and not for one that has crashed."""
    passed, start = 0.0, Worker._start

    def start_slowly(worker: Worker) -> None:
        nonlocal passed
        passed += 50
        start(worker)

    monkeypatch.setattr(Worker, "_start", start_slowly)
    monkeypatch.setattr(worker_module, "monotonic", lambda: monotonic() + passed)
    with pytest.raises(WorkerUnavailableError) as crashed:
        await worker.run(worker_tasks.crash, SOON)
    assert not isinstance(crashed.value, TaskStoppedError)
    for _ in range(2):
        await worker.run(partial(worker_tasks.count, to=1), SOON)
        with pytest.raises(TaskStoppedError) as stopped:
            await worker.run(worker_tasks.sleep, 0.1)
        assert 50 < stopped.value.restart < 100


@pytest.mark.slow
async def test_an_idle_process_ends() -> None:
    worker = Worker(idle_time=0.05)
    try:
        pid = await pid_of(worker)
        async with asyncio.timeout(SOON):
            while runs(pid):
                await asyncio.sleep(0.01)
        assert await pid_of(worker) != pid
    finally:
        await worker.close()


async def test_closing_ends_what_is_done_and_refuses_what_waits(worker: Worker) -> None:
    pid = await pid_of(worker)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    tasks = [
        asyncio.create_task(
            worker.run(
                partial(worker_tasks.wait_for, file=Path("/nowhere")),
                SOON,
                lambda done, total: loop.call_soon_threadsafe(begun.set) and None,
            )
        )
        for _ in range(2)
    ]
    await begun.wait()
    await worker.close()
    assert not runs(pid)
    for error in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(error, WorkerError)
    with pytest.raises((WorkerError, RuntimeError)):
        await worker.run(worker_tasks.about, SOON)


async def test_closing_ends_a_process_that_just_starts(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    starting, closing = threading.Event(), threading.Event()
    set_mask = signal.pthread_sigmask

    def slowly(how: int, mask: set[int]) -> set[int]:
        if how == signal.SIG_SETMASK:  # the process runs, and the worker does not know it yet
            starting.set()
            closing.wait(SOON)
        return set_mask(how, mask)

    monkeypatch.setattr(signal, "pthread_sigmask", slowly)
    running = asyncio.create_task(worker.run(worker_tasks.sleep, 2 * SOON))
    await asyncio.to_thread(starting.wait)
    asyncio.get_running_loop().call_soon(closing.set)
    async with asyncio.timeout(SOON):
        await worker.close()
    with pytest.raises(WorkerError, match="ended unexpectedly"):
        await running


async def test_a_worker_without_tasks_has_no_process() -> None:
    unused = Worker()
    await unused.close()
