"""Positions that clients send: what the rules and house bots say about one. Nothing of them is kept."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from engine.common.error_text import line_of
from engine.positions.position import Position
from engine.positions.views import check
from server.api.common import Route, ServiceHere, client_address, problems
from server.api.reviews import Bot
from server.api.uploads import done_in_turn
from server.position_work import analysed
from server.worker import WorkerError, WorkerUnavailableError, in_one_line

TIMEOUT = 30.0  # seconds of work on one position; the first one loads the bots, too
MAX_BOTS = 4  # of one analysis
EXAMPLE = {"hand": "123p456s11z99m2256p", "seat": "S", "dora": "3p", "left": 30}
router = APIRouter(prefix="/api/positions", tags=["reviews"], route_class=Route)


class AskedPosition(BaseModel):
    """A position, and the bots that are asked about it."""

    model_config = ConfigDict(extra="forbid")

    position: dict[str, Any] = Field(
        description="`hand`, and what differs from a usual position; docs/web.md has the keys", examples=[EXAMPLE]
    )
    bots: list[Bot] = Field([], max_length=MAX_BOTS, description="house bots with action values, at most four")


@router.post(
    "",
    summary="Analyse a position",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}, **problems(403, 411, 422, 503)},
)
async def analyse_position(service: ServiceHere, request: Request, asked: AskedPosition) -> Response:
    """The bots' values of each action, shanten, ukeire, danger, waits and scores; docs/web.md has the keys.

    One at a time of an address, as with records, whose turns it shares. Nothing is kept.
    """
    address = client_address(request)
    try:
        position = Position.from_json(asked.position)
        check(position)  # here too: nobody waits for a worker to start, or for a turn, to be told of a slip
    except ValueError as error:
        raise HTTPException(422, in_one_line(error)) from error
    work = partial(analysed, position=position, bots=tuple(dict.fromkeys(asked.bots)))
    try:
        with service.lobby.access.uploading(address):
            return await done_in_turn(service, address, work, TIMEOUT)
    except WorkerUnavailableError as error:
        raise HTTPException(503, line_of(error), {"Retry-After": "5"}) from error
    except WorkerError as error:
        raise HTTPException(422, line_of(error)) from error
