"""Players and their ratings."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request

from server.api.common import (
    Cursor,
    Limit,
    LobbyHere,
    Page,
    QueryTurnHere,
    Route,
    ServiceHere,
    client_address,
    problems,
    stored_page,
)
from server.api.errors import not_found
from server.api.games import RoomFilter, RulesFilter, Time
from server.api.reviews import Bots, ReviewInfo, info
from server.limits import LIMITS
from server.lobby import Lobby
from server.store import Opponent, PlayerStatistics, PlayerStats, RatingPoint
from server.store.lists import PlayerOrder

REVIEWED_GAMES = 20  # the latest ones of a player, as one review
router = APIRouter(prefix="/api/players", tags=["players"], route_class=Route)


async def find_player(lobby: Lobby, name: str) -> PlayerStats:
    """The player with that name. Raises HTTPException if there is none."""
    player = await lobby.store.player(name)
    if player is None:
        raise not_found("player", name)
    return player


@router.get("", summary="Players", responses=problems(422, 503))
async def list_players(
    lobby: LobbyHere,
    turn: QueryTurnHere,
    order: Annotated[PlayerOrder, Query(description="highest rating first, by name, or most games first")] = "rating",
    prefix: Annotated[str, Query(description="whose names begin so; upper and lower case differ")] = "",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[PlayerStats]:
    """A player who moves in the order between two pages may be returned twice or not at all."""
    return await stored_page(turn, partial(lobby.store.players, order=order, prefix=prefix), cursor, limit)


@router.get("/{name}", summary="One player", responses=problems(404, 422, 503))
async def get_player(lobby: LobbyHere, name: str) -> PlayerStats:
    """A player exists once a game of theirs is finished."""
    return await find_player(lobby, name)


@router.get("/{name}/ratings", summary="A player's ratings, first game first", responses=problems(404, 422, 503))
async def list_ratings(
    lobby: LobbyHere,
    turn: QueryTurnHere,
    name: str,
    step: Annotated[int, Query(ge=1, le=1_000_000, description="every how many rated games")] = 1,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[RatingPoint]:
    """The rating after each rated game; with `step`, of those whose number is a multiple of it."""
    await find_player(lobby, name)
    return await stored_page(turn, partial(lobby.store.rating_history, name, step=step), cursor, limit)


@router.post(
    "/{name}/reviews",
    status_code=202,
    response_model_exclude_unset=True,
    summary="Ask for a review of a player's latest games",
    responses=problems(403, 404, 411, 422, 503),
)
async def ask_for_reviews(service: ServiceHere, request: Request, name: str, bot: Bots) -> ReviewInfo:
    """What the reviews of the latest 20 games add up to, and the costliest mistakes; docs/web.md has the keys.

    It is asked about, and waits, like any other review (see `POST /api/reviews`), and counts as one.
    """
    await find_player(service.lobby, name)
    games = await service.lobby.store.games(name, limit=REVIEWED_GAMES)
    bots, ids = tuple(dict.fromkeys(bot)), tuple(game.id for game in games.items)
    return info(service.reviews.add_player(client_address(request), bots, name, ids))


@router.get(
    "/{name}/statistics",
    summary="How a player plays",
    description=f"Over the player's latest {LIMITS.most_seats:,} games that pass the filters; those of a room or of "
    f"rules, among the latest {LIMITS.most_searched:,}. Games that an older version of the server stored are counted "
    "in `play`, and so in the rates, some time after the server was updated.",
    responses=problems(404, 422, 503),
)
async def get_statistics(
    lobby: LobbyHere,
    turn: QueryTurnHere,
    name: str,
    room: RoomFilter = None,
    rules: RulesFilter = None,
    since: Annotated[Time | None, Query(description="finished at this time or later")] = None,
    until: Annotated[Time | None, Query(description="finished before this time")] = None,
) -> PlayerStatistics:
    """Placements, and rates with the counts behind them."""
    await find_player(lobby, name)
    async with turn():
        return await lobby.store.statistics(name, room, rules, since, until)


@router.get(
    "/{name}/opponents",
    summary="Whom a player met, most games first",
    description=f"In the player's latest {LIMITS.most_seats:,} games. An opponent who is met between two pages may be "
    "returned twice or not at all.",
    responses=problems(404, 422, 503),
)
async def list_opponents(
    lobby: LobbyHere, turn: QueryTurnHere, name: str, cursor: Cursor = None, limit: Limit = 50
) -> Page[Opponent]:
    """Head to head."""
    await find_player(lobby, name)
    return await stored_page(turn, partial(lobby.store.opponents, name), cursor, limit, chunk=limit)
