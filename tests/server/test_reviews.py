"""Reviews that wait, are done, and are kept for a while."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from server.access import RateLimitError
from server.limits import Limits
from server.reviews import KEPT_PER_ADDRESS, MAX_BYTES, MAX_WAITING, DoReview, ReadRecord, Review, Reviews
from server.used_time import HALF_TIME
from server.worker import Worker
from tests.support import worker_tasks

SOON = 60.0  # seconds


async def no_game(game_id: str) -> bytes | None:
    return None


@asynccontextmanager
async def opened(do_review: DoReview, read_record: ReadRecord = no_game, **limits: Any) -> AsyncIterator[Reviews]:
    """Reviews, closed after the block."""
    made = Reviews(read_record, Limits(**limits), do_review)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """A file, not there yet."""
    return tmp_path / "go"


@pytest.fixture
def once_it_is_there(go: Path) -> DoReview:
    """Does reviews once `go` exists."""
    return partial(worker_tasks.wait_for, file=go)


@pytest.fixture
async def reviews(once_it_is_there: DoReview) -> AsyncIterator[Reviews]:
    """Reviews of records that are sent, done once `go` exists."""
    async with opened(once_it_is_there) as made:
        yield made


async def until_over(*wanted: Review) -> None:
    async with asyncio.timeout(SOON):
        while not all(each.over for each in wanted):
            await asyncio.sleep(0.01)


async def test_the_queue_is_short_and_each_address_has_its_share(reviews: Reviews, go: Path) -> None:
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
    go.touch()
    await until_over(*added)
    assert {each.status for each in added} == {"done"}
    assert {each.record for each in added} == {b""}
    reviews.add("10.0.0.1", ("rule",), 0, record=b"x")


async def test_addresses_take_turns_by_the_work_they_have_used(go: Path, once_it_is_there: DoReview) -> None:
    """Five addresses that ask for what takes long do not keep another one out, nor does it wait for them."""
    now, begun = 1000.0, list[str]()

    async def noted(game: str) -> bytes:
        begun.append(game)
        return b"x"

    async with opened(once_it_is_there, noted, clock=lambda: now) as reviews:
        greedy = [reviews.add(f"10.0.0.{number % 5}", ("rule",), 0, f"greedy {number}") for number in range(8)]
        await asyncio.sleep(0)  # the first is begun
        for address in range(5):
            reviews.used.add(f"10.0.0.{address}", 60.0)
        honest = reviews.add("10.0.1.1", ("rule",), 0, "honest")
        with pytest.raises(RateLimitError, match="wait already"):
            reviews.add("10.0.0.3", ("rule",), 0, record=b"x")
        second = reviews.add("10.0.2.1", ("rule",), 0, "second")
        go.touch()
        await until_over(honest, second, *greedy)
        assert begun[1:3] == ["honest", "second"]
        assert [each.status for each in greedy].count("failed") == 1
        now += HALF_TIME
        assert reviews.used.of("10.0.0.0") == pytest.approx(30, abs=0.1), "half is forgotten"


async def test_the_start_of_the_process_is_nobodys_work(
    go: Path, once_it_is_there: DoReview, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, start = 1000.0, Worker._start

    def start_slowly(worker: Worker) -> None:
        nonlocal now
        now += 50
        start(worker)

    monkeypatch.setattr(Worker, "_start", start_slowly)
    async with opened(once_it_is_there, clock=lambda: now) as reviews:
        added = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
        async with asyncio.timeout(SOON):
            while added.began is None:
                await asyncio.sleep(0.01)
        now += 2
        go.touch()
        await until_over(added)
        assert reviews.used.of("10.0.0.1") == 2


@pytest.mark.parametrize(
    ("do_review", "timeout", "charged"), [(worker_tasks.sleep, 0.05, True), (worker_tasks.crash, 60.0, False)]
)
async def test_whose_review_is_stopped_pays_for_the_next_process(
    do_review: DoReview, timeout: float, charged: bool
) -> None:
    """That of one that has died has not: the review may not be the cause."""
    async with opened(do_review, clock=lambda: 1000.0, review_timeout=timeout) as reviews:
        added = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
        await until_over(added)
        assert added.status == "failed"
        assert (reviews.used.of("10.0.0.1") > 0) is charged


async def test_a_review_that_nobody_asks_about_is_not_done(reviews: Reviews, go: Path) -> None:
    first, second, third = (reviews.add(f"10.0.0.{number}", ("rule",), 0, record=b"x") for number in range(3))
    second.asked -= 1000
    go.touch()
    await until_over(first, third)
    assert reviews.find(second.id) is None
    assert reviews.find(third.id) is third


@pytest.mark.parametrize(("kept_bytes", "kept"), [(40, 8), (1000, KEPT_PER_ADDRESS)])
async def test_results_are_kept_within_limits(go: Path, once_it_is_there: DoReview, kept_bytes: int, kept: int) -> None:
    """Each of them has four bytes; an address makes room with its own ones first."""
    go.touch()
    async with opened(once_it_is_there, reviews_kept_bytes=kept_bytes, reviews_kept_time=1000) as reviews:
        done = []
        for number in range(KEPT_PER_ADDRESS + 5):
            done.append(reviews.add("10.0.0.1" if number > 1 else "10.0.0.2", ("rule",), 0, record=b"x"))
            await until_over(done[-1])
        assert [each for each in done if reviews.find(each.id)] == [*done[:2], *done[-kept:]]


@pytest.mark.slow
async def test_a_review_that_made_room_is_freed(go: Path, once_it_is_there: DoReview) -> None:
    go.touch()
    async with opened(once_it_is_there, reviews_kept_bytes=4) as reviews:
        first = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
        await until_over(first)
        held = weakref.ref(first)
        del first
        await until_over(reviews.add("10.0.0.1", ("rule",), 0, record=b"x"))
        gc.collect()
        assert held() is None


async def test_a_result_expires(go: Path, once_it_is_there: DoReview) -> None:
    go.touch()
    async with opened(once_it_is_there, reviews_kept_time=0.05) as reviews:
        added = reviews.add("10.0.0.1", ("rule",), 0, record=b"x")
        await until_over(added)
        async with asyncio.timeout(SOON):
            while reviews.find(added.id) is not None:
                await asyncio.sleep(0.01)


async def test_a_failed_review_says_why() -> None:
    async with opened(worker_tasks.crash) as reviews:
        missing = reviews.add("10.0.0.1", ("rule",), 0, game="gone")
        await until_over(missing)
        assert missing.error == "the review has failed: the game is not stored any more"
        assert reviews.add("10.0.0.1", ("rule",), 0, game="gone") is not missing
        crashed = reviews.add("10.0.0.2", ("rule",), 0, record=b"x")
        await until_over(crashed)
        assert crashed.error == "the review has failed: the worker process has ended unexpectedly; try again"
    async with opened(worker_tasks.sleep, review_timeout=0.1) as reviews:
        slow = reviews.add("10.0.0.3", ("rule",), 0, record=b"x")
        await until_over(slow)
        assert slow.error == "the review has failed: it took longer than 0.1 s"


async def test_a_player_is_reviewed_once_and_counts_as_one_review(once_it_is_there: DoReview, go: Path) -> None:
    asked: list[str] = []

    async def read_record(game: str) -> bytes | None:
        asked.append(game)
        return None if game == "b" else b"x" * (MAX_BYTES // 2)

    async with opened(once_it_is_there, read_record) as reviews:
        added = reviews.add_player("10.0.0.1", ("rule",), "aki", ("a", "b", "c", "d"))
        assert reviews.add_player("10.0.0.2", ("rule",), "aki", ("a", "b", "c", "d")) is added
        other = reviews.add_player("10.0.0.1", ("rule",), "aki", ("e", "a", "b", "c"))
        with pytest.raises(RateLimitError, match=r"2 reviews for 10\.0\.0\.1"):
            reviews.add_player("10.0.0.1", ("rule",), "ben", ("a",))
        assert [name for name, _ in await reviews._records(added)] == ["a", "c"]  # no more than MAX_BYTES
        go.touch()
        await until_over(added, other)
        assert [added.status, other.status] == ["done", "done"]
