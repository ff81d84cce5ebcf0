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
# After its time a timer waits for LAST_LOOKS further timers of the loop, as the loop polls its sockets before each of
# them; then for as long as what was read is not parsed, but for no more than MAX_LOOKS.
LOOK_AFTER = 0.003  # seconds
LAST_LOOKS, MAX_LOOKS = 3, 300


def ignore_lag(seconds: float) -> None:
    """Observes nothing."""


def nothing_waits() -> bool:
    """For timers that wait for no data."""
    return False


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

    def call_later(
        self,
        seconds: float,
        callback: Callable[..., object],
        *args: Any,
        data_waits: Callable[[], bool] = nothing_waits,
    ) -> Timer:
        """Call back after `seconds` of this clock and a last look at the sockets (0.01 s).

        `data_waits` says whether something that was read is still to be parsed; for that the timer waits a second more.
        """
        return Timer(self, seconds, partial(callback, *args), data_waits)


class Timer:
    """A call to be made later."""

    def __init__(
        self, clock: LoopClock, seconds: float, callback: Callable[[], object], data_waits: Callable[[], bool]
    ) -> None:
        """See `LoopClock.call_later`."""
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
        """Do not call, and hold nothing: who is called often holds the timer, too."""
        self._handle.cancel()
        self._callback = self._data_waits = nothing_waits


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClock] = WeakKeyDictionary()


def loop_clock() -> LoopClock:
    """The clock of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clocks:
        _clocks[loop] = LoopClock()
    return _clocks[loop]
