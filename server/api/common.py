"""What the routes share: the server's lobby, pages of lists, documented errors, and the route class."""

from __future__ import annotations

import asyncio
import hashlib
import reprlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from pydantic_core import from_json
from starlette.datastructures import Headers, QueryParams
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send

from engine.mjai.keys import MAX_SHOWN
from server import store
from server.lobby import Lobby
from server.puzzles import Puzzles
from server.reviews import Reviews
from server.store.cursors import Order
from server.used_time import LeastUsedFirst
from server.worker import Worker

Item = TypeVar("Item")


@dataclass(frozen=True)
class Service:
    """State that the routes of one server share."""

    lobby: Lobby
    reviews: Reviews
    puzzles: Puzzles
    reading: LeastUsedFirst  # held by the address whose record is read
    reader: Worker = field(default_factory=Worker)  # of uploaded records
    conversions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))  # of records: one uses a core

    async def close(self) -> None:
        """End the worker processes."""
        await self.puzzles.close()
        await self.reviews.close()
        await self.reader.close()


async def service_of(connection: HTTPConnection) -> Service:
    """The shared state of the server that received the request."""
    service: Service = connection.app.state.service
    return service


async def lobby_of(connection: HTTPConnection) -> Lobby:
    """The lobby of the server that received the request."""
    return (await service_of(connection)).lobby


def client_address(connection: HTTPConnection) -> str:
    """The address of a client, which `server.api.guard` has found out."""
    return connection.client.host if connection.client else ""


ServiceHere = Annotated[Service, Depends(service_of)]
LobbyHere = Annotated[Lobby, Depends(lobby_of)]
Cursor = Annotated[
    str | None,
    Query(json_schema_extra={"format": "cursor"}, description="`next_cursor` of the previous page; empty: the first"),
]
Limit = Annotated[int, Query(ge=1, le=200, description="items per page")]
CHUNK = 25  # items read from the store at once
ALLOWED = "nukidora.allowed"  # key in a scope: methods of the routes that match its path


class Page(BaseModel, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="requests the next page; null on the last page")


def respond(page: store.Page[Item]) -> Page[Item]:
    """A page as the API sends it."""
    return Page[Item].model_construct(items=page.items, next_cursor=page.next_cursor)


async def stored_page(
    read: Callable[..., Awaitable[store.Page[Item]]], cursor: str | None, limit: int, chunk: int = CHUNK
) -> Page[Item]:
    """A page of a list in the store, read in chunks so that games continue in between.

    `chunk`: items of one; more where each chunk is costly to find. `read` takes ``cursor`` and ``limit``. Raises
    HTTPException for a cursor that does not belong to the list.
    """
    items: list[Item] = []
    cursor = cursor or None
    try:
        while True:
            page = await read(cursor=cursor, limit=min(chunk, limit - len(items)))
            items += page.items
            cursor = page.next_cursor
            if cursor is None or len(items) == limit:
                return respond(store.Page(items, cursor))
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


def read_cursor(order: Order[Any], cursor: str | None) -> tuple[Any, ...] | None:
    """The sort keys in the cursor of a list in memory. Raises HTTPException if it does not belong to the list."""
    try:
        return tuple(order.read(cursor)) if cursor else None
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


def short_text(key: str | int) -> str:
    """A key that a client has sent, or an index, in a few printable characters."""
    text = str(key)
    return text if text.isprintable() and len(text) <= MAX_SHOWN else reprlib.repr(text)


class Problem(BaseModel):
    """An error."""

    detail: str = Field(description="one line: what is wrong, where, and how to fix it")
    code: str = Field("", description="what is wrong, as a word that stays the same; some errors have none")
    values: dict[str, str | float] = Field({}, description="what stands in that line, by names, where there is a code")
    codes: dict[str, Any] = Field(
        {}, description="`code`, `values` and `codes` of those values that are lines themselves"
    )


PROBLEMS = {
    401: "An admin token is needed, or the token is unknown",
    403: "The token is not an admin token, or the request comes from a web page of another site",
    404: "Not found",
    409: "The name is that of an open room or of a tournament; the review is not done, the tournament not over",
    411: "The request has a body but no `Content-Length`",
    413: "The body is too large, or the request needs none",
    422: "Something in the request is invalid",
    429: "Too many requests; `Retry-After` is the number of seconds to wait",
    503: "The database does not answer, or the server is full or too busy",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for OpenAPI."""
    return {code: {"model": Problem, "description": PROBLEMS[code]} for code in codes}


class JsonRequest(Request):
    """A request whose body is JSON as RFC 8259 has it: in UTF-8, without NaN, and not nested without end."""

    async def json(self) -> Any:
        """The body. Raises HTTPException."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(422, f"body: not JSON ({error}); send one JSON object, in UTF-8") from error


class Route(APIRoute):
    """The route class of the API.

    The raw path is matched, and its parameters are decoded afterwards, so that a name may contain a slash, sent as %2F.
    HEAD is answered like GET (the server sends no body then); it is not in `methods`, so that OpenAPI does not list it.
    A query may have no other keys than the route's: a filter that is misspelt would otherwise select everything.
    A 405 response lists in ``Allow`` the methods of all routes with that path. A body is read by `JsonRequest`.
    """

    methods: set[str]  # Starlette's own routes may have None
    reads_body = False  # whether the endpoint reads the body itself, as bytes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route matches. Starlette calls this for one route after the other until one matches."""
        if scope["type"] != "http":
            return Match.NONE, {}
        match, found = super().matches(with_raw_path(as_get(scope)))
        if match is Match.PARTIAL:
            scope.setdefault(ALLOWED, set()).update(self.methods, {"HEAD"} if "GET" in self.methods else ())
        if "path_params" in found:
            found["path_params"] = {key: unquote(value) for key, value in found["path_params"].items()}
        return match, found

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request. FastAPI calls this once."""
        answer = super().get_route_handler()

        async def answer_json(request: Request) -> Response:
            return await answer(JsonRequest(request.scope, request.receive))

        return answer_json

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Starlette calls this, also if no route with this path has the method."""
        headers = Headers(scope=scope)
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        closing = {"Connection": "close"} if has_body else {}  # the body is not read
        if as_get(scope)["method"] not in self.methods:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(scope[ALLOWED])), **closing})
        if has_body and self.body_field is None and not self.reads_body:
            detail = f"a {scope['method']} request has no body here: send it without one"
            raise HTTPException(413, detail, closing)
        self._check_query(scope)
        await super().handle(as_get(scope), receive, closing_if_refused(send) if has_body and self.reads_body else send)

    def _check_query(self, scope: Scope) -> None:
        known = [parameter.alias for parameter in self.dependant.query_params]
        for key in QueryParams(scope["query_string"]):
            if key not in known:
                told = f"known are {', '.join(known)}" if known else "this address takes none"
                raise HTTPException(422, f"query: {short_text(key)} is unknown; {told}")


class UploadRoute(Route):
    """The route class of endpoints that are sent files."""

    reads_body = True


def closing_if_refused(send: Send) -> Send:
    """`send`, which also closes the connection after an error: what the client still sends of its body is not read."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return closing


def digest(content: bytes) -> str:
    """Names a content."""
    return hashlib.sha256(content).hexdigest()[:32]


def has_content(headers: Headers, tag: str) -> bool:
    """Whether the sender of a request has the content with that ETag already."""
    known = headers.get("if-none-match", "")
    return known == "*" or tag in known


def takes_gzip(headers: Headers) -> bool:
    """Whether the sender of a request takes gzipped content."""
    return "gzip" in map(str.strip, headers.get("accept-encoding", "").split(","))


def as_get(scope: Scope) -> Scope:
    """The scope of a request, with GET in place of HEAD."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def with_raw_path(scope: Scope) -> Scope:
    """The scope of a request with the path as it was sent: a slash in a name is %2F there."""
    return {**scope, "path": scope["raw_path"].decode("latin-1")}
