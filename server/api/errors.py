"""Whatever goes wrong becomes a status code and one line: {"detail": "…"}."""

from __future__ import annotations

import asyncio
import re
import reprlib
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from server.access import Full, Refused, TooMany, Unknown
from server.store import StoreError

STATUS: tuple[tuple[type[Refused], int], ...] = ((Unknown, 401), (TooMany, 429), (Full, 503), (Refused, 403))
SHOULD = re.compile(r"^(Input|String|Value) should")
log = structlog.get_logger("server.api")


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response that tells of a problem."""
    return JSONResponse({"detail": detail}, status, headers)


def of_refusal(refusal: Refused) -> JSONResponse:
    """The response to somebody who is refused."""
    status = next(status for kind, status in STATUS if isinstance(refusal, kind))
    headers = {}
    if isinstance(refusal, TooMany):
        headers["Retry-After"] = str(refusal.seconds)
    if isinstance(refusal, Unknown):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(status, str(refusal), headers)


async def deny(socket: WebSocket, response: JSONResponse) -> None:
    """Answer the handshake of a WebSocket with a problem."""
    await socket.send_denial_response(response)
    await asyncio.sleep(0)  # the connection is closed by then; else uvicorn logs that the handshake was forgotten


def missing(what: str, name: str) -> HTTPException:
    """To be raised where there is no such thing."""
    return HTTPException(404, f"there is no {what} {name[:80]!r}")


def described(fault: Mapping[str, Any]) -> str:
    """One of pydantic's errors in one line."""
    part, *path = fault["loc"]
    where, kind = ".".join(map(str, path)), fault["type"]
    if kind == "json_invalid":
        return f"body: not JSON ({fault['ctx']['error']} at character {where}); send one JSON object"
    if kind == "missing":
        return f"{part}: {where} is missing" if path else f"{part}: it is missing; send a JSON object"
    if kind == "extra_forbidden":
        return f"{part}: {where} is not known; /docs names what is"
    if kind == "model_attributes_type":
        return f"{part}: {where or 'it'} must be a JSON object, sent as application/json"
    what = SHOULD.sub("it should", fault["msg"].removeprefix("Value error, "))
    if kind.startswith(("datetime", "timezone")):
        what = "write a time like 2025-06-01T12:00:00Z"
    return f"{part}: {where} is {reprlib.repr(fault['input'])}; {what}"


async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    return problem(422, described(error.errors()[0]))


async def _refused(_: Request, refusal: Refused) -> JSONResponse:
    return of_refusal(refusal)


async def _no_store(_: Request, error: StoreError) -> JSONResponse:
    log.error("request not answered", error=str(error))  # it names the database: not for everybody
    return problem(503, "the database does not answer; try again later")


async def _failed(_: Request, __: Exception) -> JSONResponse:
    return problem(500, "the server failed; its log says why")


def handle_errors(app: FastAPI) -> None:
    """Answer with a problem whatever a route raises."""
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(Refused)(_refused)
    app.exception_handler(StoreError)(_no_store)
    app.exception_handler(Exception)(_failed)
