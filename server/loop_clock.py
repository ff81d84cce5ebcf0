"""A clock for an event loop, which measures the lag of the loop and stops while the loop is blocked.

A loop halts while a long callback runs or the whole process waits: garbage collection, a page fault, a stopped or
starved process. A peer that has to answer in time must not be penalised for that, as its answer may already be waiting
in the socket. So timers that penalise a peer run on this clock, which advances little during a halt, and poll the
sockets once more before they fire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

TICK = 0.025  # seconds
MAX_STEP = 0.1  # maximum seconds that the clock advances between two ticks, however late the second is
# After its time, a timer waits for LAST_LOOKS further timers of the loop, as the loop polls its sockets before each of
# them; then until all data read is parsed, but for at most MAX_LOOKS timers in total.
LOOK_AFTER = 0.003  # seconds
LAST_LOOKS, MAX_LOOKS = 3, 300


def ignore_lag(seconds: float) -> None:
    """Ignore the lag."""


def nothing_waits() -> bool:
    """Return False, for timers that do not wait for data."""
    return False


class LoopClock:
    """The clock described in the module docstring; `loop_clock` returns the one of an event loop."""

    def __init__(self) -> None:
        """Start ticking."""
        self.on_lag: Callable[[float], None] = ignore_lag  # called at each tick with its lag in seconds
        self._halted = 0.0  # seconds for which the clock was stopped
        self._ticked_at = monotonic()
        asyncio.get_running_loop().call_later(TICK, self._tick)

    def time(self) -> float:
        """Return the seconds since an arbitrary point, minus halts."""
        return self.at(monotonic())

    def at(self, now: float) -> float:
        """Return the time of this clock at the present time `now` of `time.monotonic`."""
        halt = now - self._ticked_at - MAX_STEP
        return now - self._halted - halt if halt > 0.0 else now - self._halted

    def _tick(self) -> None:
        now = monotonic()
        step = now - self._ticked_at
        self._halted += max(0.0, step - MAX_STEP)
        self._ticked_at = now
        asyncio.get_running_loop().call_later(TICK, self._tick)
        self.on_lag(max(0.0, step - TICK))

    def call_later(
        self,
        seconds: float,
        callback: Callable[..., object],
        *args: Any,
        data_waits: Callable[[], bool] = nothing_waits,
    ) -> Timer:
        """Call back after `seconds` of this clock and a last look at the sockets (0.01 s).

        `data_waits` returns whether received data is still to be parsed; if so, the timer waits up to a second more.
        """
        return Timer(self, seconds, partial(callback, *args), data_waits)


class Timer:
    """A scheduled call."""

    def __init__(
        self, clock: LoopClock, seconds: float, callback: Callable[[], object], data_waits: Callable[[], bool]
    ) -> None:
        """Start a timer, with the arguments of `LoopClock.call_later`."""
        self._handle: asyncio.TimerHandle
        self._clock = clock
        self._callback = callback
        self._data_waits = data_waits
        self._due = clock.time() + seconds
        self._looks = 0
        self._call_later(seconds)

    def _fire(self) -> None:
        left = self._due - self._clock.time()
        if left > 0:
            self._call_later(left)
        elif self._looks < LAST_LOOKS or (self._looks < MAX_LOOKS and self._data_waits()):
            self._looks += 1
            self._call_later(LOOK_AFTER)
        else:
            callback = self._callback
            self.cancel()
            callback()

    def _call_later(self, seconds: float) -> None:
        self._handle = asyncio.get_running_loop().call_later(seconds, self._fire)

    def cancel(self) -> None:
        """Cancel the call, and drop the references, as the callee often refers to the timer."""
        self._handle.cancel()
        self._callback = self._data_waits = nothing_waits


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClock] = WeakKeyDictionary()


def loop_clock() -> LoopClock:
    """The clock of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clocks:
        _clocks[loop] = LoopClock()
    return _clocks[loop]
