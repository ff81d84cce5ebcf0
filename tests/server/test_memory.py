"""Memory that is returned to the system."""

from __future__ import annotations

import asyncio
import ctypes
import platform

import pytest

from server.memory import find_trim, keep_trimmed


async def test_freed_memory_is_returned_again_and_again() -> None:
    trimmed, twice = list[int](), asyncio.Event()

    def trim(pad: int) -> int:
        trimmed.append(pad)
        if len(trimmed) > 1:
            loop.call_soon_threadsafe(twice.set)
        return 1

    loop = asyncio.get_running_loop()
    chore = asyncio.create_task(keep_trimmed(trim, every=0.0))
    async with asyncio.timeout(30):
        await twice.wait()
    chore.cancel()
    assert set(trimmed) == {0}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc returns memory when it is asked to")
def test_glibc_is_asked() -> None:
    trim = find_trim()
    assert trim is not None
    assert trim(0) in (0, 1)


async def test_without_glibc_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert find_trim() is None
    await keep_trimmed(None)
