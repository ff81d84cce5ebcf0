"""Accounting of the time for which parties use a shared resource, which goes next to the one that has used it least."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

FORGOTTEN = 0.1  # seconds below which a party is dropped
HALF_TIME = 120.0  # seconds: the half-life of used time


class UsedTime:
    """The recent use of each party in seconds, with exponential decay."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}  # by party: seconds, and when they were updated

    def of(self, party: str) -> float:
        """Return the seconds that a party has used recently."""
        seconds, when = self._used.get(party, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - when) / HALF_TIME)

    def add(self, party: str, seconds: float) -> None:
        """Add to the time that a party has used."""
        total = self.of(party) + seconds  # little by little it adds up
        self._used = {each: used for each, used in self._used.items() if self.of(each) > FORGOTTEN}
        self._used[party] = total, self._clock()


class LeastUsedFirst:
    """A lock that goes to the waiting party that has used what it guards for the least time recently."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._used = UsedTime(clock)
        self._locked = False
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in order of arrival

    @asynccontextmanager
    async def held_by(self, party: str) -> AsyncIterator[Callable[[], None]]:
        """Hold the lock while the block runs, which calls what it is given when the time that is counted begins."""
        if self._locked:
            await self._turn_of(party)
        self._locked = True
        began: float | None = None

        def begin() -> None:
            nonlocal began
            began = self._clock()

        try:
            yield begin
        finally:
            if began is not None:
                self._used.add(party, self._clock() - began)
            self._release()

    def charge(self, party: str, seconds: float) -> None:
        """Count time that a party has used besides, such as what others need because of it."""
        self._used.add(party, seconds)

    async def _turn_of(self, party: str) -> None:
        waiting = party, asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting[1]
        except asyncio.CancelledError:
            if not waiting[1].cancelled():  # the lock has come, but the task is over
                self._release()
            raise

    def _release(self) -> None:
        """Pass the lock on; it stays locked if somebody waits."""
        self._waiting = [waiting for waiting in self._waiting if not waiting[1].done()]
        if not self._waiting:
            self._locked = False
            return
        first = min(self._waiting, key=lambda waiting: self._used.of(waiting[0]))
        self._waiting.remove(first)
        first[1].set_result(None)
