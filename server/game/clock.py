"""The time a seat has for its decisions."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from server.loop_clock import Timer, loop_clock


class Elapsed(NamedTuple):
    """Seconds that a decision took."""

    real: float
    charged: float  # without halts of the event loop


class DecisionClock:
    """`decision_time` seconds for each decision, then a time bank for the whole game. Halts of the loop are free."""

    def __init__(
        self, decision_time: float, bank: float, on_timeout: Callable[[], None], data_waits: Callable[[], bool]
    ) -> None:
        """`data_waits` says whether the seat's connection has received data that is not parsed yet."""
        self.bank = bank  # seconds left
        self._decision_time = decision_time
        self._on_timeout = on_timeout
        self._data_waits = data_waits
        self._loop_clock = loop_clock()
        self._started_at = Elapsed(0.0, 0.0)  # by the real clock, and that of the loop
        self._timer: Timer | None = None

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._timer is not None

    def start(self) -> None:
        """Start the time for one decision; `on_timeout` is called when it and the bank are used up."""
        self._started_at = self._now()
        seconds = self._decision_time + self.bank
        self._timer = self._loop_clock.call_later(seconds, self._on_timeout, data_waits=self._data_waits)

    def _now(self) -> Elapsed:
        return Elapsed(monotonic(), self._loop_clock.time())

    def stop(self) -> Elapsed | None:
        """Stop, and take what exceeds the decision time from the bank.

        Returns the time since the start, None if the clock was not running.
        """
        if self._timer is None:
            return None
        self.cancel()
        now, then = self._now(), self._started_at
        elapsed = Elapsed(now.real - then.real, now.charged - then.charged)
        self.bank = max(0.0, self.bank - max(0.0, elapsed.charged - self._decision_time))
        return elapsed

    def cancel(self) -> None:
        """Stop, and leave the bank as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
