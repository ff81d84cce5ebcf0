"""Record files that clients send: they are read in a worker process, and nothing of them is kept."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from engine.common.error_text import error_text, line_of
from server.addresses import limited_address
from server.api.common import Service, ServiceHere, UploadRoute, client_address, problems, takes_gzip
from server.api.records import BINARY, PIECE, Wall
from server.review_work import read
from server.worker import TaskStoppedError, Work, WorkerError, WorkerUnavailableError

TIMEOUT = 10.0  # seconds of work on one record
ZLIB_OF_GZIP = 31  # what zlib calls the format
# The body of a request, for OpenAPI.
RECORD_BODY: dict[str, Any] = {"content": {"application/octet-stream": {"schema": BINARY}}}
router = APIRouter(prefix="/api/records", tags=["reviews"], route_class=UploadRoute)


class RecordMessages(BaseModel):
    """A record as canonical mjai messages."""

    messages: list[dict[str, Any]] = Field(description="the events of the game, from `start_game` to `end_game`")
    problems: list[str] = Field(description="where the record departs from the rules, the first of them")
    problem_codes: list[dict[str, Any]] = Field(
        description="of each problem the `code`, `values` and `codes`, as of an error; empty for one that has none"
    )
    walls: list[Wall | None] = Field(description="of each round, by the seed of the record; null where it is not known")


class GzippedJson(Response):
    """Gzipped JSON: sent as it is, or unzipped piece by piece for a client that does not take it so."""

    media_type = "application/json"

    def __init__(self, gzipped: bytes, counted: ExitStack) -> None:
        """`counted` is closed when everything is sent, or the client is gone."""
        super().__init__(gzipped)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces, gzipped or not as the request's headers say."""
        as_it_is = takes_gzip(Headers(scope=scope))
        headers = [(b"content-type", b"application/json"), (b"vary", b"Accept-Encoding")]
        if as_it_is:
            headers += [(b"content-encoding", b"gzip"), (b"content-length", str(len(self.body)).encode())]
        with self._counted:
            await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
            for piece in pieces(bytes(self.body), as_it_is):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0)  # `send` does not wait for a client that reads fast, and there may be megabytes
            await send({"type": "http.response.body", "body": b""})


def pieces(gzipped: bytes, as_it_is: bool) -> Iterator[bytes]:
    """The data in pieces of at most PIECE bytes, unzipped unless it goes out as it is."""
    if as_it_is:
        yield from (gzipped[start : start + PIECE] for start in range(0, len(gzipped), PIECE))
        return
    unzip = zlib.decompressobj(ZLIB_OF_GZIP)
    left = gzipped
    while left and not unzip.eof:
        yield unzip.decompress(left, PIECE)
        left = unzip.unconsumed_tail
    yield unzip.flush()


async def read_body(request: Request) -> bytes:
    """The body of a request. Raises HTTPException where there is none, or the client is gone."""
    try:
        body = await request.body()
    except ClientDisconnect:
        raise HTTPException(400, "the connection was closed before the whole body had come") from None
    if not body:
        raise HTTPException(422, error_text("record_empty", "body: it is empty; send the bytes of a record file"))
    return body


async def done_in_turn(service: Service, address: str, work: Work, timeout: float) -> GzippedJson:
    """The result of work that a request needs, done when it is the turn of its address. Raises WorkerError."""
    party = limited_address(address)
    async with service.reading.held_by(party) as begin:
        try:
            return GzippedJson(await service.reader.run(work, timeout, begin=begin), ExitStack())
        except TaskStoppedError as error:
            service.reading.charge(party, error.restart)
            raise


@router.post(
    "",
    summary="Read a record",
    response_class=Response,
    responses={200: {"model": RecordMessages, "description": "The game's messages"}, **problems(403, 411, 422, 503)},
    openapi_extra={"requestBody": RECORD_BODY | {"required": True}},
)
async def read_record(service: ServiceHere, request: Request) -> Response:
    """The body is a record file: mjai in any dialect, mjlog or tenhou.net/6 JSON, gzipped or not. Nothing is kept.

    At most 262,144 bytes as they are sent, 4 MiB unzipped, 100 rounds; one at a time of an address. Addresses take
    turns: the next record is one of the address whose records have taken least time of late.
    """
    body = await read_body(request)
    try:
        return await done_in_turn(service, client_address(request), partial(read, data=body), TIMEOUT)
    except WorkerUnavailableError as error:
        raise HTTPException(503, str(error), {"Retry-After": "5"}) from error
    except WorkerError as error:
        raise HTTPException(422, error_text("record_unreadable", "{problem}", problem=line_of(error))) from error
