"""The time a seat has for its decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class DecisionClock:
    """`decision_time` seconds for each decision, then a time bank for the whole game."""

    def __init__(self, decision_time: float, bank: float, on_timeout: Callable[[], None]) -> None:
        self.bank = bank  # seconds left
        self._decision_time = decision_time
        self._on_timeout = on_timeout
        self._loop = asyncio.get_running_loop()
        self._started_at = 0.0  # loop time
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._timer is not None

    def start(self) -> None:
        """Start the time for one decision; `on_timeout` is called when it and the bank are used up."""
        self._started_at = self._loop.time()
        self._timer = self._loop.call_at(self._started_at + self._decision_time + self.bank, self._on_timeout)

    def stop(self) -> float | None:
        """Stop, and take what exceeds the decision time from the bank.

        Returns the seconds since the start, None if the clock was not running.
        """
        if self._timer is None:
            return None
        self.cancel()
        elapsed = self._loop.time() - self._started_at
        self.bank = max(0.0, self.bank - max(0.0, elapsed - self._decision_time))
        return elapsed

    def cancel(self) -> None:
        """Stop, and leave the bank as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
