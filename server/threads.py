"""Short work in a thread, on the core of the event loop.

Only one thread at a time runs Python code. Where two that take turns run on different cores, each turn moves the
interpreter's data from the caches of one core to those of the other, which costs the event loop more than the work
itself. So games that are over are stored on the core of the event loop.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_on_core(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a thread on the core where the event loop runs now, as `asyncio.to_thread` does on any."""
    return await asyncio.to_thread(_call_on, _current_core(), function, *args, **kwargs)


if sys.platform == "linux":
    _current_core: Callable[[], int] = ctypes.CDLL(None).sched_getcpu

    def _call_on(core: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        cores = os.sched_getaffinity(0)  # of this thread
        with suppress(OSError):  # the core was taken from this process meanwhile
            os.sched_setaffinity(0, {core})
        try:
            return function(*args, **kwargs)
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, cores)

else:  # a thread cannot choose its core

    def _current_core() -> int:
        return 0

    def _call_on(core: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)
