"""Work in a thread on the core of the event loop."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from server import threads
from server.threads import run_on_core

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a thread choose its core")
THREADS = 4  # more than the pool has at first


def failing() -> None:
    raise ValueError("no")


@linux
async def test_the_thread_is_on_one_core_and_free_again_afterwards() -> None:
    cores = os.sched_getaffinity(0)
    on_core = await asyncio.gather(*(run_on_core(os.sched_getaffinity, 0) for _ in range(THREADS)))
    assert all(len(found) == 1 and found <= cores for found in on_core)
    with pytest.raises(ValueError, match="no"):
        await run_on_core(failing)
    afterwards = await asyncio.gather(*(asyncio.to_thread(os.sched_getaffinity, 0) for _ in range(THREADS)))
    assert afterwards == [cores] * THREADS
    assert os.sched_getaffinity(0) == cores


@linux
async def test_the_core_is_that_of_the_event_loop() -> None:
    cores = os.sched_getaffinity(0)
    try:
        for core in sorted(cores):
            os.sched_setaffinity(0, {core})
            assert await run_on_core(os.sched_getaffinity, 0) == {core}
    finally:
        os.sched_setaffinity(0, cores)


@linux
async def test_work_is_done_where_the_core_may_no_longer_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, cores: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(threads, "_current_core", lambda: -1)
    assert await run_on_core(sum, (1, 2)) == 3
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert await run_on_core(sum, (1, 2)) == 3


@linux
async def test_work_is_done_where_cores_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_getaffinity", refuse)
    assert await run_on_core(sum, (1, 2)) == 3
