"""Work of several parties in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import pytest

from server import fairness
from server.fairness import CpuLimiter, FairLock, FairQueue, Shared


def work(log: list[str], name: str, pieces: int) -> Callable[[], bool]:
    """Work in pieces, each of which is logged."""
    left = pieces

    def piece() -> bool:
        nonlocal left
        left -= 1
        log.append(name)
        return left > 0

    return piece


async def all_done(shared: FairQueue) -> None:
    """Wait until no work is left."""
    while shared._queues:
        await asyncio.sleep(0)


async def test_parties_take_turns_whatever_they_have_queued() -> None:
    shared, log = FairQueue(), list[str]()
    for _ in range(3):
        shared.add("a", work(log, "a", 2))
    shared.add("b", work(log, "b", 2))
    shared.add("c", work(log, "c", 1))
    await all_done(shared)
    assert "".join(log) == "abcabaaaa"


async def test_work_of_one_party_takes_turns_too() -> None:
    shared, log = FairQueue(), list[str]()
    shared.add("a", work(log, "x", 3))
    shared.add("a", work(log, "y", 3))
    await all_done(shared)
    assert "".join(log) == "xyxyxy"


async def test_an_iteration_of_the_loop_ends_when_its_time_is_up() -> None:
    now = 0.0
    shared = FairQueue(lambda: now)
    done: list[int] = []

    def slow() -> bool:
        nonlocal now
        now += 0.6 * fairness.TURN
        done.append(0)
        return len(done) < 6

    shared.add("a", slow)
    seen = []
    for _ in range(4):
        await asyncio.sleep(0)
        seen.append(len(done))
    assert seen == [2, 4, 6, 6]


async def test_time_is_left_until_it_is_used_up_or_somebody_waits() -> None:
    now = 1.0
    shared = FairQueue(lambda: now)
    assert shared.has_time()
    now += 0.5 * fairness.TURN
    assert shared.has_time()
    now += 0.6 * fairness.TURN
    assert not shared.has_time()
    await asyncio.sleep(0)
    assert shared.has_time(), "in the next iteration"
    shared.add("a", lambda: False)
    assert not shared.has_time()
    await asyncio.sleep(0.01)
    assert shared.has_time()


async def test_work_that_raises_is_reported_and_stops_nobody_else() -> None:
    shared, log, reported = FairQueue(), list[str](), list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))

    def broken() -> bool:
        raise ValueError("oops")

    shared.add("a", broken)
    shared.add("a", work(log, "a", 1))
    shared.add("b", work(log, "b", 2))
    await all_done(shared)
    assert sorted(log) == ["a", "b", "b"]
    assert [str(error) for error in reported] == ["oops"]


async def test_work_may_queue_more_work() -> None:
    shared, log = FairQueue(), list[str]()

    def first() -> bool:
        shared.add("a", work(log, "second", 1))
        log.append("first")
        return False

    shared.add("a", first)
    await all_done(shared)
    assert log == ["first", "second"]


async def test_a_party_is_delayed_by_one_piece_of_each_other_party_only() -> None:
    """Another party has a hundred works, each piece of which takes all the time of an iteration."""
    shared, pieces, delays = FairQueue(), 0, list[int]()

    def whole_turn() -> bool:
        nonlocal pieces
        pieces += 1
        end = perf_counter() + fairness.TURN
        while perf_counter() < end:
            pass
        return len(delays) < 10

    for _ in range(100):
        shared.add("greedy", whole_turn)
    done = asyncio.Event()

    def honest(before: int) -> bool:
        delays.append(pieces - before)
        done.set()
        return False

    for _ in range(10):
        done.clear()
        shared.add("honest", partial(honest, pieces))
        await done.wait()
    assert max(delays) <= 1


async def test_a_fair_lock_goes_to_the_parties_in_turn() -> None:
    lock, log = FairLock(), list[str]()

    async def use(party: str, name: str) -> None:
        async with lock.held_by(party):
            log.append(name)
            await asyncio.sleep(0)

    users = [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2"), ("c", "c1")]
    await asyncio.gather(*(use(*user) for user in users))
    assert log == ["a1", "a2", "b1", "c1", "a3", "b2"]


async def test_who_is_cancelled_while_waiting_or_when_the_lock_comes_hands_it_on() -> None:
    lock, log = FairLock(), list[str]()

    async def use(name: str) -> None:
        async with lock.held_by(name):
            log.append(name)

    async with lock.held_by("first"):
        users = [asyncio.create_task(use(name)) for name in "abcd"]
        await asyncio.sleep(0)
        users[0].cancel()
        await asyncio.sleep(0)
    users[1].cancel()  # the lock was handed to it, and it has not run since
    await asyncio.gather(*users, return_exceptions=True)
    assert log == ["c", "d"]
    async with lock.held_by("last"):
        pass


async def test_a_fair_lock_is_free_again_after_an_error() -> None:
    lock = FairLock()
    for _ in range(2):
        with pytest.raises(ValueError, match="oops"):
            async with lock.held_by("a"):
                raise ValueError("oops")


# Rations --------------------------------------------------------------------------------------------------------------


class Clocks:
    """The clocks of a `CpuLimiter`: they advance only when told to."""

    def __init__(self) -> None:
        self.now = self.worked = 0.0

    def cpu_limiter(self, share: float, burst: float) -> CpuLimiter:
        """A cpu_limiter by these clocks."""
        return CpuLimiter(share, burst, lambda: self.now, lambda: self.worked, self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds

    def work(self, seconds: float) -> None:
        """Something is done."""
        self.now += seconds
        self.worked += seconds


async def test_a_ration_is_a_share_of_the_time() -> None:
    clocks = Clocks()
    cpu_limiter = clocks.cpu_limiter(0.03, 0.05)
    for _ in range(1000):
        async with cpu_limiter.turn("a"):
            clocks.work(0.001)
    assert clocks.worked == pytest.approx(1.0)
    assert 0.03 * clocks.now == pytest.approx(1.0 - 0.05, abs=0.002)


async def test_what_a_ration_saves_up_may_be_done_at_once_and_no_more() -> None:
    clocks = Clocks()
    cpu_limiter = clocks.cpu_limiter(0.1, 0.05)
    for _ in range(2):
        began = clocks.now
        for _ in range(5):
            async with cpu_limiter.turn("a"):
                clocks.work(0.01)
        assert clocks.now - began == pytest.approx(0.05)
        await clocks.sleep(3600)
    async with cpu_limiter.turn("a"):
        clocks.work(1.0)
    began = clocks.now
    async with cpu_limiter.turn("a"):
        assert clocks.now - began == pytest.approx((1.0 - 0.05) / 0.1)


async def test_turns_of_a_ration_are_given_in_order_and_others_run_in_between() -> None:
    cpu_limiter, log = CpuLimiter(1.0, 1.0), list[str]()

    async def take(name: str) -> None:
        async with cpu_limiter.turn("a"):
            log.append(name)
            asyncio.get_running_loop().call_soon(log.append, "between")

    await asyncio.gather(*map(take, "abc"))
    assert log[:5] == ["a", "between", "b", "between", "c"]


async def test_a_party_with_many_tasks_has_no_more_of_a_ration_than_another() -> None:
    cpu_limiter, log = CpuLimiter(1.0, 1.0), list[str]()

    async def take(party: str) -> None:
        async with cpu_limiter.turn(party):
            log.append(party)

    await asyncio.gather(*map(take, "aaaaaabb"))
    assert "".join(log) == "aababaaa"


async def test_who_asks_before_a_call_begins_shares_its_result() -> None:
    calls, gate = 0, asyncio.Event()

    async def call() -> int:
        nonlocal calls
        calls += 1
        number = calls
        await gate.wait()
        return number

    shared = Shared(call)
    first = [asyncio.create_task(shared.get()) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = [asyncio.create_task(shared.get()) for _ in range(3)]  # the first call may have read what has changed since
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*first) == [1, 1, 1]
    assert await asyncio.gather(*later) == [2, 2, 2]
    assert await shared.get() == 3


async def test_a_shared_call_that_nobody_waits_for_any_more_ends() -> None:
    ended = asyncio.Event()

    async def call() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    shared = Shared(call)
    asks = [asyncio.create_task(shared.get()) for _ in range(2)]
    await asyncio.sleep(0.01)
    asks[0].cancel()
    await asyncio.sleep(0.01)
    assert not ended.is_set()
    asks[1].cancel()
    await asyncio.wait_for(ended.wait(), 60)


async def test_an_error_of_a_shared_call_reaches_all_and_the_next_call_is_made_anew() -> None:
    answers: list[Exception | int] = [ValueError("broken"), 2]

    async def call() -> int:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    shared = Shared(call)
    found = await asyncio.gather(shared.get(), shared.get(), return_exceptions=True)
    assert [str(error) for error in found] == ["broken", "broken"]
    assert await shared.get() == 2


async def test_last_calls_come_after_the_work_and_one_that_fails_stops_no_other() -> None:
    shared, log, failed = FairQueue(), list[str](), list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: failed.append(context["exception"]))

    def fail() -> None:
        raise ValueError

    shared.add_last(fail)
    shared.add_last(lambda: log.append("last"))
    shared.add("a", work(log, "a", 1))
    await asyncio.sleep(0.01)
    assert log == ["a", "last"]
    assert [type(error) for error in failed] == [ValueError]
    shared.add_last(lambda: log.append("alone"))
    await asyncio.sleep(0.01)
    assert log == ["a", "last", "alone"]
