"""Made-up finished games for the store, and checks of a store's invariants."""

from __future__ import annotations

import random
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import pytest
from openskill.models import PlackettLuce

from engine.rules import TENHOU
from server.limits import LIMITS, Limits
from server.names import HOUSE_BOT_SUFFIX
from server.store import FinishedGame, Page, Rating, SeatResult, Store
from server.store.models import Model

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
NAMES = ("aki", "beni", "chiyo", "daigo")

Item = TypeVar("Item")
AnyModel = TypeVar("AnyModel", bound=Model)
Seats = tuple[SeatResult, SeatResult, SeatResult]


def replace(model: AnyModel, **changes: Any) -> AnyModel:
    """A copy of a model with some fields changed."""
    return model.model_copy(update=changes)


def seat_results(names: Sequence[str], scores: Sequence[int] = (50_000, 30_000, 25_000)) -> Seats:
    """The results of three seats with those scores, under Tenhou's rules."""
    given = list(scores)
    results = zip(names, given, TENHOU.ranks(given), TENHOU.final_points(given), strict=True)
    first, second, third = (
        SeatResult(
            name=name,
            house_bot=name.endswith(HOUSE_BOT_SUFFIX),
            score=score,
            rank=rank,
            points=points,
            penalty=0.0,
            faults=0,
            taken_over=False,
        )
        for name, score, rank, points in results
    )
    return first, second, third


def make_game(names: Sequence[str] = NAMES[:3], minute: float = 0, **changes: Any) -> FinishedGame:
    """A game of those players that finished `minute` minutes after noon."""
    finished = NOON + timedelta(minutes=minute)
    fields: dict[str, Any] = {
        "id": uuid.uuid4().hex,
        "room": "default",
        "rules": "tenhou",
        "length": "hanchan",
        "started": finished - timedelta(minutes=5),
        "finished": finished,
        "rounds": 9,
        "decisions": 431,
        "seats": seat_results(names),
        "record": b"record of a game",
    }
    return FinishedGame(**(fields | changes))


def random_game(chance: random.Random, minute: float = 0) -> FinishedGame:
    """A game of three of NAMES with random scores."""
    scores = [100 * chance.randrange(1000) for _ in range(3)]
    names = chance.sample(NAMES, 3)
    return make_game(names, minute, seats=seat_results(names, scores))


@asynccontextmanager
async def opened(url: str, limits: Limits = LIMITS) -> AsyncIterator[Store]:
    """A store, open inside the block."""
    store = await Store.open(url, limits)
    try:
        yield store
    finally:
        await store.close()


async def plan_of(url: str, sql: str) -> list[str]:
    """The steps in which SQLite carries a query out, in a new database."""
    async with opened(url):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
            return [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}")]


async def all_items(ask: Callable[[str | None], Awaitable[Page[Item]]]) -> list[Item]:
    """The items of all pages."""
    items: list[Item] = []
    cursors: list[str | None] = [None]
    while True:
        page = await ask(cursors[-1])
        items += page.items
        if page.next_cursor is None:
            return items
        assert page.next_cursor not in cursors
        cursors.append(page.next_cursor)


async def check_ratings(store: Store) -> None:
    """Check that each game was rated with the ratings its players had before it, in an unbroken sequence per player."""
    model = PlackettLuce()
    before: dict[tuple[str, str], Rating] = {}
    after: dict[tuple[str, str], Rating] = {}
    for player in await all_items(store.players):
        name = player.name
        history = await all_items(partial(store.rating_history, name))
        assert [point.number for point in history] == list(range(1, player.rated_games + 1))
        rating = Rating(mu=model.mu, sigma=model.sigma, ordinal=model.mu - 3 * model.sigma)
        for point in history:
            before[name, point.game_id], after[name, point.game_id] = rating, point.rating
            rating = point.rating
        assert player.rating == rating
    for game in await all_items(lambda cursor: store.games(cursor=cursor)):
        if not game.rated:
            continue
        keys = [(seat.name, game.id) for seat in game.seats]
        teams = [[model.rating(mu=before[key].mu, sigma=before[key].sigma)] for key in keys]
        expected = model.rate(teams, ranks=[float(seat.rank) for seat in game.seats])
        assert [(after[key].mu, after[key].sigma) for key in keys] == [
            pytest.approx((rating.mu, rating.sigma), abs=1e-12) for (rating,) in expected
        ]
