"""Short work in a thread, on the core of the event loop.

Only one thread at a time runs Python code. Where two that take turns run on different cores, each turn moves the
interpreter's data from the caches of one core to those of the other, which slows both of them down. So games that are
over are stored on the core of the event loop, as is what else is written to SQLite: counts, batches of pruning.
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

if sys.platform == "linux":
    _current_core: Callable[[], int] = ctypes.CDLL(None).sched_getcpu

    async def run_on_core(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` in a thread, as `asyncio.to_thread` does, on the core where the event loop runs now."""
        return await asyncio.to_thread(_call_on, _current_core(), function, *args, **kwargs)

    def _call_on(core: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            cores = os.sched_getaffinity(0)  # of this thread
        except OSError:  # refused to this process
            return function(*args, **kwargs)
        with suppress(OSError, ValueError):  # the core was taken from this process meanwhile, or is unknown (-1)
            os.sched_setaffinity(0, {core})
        try:
            return function(*args, **kwargs)
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, cores)

else:
    run_on_core = asyncio.to_thread  # a thread cannot choose its core
