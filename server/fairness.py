"""Fair sharing of the event loop: externally caused work is done in small pieces, and parties take turns."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from time import monotonic, perf_counter, thread_time
from typing import Any, Generic, TypeVar

TURN = 0.001  # seconds of such work per iteration of the event loop, before everything else runs
T = TypeVar("T")
Work = Callable[[], bool]  # a piece of work; returns whether there is more


class FairQueue:
    """Queues of work, one for each party; the parties take turns (round-robin), a piece of work each.

    A party is a source of work that must not delay the others: the address of a client, or the games without
    connections. However much work a party has, the next piece of another one is done after at most TURN and one piece
    of each party.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """Must be created in the event loop whose time it divides."""
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._queues: dict[str, deque[Work]] = {}  # non-empty queues; the party whose turn it is comes first
        self._end = 0.0  # when the time of this iteration is used up; 0: nothing was done in it
        self._scheduled = False
        self._last: list[Callable[[], None]] = []

    def has_time(self) -> bool:
        """Whether work may be done at once: the first of an iteration, and more while nobody waits and time is left."""
        if not self._scheduled:
            self._schedule()
        if not self._end:
            self._end = self._clock() + TURN
            return True
        return not self._queues and self._clock() < self._end

    def add(self, party: str, work: Work) -> None:
        """Queue work, which is called in the turns of the party, again and again, until it returns False."""
        queue = self._queues.get(party)
        if queue is None:  # else it is scheduled already
            queue = self._queues[party] = deque()
            if not self._scheduled:
                self._schedule()
        queue.append(work)

    def add_last(self, call: Callable[[], None]) -> None:
        """Call back when the work of the current iteration, or else of the next one, is done."""
        self._last.append(call)
        if not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self._scheduled = True
        self._loop.call_soon(self._next_iteration)

    def _next_iteration(self) -> None:
        """Do queued work until the time of the iteration is used up."""
        self._scheduled = False
        self._end = 0.0
        if self._queues:
            self._schedule()
            self._end = self._clock() + TURN
            self._work()
        calls, self._last = self._last, []
        for call in calls:
            try:
                call()
            except Exception as error:  # the others must be called, too
                self._loop.call_exception_handler({"message": "work failed", "exception": error})

    def _work(self) -> None:
        """Do a piece of work of each party in turn until the time of the iteration is used up."""
        while self._queues:
            party, queue = next(iter(self._queues.items()))
            work = queue.popleft()
            try:
                if work():
                    queue.append(work)
            except Exception as error:  # of this party; the others must get their turn
                self._loop.call_exception_handler({"message": "work failed", "exception": error})
            if not queue:
                del self._queues[party]
            elif len(self._queues) > 1:
                self._queues[party] = self._queues.pop(party)
            if self._clock() >= self._end:
                return


class OnePerIteration:
    """Lets one task pass per iteration of the event loop, so that all other tasks run in between."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        """Wait for a turn; it lasts until the next `await`."""
        async with self._lock:
            await asyncio.sleep(0)


class CpuLimiter:
    """Lets one task work per iteration of the event loop, and limits all of them together to a share of the processor.

    Parties take turns, so that no party can use up the share.
    """

    def __init__(
        self,
        share: float,
        burst: float,
        clock: Callable[[], float] = monotonic,
        worked: Callable[[], float] = thread_time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`share`: of a processor, from 0 to 1. `burst`: seconds of work that may be done at once after a pause.

        `worked`: seconds of work done by this thread since an arbitrary point.
        """
        self._share = share
        self._burst = burst
        self._clock = clock
        self._worked = worked
        self._sleep = sleep
        self._lock = FairLock()
        self._owed = 0.0  # seconds of work not yet covered by the share
        self._since = 0.0  # time of this

    @asynccontextmanager
    async def turn(self, party: str) -> AsyncIterator[None]:
        """Wait for a turn of the party, then run the block, which must not wait for anything."""
        async with self._lock.held_by(party):
            await self._sleep(max(0.0, self._still_owed() - self._burst) / self._share)
            started = self._worked()
            try:
                yield
            finally:
                self._owed = self._still_owed() + self._worked() - started

    def _still_owed(self) -> float:
        now = self._clock()
        self._owed = max(0.0, self._owed - (now - self._since) * self._share)
        self._since = now
        return self._owed


class Shared(Generic[T]):
    """A call whose result is shared by everyone who requests it before it begins; one call runs at a time.

    A request made while a call is running waits for it to end, and then for the next call.
    """

    def __init__(self, call: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._call = call
        self._lock = asyncio.Lock()  # held while the call runs
        self._next: asyncio.Task[T] | None = None  # has not begun
        self._waiting: Counter[asyncio.Task[T]] = Counter()

    async def get(self) -> T:
        """Return the result of a call that has not begun yet. Raises what the call raises."""
        task = self._next = self._next or asyncio.create_task(self._run())
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:  # done, or no longer wanted
                del self._waiting[task]
                task.cancel()
                if self._next is task:
                    self._next = None

    async def _run(self) -> T:
        async with self._lock:
            self._next = None
            return await self._call()


class FairLock:
    """A lock for which parties take turns; within a party, it is granted in the order of requests."""

    def __init__(self) -> None:
        self._locked = False
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # never empty ones; the next in turn comes first

    @asynccontextmanager
    async def held_by(self, party: str) -> AsyncIterator[None]:
        """Hold the lock while the block runs."""
        if self._locked:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(party, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # the lock has come, but the task is over
                    self._release()
                raise
        self._locked = True
        try:
            yield
        finally:
            self._release()

    def _release(self) -> None:
        """Hand the lock on."""
        self._locked = False
        while self._waiting and not self._locked:
            party, queue = next(iter(self._waiting.items()))
            turn = queue.popleft()
            del self._waiting[party]
            if queue:
                self._waiting[party] = queue
            if not turn.done():
                self._locked = True
                turn.set_result(None)
