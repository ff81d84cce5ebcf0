"""Players and their ratings."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from server.api.common import Cursor, Limit, LobbyHere, Page, Route, problems, stored_page
from server.api.errors import missing

router = APIRouter(prefix="/api/players", tags=["players"], route_class=Route)


class Rating(BaseModel):
    """Skill as OpenSkill's Plackett-Luce model estimates it."""

    mu: float
    sigma: float = Field(description="uncertainty of mu, one standard deviation")
    ordinal: float = Field(description="mu - 3 sigma, what players are ordered by")


class Player(BaseModel):
    """A player with a game that is over; a game in which the name had two seats counts as two."""

    name: str
    house: bool = Field(description="a house bot of the server")
    games: int
    rated_games: int
    places: list[int] = Field(description="how often first, second, third")
    mean_rank: float
    mean_points: float = Field(description="final points a game, penalties deducted")
    faults: int
    rating: Rating
    first_seen: datetime
    last_seen: datetime


class RatingPoint(BaseModel):
    """A player's rating after one game."""

    number: int = Field(description="1 for the first rated game")
    game: str = Field(description="id of the game")
    finished: datetime
    rating: Rating


@router.get("", summary="Players", responses=problems(422, 503))
async def list_players(
    lobby: LobbyHere,
    order: Annotated[
        Literal["rating", "name", "games"], Query(description="best rating first, by name, or most games first")
    ] = "rating",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Player]:
    """A player whose place in the order changes between two pages may come twice or not at all."""
    page = await stored_page(partial(lobby.store.players, order=order), cursor, limit)
    return Page[Player].model_validate(page, from_attributes=True)


@router.get("/{name}", summary="One player", responses=problems(404, 422, 503))
async def get_player(lobby: LobbyHere, name: str) -> Player:
    """The player of that name, once a game of theirs is over."""
    player = await lobby.store.player(name)
    if player is None:
        raise missing("player", name)
    return Player.model_validate(player, from_attributes=True)


@router.get("/{name}/ratings", summary="A player's ratings, first game first", responses=problems(404, 422, 503))
async def list_ratings(lobby: LobbyHere, name: str, cursor: Cursor = None, limit: Limit = 50) -> Page[RatingPoint]:
    """The rating after each rated game."""
    if await lobby.store.player(name) is None:
        raise missing("player", name)
    page = await stored_page(partial(lobby.store.rating_history, name), cursor, limit)
    return Page[RatingPoint].model_validate(page, from_attributes=True)
