"""Games that are over: results and records."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from engine.mjai import dialects
from engine.records import mjai, tenhou_json
from engine.records.model import GameRecord
from server import store
from server.api.common import Cursor, Limit, LobbyHere, Page, Route, ServiceHere, problems, stored_page
from server.api.errors import missing

router = APIRouter(prefix="/api/games", tags=["games"], route_class=Route)
DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:", re.ASCII)


class Standing(BaseModel):
    """How a game ended for one seat."""

    name: str
    house: bool = Field(description="a house bot of the server")
    score: int
    rank: int = Field(description="1 to 3, no two alike")
    points: float = Field(description="final points, uma and oka included")
    penalty: float = Field(description="points deducted for faults, where the room does so")
    faults: int
    taken_over: bool = Field(description="a house bot played the seat to the end")


class Game(BaseModel):
    """A game that is over."""

    id: str
    room: str
    rules: str
    length: str
    started: datetime
    finished: datetime
    rounds: int
    decisions: int
    rated: bool = Field(description="false where one name had two seats")
    seats: list[Standing] = Field(description="seats 0 to 2")


@dataclass(frozen=True)
class Form:
    """A form that records are given out in."""

    media_type: str
    suffix: str
    write: Callable[[GameRecord], str] | None = None  # none: as the store has it
    cached: str = "public, max-age=3600"  # a translation may be mended one day


FormName = Literal["mjson", "tenhou", "libriichi3p", "kita"]
FORMS: dict[FormName, Form] = {
    "mjson": Form("application/gzip", ".mjson.gz", cached="public, max-age=31536000, immutable"),
    "tenhou": Form("application/json", ".json", tenhou_json.write),
    "libriichi3p": Form("application/x-ndjson", ".libriichi3p.mjson", lambda record: in_dialect(record, "libriichi3p")),
    "kita": Form("application/x-ndjson", ".kita.mjson", lambda record: in_dialect(record, "kita")),
}


def in_dialect(record: GameRecord, dialect: str) -> str:
    """A record in a dialect of mjai."""
    return dialects.write_log(record, dialect)


def translated(stored: bytes, source: str, form: Form) -> bytes:
    """A stored record in another form. Raises RecordError."""
    assert form.write is not None
    return form.write(mjai.read(gzip.decompress(stored).decode(), source)).encode()


def with_date(text: object) -> object:
    """A time as it is written, of which pydantic checks the rest: a number would be seconds since 1970 to it."""
    if isinstance(text, str) and not DATE_AND_TIME.match(text):
        raise PydanticCustomError("datetime", "no date and time")
    return text


def in_utc(time: datetime) -> datetime:
    """The same time in UTC. Raises ValueError where the calendar does not go so far."""
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is beyond the calendar") from error


Time = Annotated[AwareDatetime, BeforeValidator(with_date), AfterValidator(in_utc)]


@router.get("", summary="Games that are over, newest first", responses=problems(422, 503))
async def list_games(
    lobby: LobbyHere,
    player: Annotated[str | None, Query(description="with this player", examples=["wahaha"])] = None,
    room: Annotated[str | None, Query(description="of this room", examples=["default"])] = None,
    rules: Annotated[str | None, Query(description="by these rules", examples=["tenhou"])] = None,
    since: Annotated[Time | None, Query(description="finished then or later")] = None,
    until: Annotated[Time | None, Query(description="finished before")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Game]:
    """From page to page every game that was there at the first one comes once, whatever is stored meanwhile."""
    wanted = room and room.replace(" ", "+")  # a plus sign not encoded; rooms have no spaces
    page = await stored_page(partial(lobby.store.games, player, wanted, rules, since, until), cursor, limit)
    return Page[Game].model_validate(page, from_attributes=True)


async def stored_game(lobby: LobbyHere, game_id: str) -> store.StoredGame:
    """The game of that id. Raises HTTPException where there is none, or it is being played."""
    game = await lobby.store.game(game_id)
    if game is None and game_id in lobby.games:
        raise HTTPException(404, f"the game is still being played: see /api/sittings/{game_id}")
    if game is None:
        raise missing("game", game_id)
    return game


@router.get("/{game_id}", summary="One game", responses=problems(404, 422, 503))
async def get_game(lobby: LobbyHere, game_id: str) -> Game:
    """The result of a game."""
    return Game.model_validate(await stored_game(lobby, game_id), from_attributes=True)


@router.get(
    "/{game_id}/record",
    summary="The record of a game",
    response_class=Response,
    responses={
        200: {
            "description": "The record, as a file",
            "content": {form.media_type: {"schema": {"type": "string", "format": "binary"}} for form in FORMS.values()},
        },
        304: {"description": "It is what `If-None-Match` names"},
        **problems(404, 422, 429, 503),
    },
)
async def get_record(
    service: ServiceHere,
    request: Request,
    game_id: str,
    form_name: Annotated[
        FormName,
        Query(
            alias="format",
            description="`mjson`: one mjai event a line, gzipped, as it is kept, with bots' own remarks (`ext_bot`) "
            "and faults (`error`); `tenhou`: tenhou.net/6 JSON; `libriichi3p`, `kita`: those dialects of mjai",
        ),
    ] = "mjson",
) -> Response:
    """It names the seed of the game's walls, and shows every hand."""
    lobby = service.lobby
    lobby.access.download(request.client.host if request.client else "")
    data = await lobby.store.record(game_id)
    if data is None:
        await stored_game(lobby, game_id)
        raise missing("record of game", game_id)
    form = FORMS[form_name]
    if form.write is not None:
        async with service.translating:
            data = await asyncio.to_thread(translated, data, game_id, form)
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": form.cached}
    known = request.headers.get("if-none-match", "")
    if known == "*" or tag in known:
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = f'attachment; filename="{game_id}{form.suffix}"'
    return Response(data, media_type=form.media_type, headers=headers)
