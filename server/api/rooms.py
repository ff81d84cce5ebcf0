"""Rooms: list, open, close."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Strict,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from engine.checks import check_scores
from engine.common.error_text import error_text, line_of
from engine.mjai.connection import MAX_ROOM, ROOM_NAME, ROOM_PATTERN, ROOM_TEXT
from engine.rules import TOTAL_POINTS
from server.access import AccessError
from server.api.common import Cursor, Limit, LobbyHere, Page, Route, client_address, problems, read_cursor, respond
from server.api.errors import in_body, not_found
from server.house_bots import HOUSE_BOTS
from server.lobby import Lobby
from server.rooms import SITTING, Room, check_hints, check_sitting, settings_of
from server.settings import MAX_FILL, SETTINGS, RoomSettings
from server.store import StoreError
from server.store.cursors import Order, one_more

MAX_BOT = 64  # characters of the name of a house bot in a request
# Names of rooms that can be opened: with house bots that exist.
ROOM_WITH_BOTS = rf"^{ROOM_NAME}(\+({'|'.join(map(re.escape, HOUSE_BOTS.names))})){{0,{MAX_FILL}}}$"
RoomName = Annotated[str, StringConstraints(pattern=ROOM_PATTERN, max_length=MAX_ROOM)]
router = APIRouter(prefix="/api/rooms", tags=["rooms"], route_class=Route)
bearer = HTTPBearer(
    auto_error=False,
    description="an admin token; a bot's suffices to open a room that is not permanent. "
    "Not needed if the server needs no tokens",
)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


Score = Annotated[int, Strict(), Field(ge=0, le=TOTAL_POINTS, multiple_of=100)]
Scores = tuple[Score, Score, Score]


@dataclass(frozen=True, kw_only=True)
class RoomSettingsInfo(RoomSettings):
    """The settings of a room without the seed, which would reveal the walls of games to come."""

    seed: None = field(default=None, metadata={"exclude": True})
    scores: Scores = field(default=RoomSettings.scores, metadata=SETTINGS["scores"].metadata)


class RoomInfo(BaseModel):
    """An open room."""

    name: str
    settings: RoomSettingsInfo
    waiting: int = Field(description="bots waiting for a game")
    waiting_names: list[str] = Field(description="their names, first come first")
    playing: int = Field(description="games being played")
    started: int = Field(
        description="games started since the room was opened; a start of the server opens anew those that it does not "
        "store: `default`, and those opened by bots"
    )
    permanent: bool = Field(description="the room stays when it is empty, and is opened again when the server starts")
    tournament: bool = Field(description="the room is that of the tournament of its name")


BY_NAME: Order[RoomInfo] = Order("rooms", lambda room: (room.name,), (str,))


def playable(bot: str) -> str:
    """A house bot that a request may name. Raises ValueError."""
    HOUSE_BOTS.check_requested(bot)
    return bot


HouseBot = Annotated[
    str,
    StringConstraints(max_length=MAX_BOT),
    AfterValidator(playable),
    WithJsonSchema({"type": "string", "enum": list(HOUSE_BOTS.names)}),
]


@dataclass(frozen=True, kw_only=True)
class NewRoomSettings(RoomSettings):
    """The settings of a room in a request: JSON values of exactly their types."""

    scores: Annotated[Scores, AfterValidator(check_scores)] = field(
        default=RoomSettings.scores, metadata=SETTINGS["scores"].metadata
    )
    fill: tuple[HouseBot, ...] = field(default=RoomSettings.fill, metadata=SETTINGS["fill"].metadata)
    house_bot: HouseBot = field(default=RoomSettings.house_bot, metadata=SETTINGS["house_bot"].metadata)


# What `check_sitting` refuses, in the OpenAPI document.
SITTING_SCHEMA: dict[str, JsonValue] = {
    "if": {"properties": {"permanent": {"const": False}}, "required": ["permanent"]},
    "then": {
        "properties": {
            "settings": {
                "propertyNames": {"enum": [*SITTING]},
                "properties": {name: {"maximum": most} for name, most in SITTING.items() if most < inf},
            }
        }
    },
}
# What `check_hints` refuses, where the server's own games are rated.
HINTS_SCHEMA: dict[str, JsonValue] = {
    "if": {
        "properties": {"settings": {"properties": {"hints": {"const": True}}, "required": ["hints"]}},
        "required": ["settings"],
    },
    "then": {"properties": {"settings": {"properties": {"rated": {"const": False}}, "required": ["rated"]}}},
}


class WithSettings(BaseModel):
    """A request with settings of a room, which remembers those that are given."""

    settings: NewRoomSettings = Field(
        default_factory=NewRoomSettings, description="settings left out are taken from the server's settings"
    )
    _given: frozenset[str] = PrivateAttr(frozenset())

    @model_validator(mode="wrap")
    @classmethod
    def _note_what_is_given(cls, request: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        new = validate(request)
        new._given = frozenset(request.get("settings", ()))
        return new

    @property
    def given(self) -> dict[str, Any]:
        """The settings in the request, by name."""
        return {name: getattr(self.settings, name) for name in self._given}


class NewRoom(WithSettings):
    """A request to open a room."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "cup", "settings": {"length": "east", "fill": ["rule"], "spectator_delay": 60}}],
            "allOf": [SITTING_SCHEMA, HINTS_SCHEMA],
        },
    )

    name: RoomName = Field(
        json_schema_extra={"pattern": ROOM_WITH_BOTS},
        description=f"{ROOM_TEXT}, then +BOT for each house bot (at most two)",
    )
    settings: NewRoomSettings = Field(
        default_factory=NewRoomSettings,
        description="settings left out are taken from the server's settings. A room that is not permanent may set "
        + ", ".join(name if most == inf else f"{name} (at most {most:g})" for name, most in SITTING.items()),
    )
    permanent: Annotated[bool, Strict()] = Field(
        True,
        description="false: for one sitting; the room is closed once it is empty for a minute, and counts like those "
        "that bots open by joining them",
    )


def room_info(room: Room) -> RoomInfo:
    """A room as the API sends it."""
    settings = RoomSettingsInfo(**asdict(room.settings) | {"seed": None})
    return RoomInfo(
        name=room.name,
        settings=settings,
        waiting=len(room.waiting),
        waiting_names=[bot.join.name for bot in room.waiting],
        playing=room.playing,
        started=room.started,
        permanent=room.permanent,
        tournament=room.tournament,
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
    responses=problems(401, 403, 409, 411, 413, 422, 503),
)
async def open_room(lobby: LobbyHere, request: Request, new: NewRoom, given: Bearer, response: Response) -> RoomInfo:
    """A permanent room stays until it is closed or its `games` are played, also if the server is restarted.

    Only admins open one; a room that is not permanent, everybody who may play.
    """
    token = given.credentials if given else None
    if new.permanent:
        await lobby.tokens.authorize_admin(token)
    else:
        await lobby.tokens.authorize_player(token)
    if new.name in lobby.rooms:
        text = "room {name} is open, or still plays its last games: close it first, or wait"
        raise HTTPException(409, error_text("room_open", text, name=new.name))
    if lobby.tournaments.taken(new.name):
        text = "{name} is the name of a tournament: choose another"
        raise HTTPException(409, error_text("name_of_tournament", text, name=new.name))
    try:
        settings = settings_of(new.name, lobby.settings.room)
        if not new.permanent:
            check_sitting(new.given)
        settings = replace(settings, **new.given)
        check_hints(new.given, settings)
    except (AccessError, ValueError) as error:
        raise HTTPException(422, in_body(line_of(error))) from error
    if new.permanent:
        room = await lobby.rooms.open(new.name, settings)
    else:
        opened_by, linger = client_address(request), lobby.limits.linger
        room = await lobby.rooms.open(new.name, settings, permanent=False, opened_by=opened_by, linger=linger)
    if room.settings is not settings:  # opened by another request in the meantime
        raise HTTPException(409, error_text("room_open", "room {name} is open: close it first", name=new.name))
    if new.permanent:
        try:
            await lobby.store.save_room(new.name, asdict(settings))
        except StoreError:
            lobby.rooms.close(room)
            raise
    response.headers["Location"] = f"/api/rooms/{new.name}"
    return room_info(room)


@router.delete(
    "/{name}",
    summary="Close a room",
    status_code=204,
    responses=problems(401, 403, 404, 409, 411, 413, 422, 503),
)
async def close_room(lobby: LobbyHere, name: str, given: Bearer) -> None:
    """Waiting bots are disconnected; games being played are finished, and their results are stored. For admins.

    The name is free afterwards: a bot that joins it opens a new room with the server's own settings. The room
    `default` is opened again when the server starts.
    """
    await lobby.tokens.authorize_admin(given.credentials if given else None)
    room = find_open_room(lobby, name)
    if room.tournament:
        text = "room {name} is that of a tournament: DELETE /api/tournaments/{name} cancels it"
        raise HTTPException(409, error_text("room_of_tournament", text, name=name))
    await lobby.store.close_room(name)
    lobby.rooms.close(room)
