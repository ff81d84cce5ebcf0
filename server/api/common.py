"""What the routes share: the lobby they speak for, pages of lists, how problems are documented."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.requests import HTTPConnection
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from server import store
from server.api.health import Health
from server.lobby import Lobby
from server.spectators import SendThrottle
from server.store.cursors import Order

Item = TypeVar("Item")


@dataclass(frozen=True)
class Service:
    """What the routes of one server share."""

    lobby: Lobby
    health: Health
    throttle: SendThrottle = field(default_factory=SendThrottle)  # of spectators
    translating: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))  # it takes the processor


async def service_of(connection: HTTPConnection) -> Service:
    """What the routes of the server that is asked share."""
    service: Service = connection.app.state.service
    return service


async def lobby_of(connection: HTTPConnection) -> Lobby:
    """The lobby of the server that is asked."""
    return (await service_of(connection)).lobby


ServiceHere = Annotated[Service, Depends(service_of)]
LobbyHere = Annotated[Lobby, Depends(lobby_of)]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before")]
Limit = Annotated[int, Query(ge=1, le=200, description="items of a page")]
STEP = 50  # items read from the store at once
ALLOWED = "nukidora.allowed"  # in a scope: methods of the routes that fit but for the method


class Page(BaseModel, Generic[Item]):
    """Part of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="asks for what follows; null where nothing does")


async def stored_page(
    ask: Callable[..., Awaitable[store.Page[Item]]], cursor: str | None, limit: int
) -> store.Page[Item]:
    """A page of a list of the store, read in steps, so that games go on in between.

    `ask` takes ``cursor`` and ``limit``. Raises HTTPException for a cursor that is not of the list.
    """
    items: list[Item] = []
    try:
        while True:
            page = await ask(cursor=cursor, limit=min(STEP, limit - len(items)))
            items += page.items
            cursor = page.next_cursor
            if cursor is None or len(items) == limit:
                return store.Page(items, cursor)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


def read_cursor(order: Order[Any], cursor: str | None) -> tuple[Any, ...] | None:
    """The keys in the cursor of a list of what is going on. Raises HTTPException where it is not of this list."""
    try:
        return None if cursor is None else tuple(order.read(cursor))
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


class Problem(BaseModel):
    """What went wrong."""

    detail: str = Field(description="one line: what is wrong, where, and how to mend it")


PROBLEMS = {
    401: "An admin token is needed, or the token is unknown",
    403: "The token is not an admin's, or the request comes from a web page of another site",
    404: "There is nothing of that name",
    409: "A room of that name is open",
    411: "The length of the body is not said",
    413: "The body is too big",
    422: "Something in the request cannot be understood",
    429: "Too many requests; `Retry-After` says in how many seconds to try again",
    503: "The database does not answer, or the server is full",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, as OpenAPI is told."""
    return {code: {"model": Problem, "description": PROBLEMS[code]} for code in codes}


class Route(APIRoute):
    """A route as all are here.

    Its path is read as it was sent, and decoded afterwards: a name may hold a slash, written %2F. It answers HEAD as
    it does GET (the server sends no body then), which its `methods` do not say, so that the document has no HEAD. What
    is not allowed at a path is answered with what is, by all routes there.
    """

    methods: set[str]  # of starlette's own routes it may be None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route fits; starlette's call, for one route after the other until one fits."""
        if scope["type"] != "http":
            return Match.NONE, {}
        match, found = super().matches({**as_get(scope), "path": scope["raw_path"].decode("latin-1")})
        if match is Match.PARTIAL:
            scope.setdefault(ALLOWED, set()).update(self.methods, {"HEAD"} if "GET" in self.methods else ())
        if "path_params" in found:
            found["path_params"] = {key: unquote(value) for key, value in found["path_params"].items()}
        return match, found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; starlette's call, also where no route of the path allows the method."""
        if as_get(scope)["method"] not in self.methods:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(scope[ALLOWED]))})
        await super().handle(as_get(scope), receive, send)


def as_get(scope: Scope) -> Scope:
    """A request, GET in place of HEAD."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
