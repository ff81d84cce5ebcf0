"""Players and their ratings."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from server.api.common import Cursor, Limit, LobbyHere, Page, Route, problems, stored_page
from server.api.errors import not_found
from server.store import PlayerStats, RatingPoint
from server.store.lists import PlayerOrder

router = APIRouter(prefix="/api/players", tags=["players"], route_class=Route)


@router.get("", summary="Players", responses=problems(422, 503))
async def list_players(
    lobby: LobbyHere,
    order: Annotated[PlayerOrder, Query(description="highest rating first, by name, or most games first")] = "rating",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[PlayerStats]:
    """A player who moves in the order between two pages may be returned twice or not at all."""
    return await stored_page(partial(lobby.store.players, order=order), cursor, limit)


@router.get("/{name}", summary="One player", responses=problems(404, 422, 503))
async def get_player(lobby: LobbyHere, name: str) -> PlayerStats:
    """A player exists once a game of theirs is finished."""
    player = await lobby.store.player(name)
    if player is None:
        raise not_found("player", name)
    return player


@router.get("/{name}/ratings", summary="A player's ratings, first game first", responses=problems(404, 422, 503))
async def list_ratings(lobby: LobbyHere, name: str, cursor: Cursor = None, limit: Limit = 50) -> Page[RatingPoint]:
    """The rating after each rated game."""
    if await lobby.store.player(name) is None:
        raise not_found("player", name)
    return await stored_page(partial(lobby.store.rating_history, name), cursor, limit)
