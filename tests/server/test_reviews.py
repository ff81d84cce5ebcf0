"""Reviews that wait, are done, and are kept for a while."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import pytest

from server import reviews as reviews_module
from server.access import RateLimitError
from server.reviews import KEPT_PER_ADDRESS, MAX_WAITING, Review, Reviews
from tests.support import worker_tasks

SOON = 60.0  # seconds


async def no_game(game_id: str) -> bytes | None:
    return None


@pytest.fixture
async def reviews() -> AsyncIterator[Reviews]:
    """Reviews of records that are sent; no game is stored."""
    made = Reviews(no_game)
    yield made
    await made.close()


async def until_over(*wanted: Review) -> None:
    async with asyncio.timeout(SOON):
        while not all(each.over for each in wanted):
            await asyncio.sleep(0.01)


async def test_the_queue_is_short_and_each_address_has_its_share(reviews: Reviews, waiting: Path) -> None:
    added = [reviews.add("10.0.0.1", ("rule",), 0, record=b"x") for _ in range(2)]
    with pytest.raises(RateLimitError, match=r"2 reviews for 10\.0\.0\.1"):
        reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
    added += [reviews.add(f"10.0.1.{number}", ("rule",), 0, record=b"x") for number in range(MAX_WAITING - 2)]
    added.append(reviews.add("10.0.1.99", ("rule",), 0, record=b"x"))
    dropped = added.pop(1)
    assert dropped.status == "failed", "the second of one address makes room for the first of another"
    assert "made room" in dropped.error
    with pytest.raises(RateLimitError, match="wait already"):
        reviews.add("10.0.2.1", ("rule",), 0, record=b"x")
    waiting.touch()
    await until_over(*added)
    assert {each.status for each in added} == {"done"}
    assert {each.record for each in added} == {b""}
    reviews.add("10.0.0.1", ("rule",), 0, record=b"x")


async def test_addresses_take_turns_by_the_work_they_have_used(
    reviews: Reviews, waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five addresses that ask for what takes long do not keep another one out, nor does it wait for them."""
    now = monotonic()
    monkeypatch.setattr(reviews_module, "monotonic", lambda: now)
    greedy = [reviews.add(f"10.0.0.{number % 5}", ("rule",), 0, record=b"x") for number in range(8)]
    await asyncio.sleep(0)  # the first is begun
    for address in range(5):
        reviews._used[f"10.0.0.{address}"] = 60.0, now
    honest = reviews.add("10.0.1.1", ("rule",), 0, record=b"x")
    with pytest.raises(RateLimitError, match="wait already"):
        reviews.add("10.0.0.3", ("rule",), 0, record=b"x")
    second = reviews.add("10.0.2.1", ("rule",), 0, record=b"x")
    order: list[Review] = []
    do = reviews._do

    async def noted(wanted: Review) -> None:
        order.append(wanted)
        await do(wanted)

    monkeypatch.setattr(reviews, "_do", noted)
    waiting.touch()
    await until_over(honest, second, *greedy)
    assert order[:2] == [honest, second]
    assert [each.status for each in greedy].count("failed") == 1
    now += reviews_module.HALF_TIME
    assert reviews._used_by("10.0.0.0") == pytest.approx(30, abs=0.1), "half is forgotten"


async def test_a_review_that_nobody_asks_about_is_not_done(reviews: Reviews, waiting: Path) -> None:
    first, second, third = (reviews.add(f"10.0.0.{number}", ("rule",), 0, record=b"x") for number in range(3))
    second.asked -= 1000
    waiting.touch()
    await until_over(first, third)
    assert reviews.find(second.id) is None
    assert reviews.find(third.id) is third


async def test_results_are_kept_within_limits(reviews: Reviews, waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews_module, "KEPT_BYTES", 40)
    monkeypatch.setattr(reviews_module, "KEPT_TIME", 1000)
    waiting.touch()
    done = []
    for number in range(KEPT_PER_ADDRESS + 3):
        done.append(reviews.add("10.0.0.1" if number > 1 else "10.0.0.2", ("rule",), 0, record=b"x"))
        await until_over(done[-1])
    kept = [each for each in done if reviews.find(each.id)]
    assert kept == [*done[:2], *done[-8:]]  # of four bytes each; an address makes room with its own ones first
    monkeypatch.setattr(reviews_module, "KEPT_BYTES", 1000)
    for _ in range(KEPT_PER_ADDRESS + 3):
        done.append(reviews.add("10.0.0.1", ("rule",), 0, record=b"x"))
        await until_over(done[-1])
    assert [each for each in done if reviews.find(each.id)] == [*done[:2], *done[-KEPT_PER_ADDRESS:]]


@pytest.mark.slow
async def test_a_review_that_made_room_is_freed(
    reviews: Reviews, waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews_module, "KEPT_BYTES", 4)
    waiting.touch()
    first = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
    await until_over(first)
    held = weakref.ref(first)
    del first
    await until_over(reviews.add("10.0.0.1", ("rule",), 0, record=b"x"))
    gc.collect()
    assert held() is None


async def test_a_result_expires(reviews: Reviews, waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews_module, "KEPT_TIME", 0.05)
    waiting.touch()
    added = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
    await until_over(added)
    async with asyncio.timeout(SOON):
        while reviews.find(added.id) is not None:
            await asyncio.sleep(0.01)


async def test_a_failed_review_says_why(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = reviews.add("10.0.0.1", ("rule",), 0, game="gone")
    await until_over(missing)
    assert missing.error == "the review has failed: the game is not stored any more"
    assert reviews.add("10.0.0.1", ("rule",), 0, game="gone") is not missing
    monkeypatch.setattr(reviews_module, "partial", lambda _, **__: worker_tasks.crash)
    crashed = reviews.add("10.0.0.2", ("rule",), 0, record=b"x")
    await until_over(crashed)
    assert crashed.error == "the review has failed: the worker process has ended unexpectedly; try again"
    monkeypatch.setattr(reviews_module, "partial", lambda _, **__: worker_tasks.sleep)
    monkeypatch.setattr(reviews_module, "TIMEOUT", 0.1)
    slow = reviews.add("10.0.0.3", ("rule",), 0, record=b"x")
    await until_over(slow)
    assert slow.error == "the review has failed: it took longer than 0.1 s"
