"""The puzzle of a day: a position from a finished game, and what bots would discard in it."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from engine.common.error_text import error_text
from server.api.common import Route, ServiceHere, problems
from server.api.uploads import GzippedJson
from server.puzzles import DAYS, RETRY, PuzzleFailedError

router = APIRouter(prefix="/api/puzzle", tags=["reviews"], route_class=Route)


class PuzzleOptions(BaseModel):
    """What a bot thinks of a puzzle."""

    bot: str
    actions: list[dict[str, Any]] = Field(description="as in a review: `action`, `value`, `prob`, best first")


class Puzzle(BaseModel):
    """A puzzle."""

    date: str
    game: str = Field(description="id of the finished game that it comes from; empty: a record of the operator")
    seat: int
    round: int = Field(description="of the game, from 0")
    message: int = Field(description="index of the message of the game after which the seat discards")
    messages: list[dict[str, Any]] = Field(description="of its round up to there, as the seat was sent them")
    bots: list[PuzzleOptions]
    played: dict[str, Any] = Field(description="what was discarded in the game")


class Computing(BaseModel):
    """A puzzle that is not made yet."""

    status: Literal["computing"] = "computing"


@router.get(
    "",
    summary="The puzzle of a day",
    response_class=Response,
    responses={
        200: {"model": Puzzle, "description": "The puzzle"},
        202: {"model": Computing, "description": "It is being made; ask again soon"},
        **problems(404, 422, 503),
    },
)
async def get_puzzle(
    service: ServiceHere,
    day: Annotated[date | None, Query(alias="date", description="in UTC, by default today; 30 days back")] = None,
) -> Response:
    """What would you discard? A decision on which bots agree and, if there is one, a simple bot errs.

    It comes from the newest games that were over before that day, or from records of the setting `puzzle_records`. It
    stays the same, and is made when it is first asked for. Names of players are replaced by winds.
    """
    today = datetime.now(UTC).date()
    day = day or today
    if day > today:
        raise HTTPException(422, error_text("puzzle_future", "date: {date} is yet to come", date=str(day)))
    if day < today - timedelta(days=DAYS):
        text = "there are puzzles of the latest {n} days, but none of {date} any more"
        raise HTTPException(404, error_text("puzzle_old", text, n=DAYS, date=str(day)))
    try:
        made = service.puzzles.find(day)
    except PuzzleFailedError:
        text = "the puzzle could not be made; it is tried again within {n} minutes"
        failed = error_text("puzzle_failed", text, n=round(RETRY / 60))
        raise HTTPException(503, failed, {"Retry-After": str(round(RETRY))}) from None
    if made is None:
        return JSONResponse(Computing().model_dump(), 202)
    if not made:
        text = (
            "no puzzle yet: neither games finished before that day nor the operator's records have a suitable position"
        )
        raise HTTPException(404, error_text("no_puzzle", text))
    return GzippedJson(made, ExitStack())
