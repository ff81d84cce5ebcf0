"""Addresses take turns to read lists, and whatever else takes the database long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from server.api import games, players, tournaments
from server.api.common import QueryTurn, query_turn_of, stored_page
from server.fairness import FairLock
from server.store import Page


async def turn_of(queries: FairLock, address: str) -> QueryTurn:
    """The turns of a client with that address."""
    app = SimpleNamespace(state=SimpleNamespace(service=SimpleNamespace(queries=queries)))
    return await query_turn_of(HTTPConnection({"type": "http", "app": app, "client": (address, 1)}))


async def test_one_that_asks_for_much_waits_for_the_others() -> None:
    """Ten requests for four chunks each come first; another's waits for two of these before each of its own."""
    queries, read = FairLock(), list[str]()
    greedy, other = await turn_of(queries, "10.0.0.1"), await turn_of(queries, "10.0.0.2")

    async def chunk(address: str, cursor: str | None, limit: int) -> Page[int]:
        read.append(address)
        await asyncio.sleep(0)
        return Page([0] * limit, "next")

    asked = [asyncio.create_task(stored_page(greedy, partial(chunk, "greedy"), None, 100)) for _ in range(10)]
    await asyncio.sleep(0)
    page = await stored_page(other, partial(chunk, "other"), None, 100)
    assert (len(page.items), page.next_cursor) == (100, "next")
    assert read.count("greedy") <= 2 * read.count("other")
    await asyncio.gather(*asked)
    assert len(read) == 44


READS: dict[str, Callable[[Any, QueryTurn], Awaitable[object]]] = {
    "games": lambda lobby, turn: games.list_games(lobby, turn, "finished"),
    "players": lambda lobby, turn: players.list_players(lobby, turn),
    "rating_history": lambda lobby, turn: players.list_ratings(lobby, turn, "aki"),
    "opponents": lambda lobby, turn: players.list_opponents(lobby, turn, "aki"),
    "statistics": lambda lobby, turn: players.get_statistics(lobby, turn, "aki"),
    "tournament_standings": lambda lobby, turn: tournaments.standings_in(lobby, turn, "cup"),
    "tournament_schedule": lambda lobby, turn: tournaments.list_schedule(lobby, turn, "cup"),
}


@pytest.mark.parametrize("method", READS)
async def test_what_takes_long_is_read_in_a_turn(method: str) -> None:
    """Each of these may read thousands of rows, or a result of a megabyte."""
    inside, seen = False, list[bool]()

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        nonlocal inside
        inside = True
        yield
        inside = False

    async def read(*args: Any, **options: Any) -> Any:
        seen.append(inside)
        return [] if method.startswith("tournament") else Page([], None)

    async def player(name: str) -> object:
        return object()

    lobby = SimpleNamespace(
        store=SimpleNamespace(player=player, **{method: read}),
        tournaments=SimpleNamespace(current={}, over={"cup": object()}),
    )
    await READS[method](lobby, turn)
    assert seen == [True]
