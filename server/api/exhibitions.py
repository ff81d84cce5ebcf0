"""Exhibitions: a game of three house bots to watch."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, Strict

from server.api.common import LobbyHere, Route, client_address, problems
from server.api.games import PlayingGame, playing_game
from server.api.rooms import Bearer, HouseBot
from server.rooms import SITTING

FASTEST = 0.3  # seconds before a decision: a game takes minutes, and all exhibitions little of a processor
router = APIRouter(prefix="/api/games", tags=["games"], route_class=Route)


class NewExhibition(BaseModel):
    """A request for a game of house bots."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"bots": ["rule", "efficiency", "human"], "pause": 1}]}
    )

    bots: tuple[HouseBot, HouseBot, HouseBot] = Field(description="who plays")
    pause: Annotated[float, Strict()] = Field(
        1.0, ge=FASTEST, le=SITTING["pause"], description="seconds before each decision"
    )


@router.post(
    "",
    summary="Let three house bots play a game to watch",
    status_code=201,
    responses=problems(401, 403, 411, 413, 422, 429, 503),
)
async def start_exhibition(
    lobby: LobbyHere, request: Request, new: NewExhibition, given: Bearer, response: Response
) -> PlayingGame:
    """One hanchan, with the server's rules. It is neither stored nor rated.

    It stops when nobody has watched its events for a minute. An address has one at a time; everybody who may play may
    start one.
    """
    await lobby.tokens.authorize_player(given.credentials if given else None)
    game = await lobby.exhibit(new.bots, new.pause, client_address(request))
    response.headers["Location"] = f"/api/games/{game.id}"
    return playing_game(lobby.broadcasts[game.id])
