"""Rooms: list, open, close."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from server import messages
from server.access import Refused
from server.api.common import Cursor, Limit, LobbyHere, Page, Route, problems, read_cursor
from server.api.errors import missing
from server.lobby import Lobby
from server.rooms import Room, settings_of
from server.settings import RoomSettings
from server.store import StoreError
from server.store.cursors import Order, one_more

router = APIRouter(prefix="/api/rooms", tags=["rooms"], route_class=Route)
BY_NAME: Order[Room] = Order("rooms", lambda room: (room.name,), (str,))
bearer = HTTPBearer(auto_error=False, description="an admin's token; servers that need no tokens let anybody")


async def admin(lobby: LobbyHere, given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> None:
    """Let only admins go on. Raises Refused."""
    await lobby.access.admin(given.credentials if given else None)


class RoomSettingsInfo(RoomSettings):
    """Settings of a room, without the seed: who knows it knows the walls to come."""

    seed: None = Field(None, exclude=True)


class RoomInfo(BaseModel):
    """A room that is open."""

    name: str
    settings: RoomSettingsInfo
    waiting: int = Field(description="bots that wait for a game")
    playing: int = Field(description="games being played")
    started: int = Field(description="games started since the server came up; with a seed or `games`, ever")
    kept: bool = Field(description="whether it stays when it is empty, and comes back with the server")


class NewRoom(BaseModel):
    """A room to be opened."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "cup", "settings": {"length": "east", "fill": ["rule"], "spectator_delay": 60}}]
        },
    )

    name: messages.Room = Field(description="1 to 64 of A-Z a-z 0-9 _ . -; then +BOT for each house bot, two at most")
    settings: RoomSettings = Field(
        default_factory=lambda: RoomSettings.model_validate({}),
        description="what is left out is as the server's own settings have it",
    )


def shown(room: Room) -> RoomInfo:
    """A room as the API shows it."""
    settings = RoomSettingsInfo.model_construct(**dict(room.settings) | {"seed": None})  # validated when it was opened
    return RoomInfo(
        name=room.name,
        settings=settings,
        waiting=len(room.waiting),
        playing=room.playing,
        started=room.started,
        kept=room.permanent,
    )


def open_room_of(lobby: Lobby, name: str) -> Room:
    """The room of that name. Raises HTTPException where there is none, or it only ends its games."""
    room = lobby.rooms.get(name)
    if room is None or room.closed:
        raise missing("open room", name)
    return room


@router.get("", summary="The rooms that are open, by name", responses=problems(422))
async def list_rooms(lobby: LobbyHere, cursor: Cursor = None, limit: Limit = 50) -> Page[RoomInfo]:
    """A room is opened here, or by the first bot that joins it; in the latter case it goes when it is empty."""
    (after,) = read_cursor(BY_NAME, cursor) or ("",)
    names = sorted(name for name, room in lobby.rooms.items() if name > after and not room.closed)
    page = BY_NAME.page([lobby.rooms[name] for name in names[: one_more(limit)]], limit, shown)
    return Page[RoomInfo](items=page.items, next_cursor=page.next_cursor)


@router.get("/{name}", summary="One room", responses=problems(404, 422))
async def get_room(lobby: LobbyHere, name: str) -> RoomInfo:
    """The room of that name."""
    return shown(open_room_of(lobby, name))


@router.post(
    "",
    summary="Open a room",
    status_code=201,
    dependencies=[Depends(admin)],
    responses=problems(401, 403, 409, 411, 413, 422, 503),
)
async def open_room(lobby: LobbyHere, new: NewRoom, response: Response) -> RoomInfo:
    """The room stays until it is closed, or its `games` are played; restarts of the server do not change that."""
    if new.name in lobby.rooms:
        raise HTTPException(409, f"room {new.name} is open, or still ends its games: close it first, or wait")
    try:
        settings = settings_of(new.name, lobby.settings.room)
    except Refused as refusal:
        raise HTTPException(422, f"body: {refusal}") from refusal
    settings = settings.model_copy(update={name: getattr(new.settings, name) for name in new.settings.model_fields_set})
    room = await lobby.open_room(new.name, settings)
    if room.settings is not settings:  # somebody was faster
        raise HTTPException(409, f"room {new.name} is open: close it first")
    try:
        await lobby.store.save_room(new.name, settings.model_dump(mode="json"))
    except StoreError:
        lobby.close_room(room)
        raise
    response.headers["Location"] = f"/api/rooms/{new.name}"
    return shown(room)


@router.delete(
    "/{name}",
    summary="Close a room",
    status_code=204,
    dependencies=[Depends(admin)],
    responses=problems(401, 403, 404, 411, 413, 422, 503),
)
async def close_room(lobby: LobbyHere, name: str) -> None:
    """Bots that wait there are sent away; games being played go on to their ends, and their results are kept.

    The name is free again after that: a bot that joins it opens a new room with the server's own settings. The room
    `default` is there again when the server starts.
    """
    room = open_room_of(lobby, name)
    await lobby.store.close_room(name)
    lobby.close_room(room)
