"""The time a seat has for its decisions."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from server.loop_clock import Timer, loop_clock, nothing_waits


class DecisionClock:
    """`decision_time` seconds for each decision, then a time bank for the whole game. Halts of the loop are free."""

    def __init__(
        self, decision_time: float, bank: float, on_timeout: Callable[[], object], data_waits: Callable[[], bool]
    ) -> None:
        """`data_waits` says whether the seat's connection has received data that is not parsed yet."""
        self.bank = bank  # seconds left
        self._decision_time = decision_time
        self._on_timeout = on_timeout
        self._data_waits = data_waits
        self._loop_clock = loop_clock()
        self._started_at = 0.0  # by the real clock
        self._charged_from = 0.0  # the same by that of the loop
        self._timer: Timer | None = None  # goes off at the end of the time, or earlier, and then begins again
        self._due: float | None = None  # time of the loop's clock; None: the clock does not run

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._due is not None

    def start(self) -> None:
        """Start the time for one decision; `on_timeout` is called when it and the bank are used up."""
        self._started_at = monotonic()
        self._charged_from = self._loop_clock.at(self._started_at)
        self._due = self._charged_from + self._decision_time + self.bank
        if self._timer is None:
            self._set_timer(self._due)

    def _set_timer(self, due: float) -> None:
        seconds = due - self._loop_clock.time()
        self._timer = self._loop_clock.call_later(seconds, self._timer_over, data_waits=self._data_waits)

    def _timer_over(self) -> None:
        """The timer was set at a decision before, or the time is over."""
        self._timer = None
        if self._due is not None and self._due > self._loop_clock.time():
            self._set_timer(self._due)
        elif self._due is not None:
            self._on_timeout()

    def stop(self) -> tuple[float, float] | None:
        """Stop, and take what exceeds the decision time from the bank.

        Returns the seconds since the start, and the same without halts of the event loop; None if the clock was not
        running.
        """
        if self._due is None:
            return None
        self._due = None
        now = monotonic()
        charged = self._loop_clock.at(now) - self._charged_from
        self.bank = max(0.0, self.bank - max(0.0, charged - self._decision_time))
        return now - self._started_at, charged

    def cancel(self) -> None:
        """Stop for good, and leave the bank as it is."""
        self._due = None
        self._on_timeout = self._data_waits = nothing_waits  # these hold the game, which holds this: a cycle
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
