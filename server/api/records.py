"""Downloads of game records in several formats."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from engine.common.error_text import error_text
from engine.records import mjai, tenhou_json
from engine.records.model import GameRecord
from engine.records.wall import true_walls
from server.api.common import Route, Service, ServiceHere, client_address, digest, has_content, problems
from server.api.errors import not_found
from server.api.games import live_broadcast

router = APIRouter(prefix="/api/games", tags=["games"], route_class=Route)


@dataclass(frozen=True)
class Format:
    """A format of downloaded records."""

    media_type: str
    suffix: str
    write: Callable[[GameRecord], str] | None = None  # None: sent as stored
    cache_control: str = "public, max-age=3600"  # a later version may convert differently


FormatName = Literal["mjson", "tenhou", "libriichi3p", "kita"]
FORMATS: dict[FormatName, Format] = {
    "mjson": Format("application/gzip", ".mjson.gz", cache_control="public, max-age=31536000, immutable"),
    "tenhou": Format("application/json", ".json", tenhou_json.write),
    "libriichi3p": Format("application/x-ndjson", ".libriichi3p.mjson", partial(mjai.write, dialect="libriichi3p")),
    "kita": Format("application/x-ndjson", ".kita.mjson", partial(mjai.write, dialect="kita")),
}
WALLS = Format("application/json", ".walls.json", lambda record: to_json({"walls": true_walls(record)}).decode())
PIECE = 32_768  # bytes of a response written at once
BINARY = {"type": "string", "format": "binary"}
JSON_OBJECT = {"type": "object"}


class Wall(BaseModel):
    """The wall of a round without the deal, in mjai's names."""

    draws: list[str] = Field(description="all live draws, in order; each replacement takes the last one away")
    replacements: list[str] = Field(description="the tiles drawn after kan and nukidora, in order")
    dora: list[str] = Field(description="dora indicators in the order in which they are turned over")
    ura: list[str] = Field(description="the ura indicators under them")


class Walls(BaseModel):
    """The walls of a game."""

    walls: list[Wall | None] = Field(description="of each round; null where it is not known")


class Download(Response):
    """A response in pieces: the next one is written when the client has read most of those before it."""

    def __init__(self, data: bytes, media_type: str, headers: dict[str, str], counted: ExitStack) -> None:
        """`counted` is closed when everything is sent, or the client is gone."""
        super().__init__(data, media_type=media_type, headers=headers)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces."""
        with self._counted:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for start in range(0, len(self.body), PIECE):
                piece = self.body[start : start + PIECE]
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


def convert(stored: bytes, source: str, write: Callable[[GameRecord], str]) -> bytes:
    """A stored record in another format. Raises RecordError, which names `source`."""
    return write(mjai.read(gzip.decompress(stored).decode(), source)).encode()


async def stored_or_converted(service: Service, game_id: str, chosen: Format) -> bytes | None:
    """A stored record in a format; None if there is none. Records that wait for their conversion are not read yet."""
    if chosen.write is None:
        return await service.lobby.store.record(game_id)
    async with service.conversions:
        data = await service.lobby.store.record(game_id)
        return None if data is None else await asyncio.to_thread(convert, data, game_id, chosen.write)


@router.get(
    "/{game_id}/record",
    summary="The record of a finished game",
    response_class=Response,
    responses={
        200: {
            "description": "The record, as a file",
            "content": {
                known.media_type: {"schema": BINARY if known.media_type != "application/json" else JSON_OBJECT}
                for known in FORMATS.values()
            },
        },
        304: {"description": "The client has this version already (`If-None-Match`)"},
        **problems(404, 422, 429, 503),
    },
)
async def get_record(
    service: ServiceHere,
    request: Request,
    game_id: str,
    format_name: Annotated[
        FormatName,
        Query(
            alias="format",
            description="`mjson`: one mjai event a line, gzipped, as stored, with the bots' annotations (`ext_bot`) "
            "and faults (`error`); `tenhou`: tenhou.net/6 JSON; `libriichi3p`, `kita`: those dialects of mjai",
        ),
    ] = "mjson",
) -> Response:
    """A record contains the seed of the game's walls, and all hands."""
    return await download(service, request, game_id, FORMATS[format_name])


@router.get(
    "/{game_id}/walls",
    summary="The walls of a finished game",
    response_class=Response,
    responses={
        200: {"model": Walls, "description": "The wall of each round"},
        304: {"description": "The client has this version already (`If-None-Match`)"},
        **problems(404, 422, 429, 503),
    },
)
async def get_walls(service: ServiceHere, request: Request, game_id: str) -> Response:
    """What would have come: the tiles that follow from the seed in the game's record. It counts as a download."""
    return await download(service, request, game_id, WALLS)


async def download(service: Service, request: Request, game_id: str, chosen: Format) -> Response:
    """The response with the record of a finished game. Raises HTTPException."""
    lobby = service.lobby
    with ExitStack() as counted:
        counted.enter_context(lobby.access.downloading(client_address(request)))
        data = await stored_or_converted(service, game_id, chosen)
        if data is None and live_broadcast(lobby, game_id) is not None:
            text = "the game is still being played: see /api/games/{id}"
            raise HTTPException(404, error_text("game_playing", text, id=game_id))
        if data is None:
            raise not_found("game", game_id)
        tag = f'"{digest(data)}"'
        headers = {"ETag": tag, "Cache-Control": chosen.cache_control}
        if has_content(request.headers, tag):
            return Response(status_code=304, headers=headers)
        headers["Content-Disposition"] = f'attachment; filename="{game_id}{chosen.suffix}"'
        return Download(data, chosen.media_type, headers, counted.pop_all())
