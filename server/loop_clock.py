"""The clock of an event loop: it measures how late the loop is, and halts when the loop halts.

A loop halts while one callback runs for long, or while the whole process waits: collected garbage, a swapped page, a
stopped or starved process. Whoever has to answer in time cannot be blamed for that, for an answer that came meanwhile
is still in its socket. So the timers that punish a peer run on this clock, of which a halt takes little, and look at
the sockets once more before they are over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

TICK = 0.025  # seconds
MAX_STEP = 0.1  # seconds that the clock advances from one tick to the next, however late that is
# After its time a timer waits for this many further timers of the loop. Before each of them the loop polls its sockets,
# and what it has read may pass through a task or two before it is seen as an answer.
LAST_TURNS = 3
TURN = 0.01  # seconds


def ignore_lag(seconds: float) -> None:
    """Observes nothing."""


class LoopClock:
    """See the module. There is one for each event loop, which `loop_clock` returns."""

    def __init__(self) -> None:
        """Tick from now on."""
        self.on_lag: Callable[[float], None] = ignore_lag  # called at each tick with the seconds that it is late
        self._halted = 0.0  # seconds in which the clock stood still
        self._ticked_at = monotonic()
        asyncio.get_running_loop().call_later(TICK, self._tick)

    def time(self) -> float:
        """Seconds since any moment, less the halts."""
        now = monotonic()
        return now - self._halted - max(0.0, now - self._ticked_at - MAX_STEP)

    def _tick(self) -> None:
        now = monotonic()
        step = now - self._ticked_at
        self._halted += max(0.0, step - MAX_STEP)
        self._ticked_at = now
        asyncio.get_running_loop().call_later(TICK, self._tick)
        self.on_lag(max(0.0, step - TICK))

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call back after `seconds` of this clock and a few turns of the loop (0.03 s)."""
        return Timer(self, seconds, partial(callback, *args))

    def advance(self, seconds: float) -> None:
        """Set the clock forward, as tests do that have advanced the time of the event loop."""
        self._halted -= seconds


class Timer:
    """A call to be made later."""

    def __init__(self, clock: LoopClock, seconds: float, callback: Callable[[], object]) -> None:
        """See `LoopClock.call_later`."""
        self._clock = clock
        self._callback = callback
        self._due = clock.time() + seconds
        self._turns = LAST_TURNS
        self._handle = asyncio.get_running_loop().call_later(seconds, self._fire)

    def _fire(self) -> None:
        left = self._due - self._clock.time()
        if left <= 0 and self._turns == 0:
            self._callback()
            return
        if left <= 0:
            self._turns -= 1
        self._handle = asyncio.get_running_loop().call_later(max(left, TURN), self._fire)

    def cancel(self) -> None:
        """Do not call."""
        self._handle.cancel()


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClock] = WeakKeyDictionary()


def loop_clock() -> LoopClock:
    """The clock of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clocks:
        _clocks[loop] = LoopClock()
    return _clocks[loop]
