"""What a web page or a bot has to know of the server."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from agents.built_in import BUILT_IN
from engine.common.program import version
from server.api.common import Route, ServiceHere, problems
from server.house_bots import strongest_first

VERSION = version()
router = APIRouter(prefix="/api/server", tags=["server"], route_class=Route)


class ServerInfo(BaseModel):
    """A server."""

    version: str
    mjai_port: int = Field(description="port of mjai over TCP")
    tokens_needed: bool = Field(description="whether bots need a token to play")
    house_bots: list[str] = Field(description="bots that can be named to fill seats, those with the most points first")
    weakest: dict[str, int] = Field(
        description="those of them that can play weaker, as in rule@-300, each with its lowest strength, such as -700"
    )
    ratings: dict[str, int] = Field(description="points of those of them that play on the ladder, 0 on average")
    review_bots: list[str] = Field(
        description="those of them with action values, which can review games, in the same order"
    )
    puzzle: bool = Field(description="whether there may be a puzzle of today; true until somebody has asked for it")


@router.get("", summary="This server", responses=problems(422))
async def get_server(service: ServiceHere) -> ServerInfo:
    """How to play here, and with whom."""
    settings, house_bots = service.lobby.settings, service.lobby.house_bots
    playable = house_bots.playable()
    rated = {name: bot.rating for name, bot in BUILT_IN.items() if name in playable and bot.rating is not None}
    return ServerInfo(
        version=VERSION,
        mjai_port=settings.mjai_port,
        tokens_needed=settings.tokens_needed,
        house_bots=strongest_first(playable),
        weakest={bot: lowest for bot, lowest in house_bots.weakest.items() if bot in playable},
        ratings=rated,
        review_bots=house_bots.reviewers(),
        puzzle=not service.puzzles.has_none(datetime.now(UTC).date()),
    )
