"""Freed memory is returned to the system every minute: glibc keeps most of what lies between other data."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable

EVERY = 60.0  # seconds


def find_trim() -> Callable[[int], int] | None:
    """The `malloc_trim` of glibc, which takes up to some milliseconds; None for other libraries."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # on Windows, None is no library
        return None
    return trim


async def keep_trimmed(trim: Callable[[int], int] | None, every: float = EVERY) -> None:
    """Return freed memory to the system again and again."""
    while trim is not None:
        await asyncio.sleep(every)
        await asyncio.to_thread(trim, 0)
