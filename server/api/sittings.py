"""Games being played, and their events for spectators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, WebSocket
from pydantic import BaseModel, Field

from server.access import Refused
from server.api.common import Cursor, Limit, LobbyHere, Page, Route, ServiceHere, problems, read_cursor
from server.api.errors import deny, missing, of_refusal, problem
from server.spectators import Broadcast, watch
from server.store.cursors import Order, one_more, time

router = APIRouter(prefix="/api/sittings", tags=["sittings"], route_class=Route)


class SittingInfo(BaseModel):
    """A game being played, as far as spectators may know it."""

    id: str = Field(description="of the game, while it is played and ever after")
    room: str
    rules: str
    length: str
    started: datetime
    names: list[str] = Field(description="of the players, seats 0 to 2")
    rounds: int = Field(description="rounds that are over, and shown to spectators")
    scores: list[int] = Field(description="of seats 0 to 2 after those rounds")
    spectator_delay: float = Field(description="seconds a finished round is kept from spectators")


def place(broadcast: Broadcast) -> tuple[datetime, str]:
    """What games being played are ordered by."""
    start = broadcast.game.start
    return start.started, start.id


NEWEST_FIRST: Order[Broadcast] = Order("sittings", place, (time, str))


def shown(broadcast: Broadcast) -> SittingInfo:
    """A game being played as the API shows it."""
    start = broadcast.game.start
    rounds, scores = broadcast.shown()
    return SittingInfo(
        id=start.id,
        room=start.room,
        rules=start.settings.rules,
        length=start.settings.length,
        started=start.started,
        names=list(start.names),
        rounds=rounds,
        scores=scores,
        spectator_delay=start.settings.spectator_delay,
    )


@router.get("", summary="The games being played, newest first", responses=problems(422))
async def list_sittings(
    lobby: LobbyHere,
    room: Annotated[str | None, Query(description="of this room only", examples=["default"])] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[SittingInfo]:
    """Nothing here is of a round that is not over: it does not help anybody who plays."""
    after = read_cursor(NEWEST_FIRST, cursor)
    wanted = room and room.replace(" ", "+")  # a plus sign not encoded; rooms have no spaces
    playing = [
        broadcast
        for broadcast in lobby.broadcasts.values()
        if not broadcast.over
        and wanted in (None, broadcast.game.start.room)
        and (after is None or place(broadcast) < after)
    ]
    playing.sort(key=place, reverse=True)
    page = NEWEST_FIRST.page(playing[: one_more(limit)], limit, shown)
    return Page[SittingInfo](items=page.items, next_cursor=page.next_cursor)


@router.get("/{sitting_id}", summary="One game being played", responses=problems(404, 422))
async def get_sitting(lobby: LobbyHere, sitting_id: str) -> SittingInfo:
    """Once it is over its result is at `/api/games/{game_id}`, under the same id."""
    broadcast = lobby.broadcasts.get(sitting_id)
    if broadcast is None or broadcast.over:
        raise missing("game being played with id", sitting_id)
    return shown(broadcast)


@router.websocket("/{sitting_id}/events")
async def sitting_events(socket: WebSocket, service: ServiceHere, sitting_id: str) -> None:
    """See `server.spectators.watch`."""
    lobby = service.lobby
    broadcast = lobby.broadcasts.get(sitting_id)
    if broadcast is None:
        detail = f"no game with this id is being played; if it is over, see /api/games/{sitting_id}"
        await deny(socket, problem(404, detail))
        return
    address = socket.client.host if socket.client else ""
    try:
        lobby.access.connect(address)
    except Refused as refusal:
        lobby.metrics.refused.inc()
        await deny(socket, of_refusal(refusal))
        return
    lobby.metrics.connections.inc()
    try:
        await watch(socket, broadcast, service.throttle)
    finally:
        lobby.access.disconnect(address)
        lobby.metrics.connections.dec()
