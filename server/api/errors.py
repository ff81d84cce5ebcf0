"""Turns every exception into a status code and one line, ``{"detail": "…"}``; pages know it by its ``code``."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse

from engine.common.error_text import coded, error_text, line_of, with_text
from server.access import AccessError, RateLimitError, UnauthorizedError
from server.api.common import short_text
from server.store import StoreError

# Kinds of pydantic's errors that forms of pages can meet -> the key of the limit among what pydantic says of one.
LIMITS = {
    "greater_than": "gt",
    "greater_than_equal": "ge",
    "less_than_equal": "le",
    "multiple_of": "multiple_of",
    "too_long": "max_length",
    "string_too_long": "max_length",
    "string_pattern_mismatch": "pattern",
    "literal_error": "expected",
    "float_type": "",
    "int_type": "",
    "int_from_float": "",
    "string_type": "",
    "bool_type": "",
}
SHOULD = re.compile(r"^(Input|String|Value) should")
log = structlog.get_logger("server.api")


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error response; with the code and values of an ErrorText."""
    return JSONResponse({"detail": detail} | coded(detail), status, headers)


def access_problem(error: AccessError) -> JSONResponse:
    """The response to a request that is refused."""
    headers = {}
    if isinstance(error, RateLimitError):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, UnauthorizedError):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(error.status, error.text, headers)


def not_found(what: str, name: str) -> HTTPException:
    """The exception to raise for a name or id that does not exist."""
    text = "there is no {what} {name!r}"
    return HTTPException(404, error_text(f"no_{what.replace(' ', '_')}", text, what=what, name=name[:80]))


def in_body(line: str) -> str:
    """A line on something in the body of a request, which says so; its code is the same."""
    return with_text(line, f"body: {line}")


def describe(error: Mapping[str, Any]) -> str:
    """One of pydantic's errors as one line."""
    part, *path = error["loc"]
    where, kind = ".".join(map(short_text, path)), error["type"]
    if kind == "missing" and path:
        return error_text("missing", "{part}: {where} is missing", part=part, where=where)
    if kind == "missing":
        return f"{part}: it is missing; send a JSON object"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return error_text("unknown", "{part}: {where} is unknown; see /docs", part=part, where=where)
    if kind in ("model_attributes_type", "dataclass_type"):
        return f"{part}: {where or 'it'} must be a JSON object, sent as application/json"
    given = reprlib.repr(error["input"])
    text = "{part}: {where} is {given}; {what}"
    return error_text("invalid", text, part=part, where=where, given=given, what=expected(error))


def expected(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, by one of pydantic's errors."""
    kind, details = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return line_of(details["error"])
    if kind.startswith(("datetime", "timezone")):
        return error_text("time_wrong", "write a time like 2025-06-01T12:00:00Z")
    if kind.startswith("date_"):
        return error_text("date_wrong", "write a date like 2025-06-01")
    what = SHOULD.sub("it should", error["msg"])
    if kind not in LIMITS:
        return what
    return error_text(f"value_{kind}", "{what}", what=what, limit=details.get(LIMITS[kind], ""))


async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    return problem(422, describe(error.errors()[0]))


async def raised(_: Request, error: StarletteHTTPException) -> JSONResponse:
    """The response to an HTTPException."""
    return problem(error.status_code, error.detail, error.headers)


async def _refused(_: Request, error: AccessError) -> JSONResponse:
    return access_problem(error)


async def _store_failed(_: Request, error: StoreError) -> JSONResponse:
    log.error("request not answered", error=str(error))  # it contains the database's address: not for clients
    return problem(503, error_text("database", "the database does not answer; try again later"))


async def _failed(_: Request, __: Exception) -> JSONResponse:
    return problem(500, error_text("internal", "internal error; see the server's log"))


def handle_errors(app: FastAPI) -> None:
    """Install the handlers for all exceptions that routes raise."""
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(StarletteHTTPException)(raised)
    app.exception_handler(AccessError)(_refused)
    app.exception_handler(StoreError)(_store_failed)
    app.exception_handler(Exception)(_failed)
