"""What all share is next of use to whoever has used least of late."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from server.used_time import FORGOTTEN, HALF_TIME, LeastUsedFirst, UsedTime


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_half_is_forgotten() -> None:
    clock = Clock()
    used = UsedTime(clock)
    used.add("a", 6.0)
    used.add("b", 1.0)
    clock.now += HALF_TIME
    used.add("a", 1.0)
    assert (used.of("a"), used.of("b"), used.of("c")) == (pytest.approx(4), pytest.approx(0.5), 0)


def test_many_short_uses_add_up() -> None:
    used = UsedTime(Clock())
    for _ in range(4):
        used.add("a", FORGOTTEN / 2)
    assert used.of("a") == pytest.approx(2 * FORGOTTEN)


async def test_the_party_that_has_used_least_is_next() -> None:
    """Whoever has asked first, and however many of the others wait. What passes before it begins is not counted."""
    clock, held = Clock(), list[str]()
    lock = LeastUsedFirst(clock)

    async def hold(party: str, seconds: float) -> None:
        async with lock.held_by(party) as begin:
            held.append(party)
            await asyncio.sleep(0)
            clock.now += 0 if party == "greedy" else 30
            begin()
            clock.now += seconds

    await asyncio.gather(hold("greedy", 10), *[hold("greedy", 10) for _ in range(3)], hold("a", 1), hold("b", 1))
    assert held == ["greedy", "a", "b", "greedy", "greedy", "greedy"]
    await hold("greedy", 0)  # it is free


async def test_who_waits_no_longer_does_not_get_it() -> None:
    lock, held = LeastUsedFirst(Clock()), list[str]()

    async def hold(party: str) -> None:
        async with lock.held_by(party):
            held.append(party)
            await asyncio.sleep(0)

    async with lock.held_by("first"):
        gone, late, last = (asyncio.create_task(hold(party)) for party in ("gone", "late", "last"))
        await asyncio.sleep(0)
        gone.cancel()  # before it is its turn
    late.cancel()  # the lock has come to it, and it is over
    await asyncio.wait_for(last, 10)
    for task in (gone, late):
        with suppress(asyncio.CancelledError):
            await task
    await asyncio.wait_for(hold("again"), 10)
    assert held == ["last", "again"]
