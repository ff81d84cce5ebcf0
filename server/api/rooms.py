"""Rooms: list, open, close."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from engine.mjai.connection import MAX_ROOM, ROOM_PATTERN
from server.access import AccessError
from server.api.common import Cursor, Limit, LobbyHere, Page, Route, problems, read_cursor, respond
from server.api.errors import not_found
from server.house_bots import check_requested_bot
from server.lobby import Lobby
from server.rooms import Room, settings_of
from server.settings import RoomSettings
from server.store import StoreError
from server.store.cursors import Order, one_more

RoomName = Annotated[str, StringConstraints(pattern=ROOM_PATTERN, max_length=MAX_ROOM)]
router = APIRouter(prefix="/api/rooms", tags=["rooms"], route_class=Route)
bearer = HTTPBearer(auto_error=False, description="an admin token; not needed if the server needs no tokens")


async def require_admin(
    lobby: LobbyHere, given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> None:
    """Allow only admins. Raises AccessError."""
    await lobby.access.authorize_admin(given.credentials if given else None)


class RoomSettingsInfo(RoomSettings):
    """The settings of a room without the seed, which would reveal the walls of games to come."""

    seed: None = Field(None, exclude=True)


class RoomInfo(BaseModel):
    """An open room."""

    name: str
    settings: RoomSettingsInfo
    waiting: int = Field(description="bots waiting for a game")
    playing: int = Field(description="games being played")
    started: int = Field(description="games started since the server (with a seed or `games`: the room) started")
    permanent: bool = Field(description="the room stays when it is empty, and is opened again when the server starts")


BY_NAME: Order[RoomInfo] = Order("rooms", lambda room: (room.name,), (str,))


class NewRoom(BaseModel):
    """A request to open a room."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "cup", "settings": {"length": "east", "fill": ["rule"], "spectator_delay": 60}}]
        },
    )

    name: RoomName = Field(description="1 to 64 of A-Z a-z 0-9 _ . -, then +BOT for each house bot (at most two)")
    settings: RoomSettings = Field(
        default_factory=lambda: RoomSettings.model_validate({}),
        description="settings left out are taken from the server's settings",
    )

    @field_validator("settings", mode="before")
    @classmethod
    def _bots_are_registered(cls, settings: Any) -> Any:
        """A request must not make this process load or execute a file; the flags of the server may name one."""
        for bot in _bots_of(settings) if isinstance(settings, dict) else ():
            check_requested_bot(bot)
        return settings


def _bots_of(settings: dict[str, Any]) -> list[str]:
    """The house bots in the settings of a request, which are not validated yet."""
    fill = settings.get("fill", [])
    bots = fill.split(",") if isinstance(fill, str) else fill if isinstance(fill, list) else []
    return [bot for bot in [*bots, settings.get("house_bot")] if isinstance(bot, str)]


def room_info(room: Room) -> RoomInfo:
    """A room as the API sends it."""
    settings = RoomSettingsInfo.model_construct(**dict(room.settings) | {"seed": None})  # already validated
    return RoomInfo(
        name=room.name,
        settings=settings,
        waiting=len(room.waiting),
        playing=room.playing,
        started=room.started,
        permanent=room.permanent,
    )


def find_open_room(lobby: Lobby, name: str) -> Room:
    """The open room with that name. Raises HTTPException if there is none."""
    room = lobby.rooms.get(name)
    if room is None or room.closed:
        raise not_found("open room", name)
    return room


@router.get("", summary="Open rooms, by name", responses=problems(422))
async def list_rooms(lobby: LobbyHere, cursor: Cursor = None, limit: Limit = 50) -> Page[RoomInfo]:
    """A room opened by the first bot that joins it is closed when it is empty, unless it is permanent."""
    (after,) = read_cursor(BY_NAME, cursor) or ("",)
    names = sorted(name for name, room in lobby.rooms.items() if name > after and not room.closed)
    return respond(BY_NAME.page([room_info(lobby.rooms[name]) for name in names[: one_more(limit)]], limit))


@router.get("/{name}", summary="One room", responses=problems(404, 422))
async def get_room(lobby: LobbyHere, name: str) -> RoomInfo:
    """The room with that name."""
    return room_info(find_open_room(lobby, name))


@router.post(
    "",
    summary="Open a room",
    status_code=201,
    dependencies=[Depends(require_admin)],
    responses=problems(401, 403, 409, 411, 413, 422, 503),
)
async def open_room(lobby: LobbyHere, new: NewRoom, response: Response) -> RoomInfo:
    """The room stays until it is closed or its `games` are played, also if the server is restarted."""
    if new.name in lobby.rooms:
        raise HTTPException(409, f"room {new.name} is open, or still plays its last games: close it first, or wait")
    try:
        settings = settings_of(new.name, lobby.settings.room)
    except AccessError as error:
        raise HTTPException(422, f"body: {error}") from error
    settings = settings.model_copy(update={name: getattr(new.settings, name) for name in new.settings.model_fields_set})
    room = await lobby.open_room(new.name, settings)
    if room.settings is not settings:  # opened by another request in the meantime
        raise HTTPException(409, f"room {new.name} is open: close it first")
    try:
        await lobby.store.save_room(new.name, settings.model_dump(mode="json"))
    except StoreError:
        lobby.close_room(room)
        raise
    response.headers["Location"] = f"/api/rooms/{new.name}"
    return room_info(room)


@router.delete(
    "/{name}",
    summary="Close a room",
    status_code=204,
    dependencies=[Depends(require_admin)],
    responses=problems(401, 403, 404, 411, 413, 422, 503),
)
async def close_room(lobby: LobbyHere, name: str) -> None:
    """Waiting bots are disconnected; games being played are finished, and their results are stored.

    The name is free afterwards: a bot that joins it opens a new room with the server's own settings. The room
    `default` is opened again when the server starts.
    """
    room = find_open_room(lobby, name)
    await lobby.store.close_room(name)
    lobby.close_room(room)
