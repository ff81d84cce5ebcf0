"""Middleware that refuses requests: too many, of web pages of other sites, with bodies too large, or too many files."""

from __future__ import annotations

from contextlib import ExitStack

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.common.error_text import error_text
from server.access import Access, AccessError
from server.api.errors import access_problem, problem
from server.api.origins import Origins
from server.fairness import OnePerIteration

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FILES = "/web/"  # of the pages (`server.pages`)
# Requests that a file counts as: it is sent from memory. A page has some 40 files, and several people who look for the
# first time may have one address.
FILE = 0.1
MAX_BODY = 8192  # bytes: all settings of a room, and no thousand unknown ones
MAX_UPLOAD = 262_144  # bytes of a record, which pages send gzipped
UPLOADS = frozenset({"/api/records", "/api/reviews"})  # paths to which records are sent
ONLY_POSTED = UPLOADS | {"/api/positions"}  # paths that have no other method than POST


class Guard:
    """ASGI middleware. It lets one request begin in an iteration of the event loop, so that no game is delayed.

    A refused request's connection is closed: what the client still sends of its body is not read.
    """

    def __init__(self, app: ASGIApp, access: Access, origins: Origins) -> None:
        self._app = app
        self._access = access
        self._origins = origins
        self._one_per_iteration = OnePerIteration()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with an error, or pass it on."""
        await self._one_per_iteration.wait()
        headers = Headers(scope=scope)
        forwarded_for = ", ".join(headers.getlist("x-forwarded-for"))
        address = self._access.proxies.client(scope["client"][0], forwarded_for)
        scope["client"] = (address, 0)
        cost = FILE if scope["path"].startswith(FILES) else 1.0
        refusal = self._check_rate(address, cost) or self._check_origin(scope, headers) or check_body(scope, headers)
        with ExitStack() as upload:
            if refusal is None and scope["path"] in UPLOADS and headers.get("content-length", "0") != "0":
                refusal = self._check_upload(address, upload)
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                refusal.headers["Connection"] = "close"
                await refusal(scope, receive, send)

    def _check_upload(self, address: str, upload: ExitStack) -> JSONResponse | None:
        """Count a record until `upload` is closed; the error response if there are too many, else None."""
        try:
            upload.enter_context(self._access.uploading(address))
        except AccessError as error:
            return access_problem(error)
        return None

    def _check_rate(self, address: str, cost: float) -> JSONResponse | None:
        """The error response to an address that sends too many requests, else None."""
        try:
            self._access.request(address, cost)
        except AccessError as error:
            return access_problem(error)
        return None

    def _check_origin(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """The error response to a web page of another site that would change something, else None."""
        if scope["method"] in SAFE_METHODS:
            return None
        refusal = self._origins.refusal(headers.get("origin"), headers.get("host", ""))
        return problem(403, error_text("origin", "{problem}", problem=refusal)) if refusal else None


def check_body(scope: Scope, headers: Headers) -> JSONResponse | None:
    """The error response to a body that is too large or of unknown length, or where none belongs; else None.

    DELETE, and all methods of ONLY_POSTED, are left to the route (`server.api.common`): a path without that method is
    answered with 405.
    """
    length = int(headers.get("content-length", 0))
    has_body = length > 0 or "transfer-encoding" in headers
    if scope["method"] in SAFE_METHODS and scope["path"] not in ONLY_POSTED and has_body:
        return problem(413, f"a {scope['method']} request has no body here: send it without one")
    if "transfer-encoding" in headers and scope["method"] != "DELETE":
        return problem(411, "Content-Length is missing: send the length of the body")
    longest = MAX_UPLOAD if scope["path"] in UPLOADS else MAX_BODY
    if length > longest:
        return problem(413, error_text("too_long", "the body is longer than {n:,} bytes", n=longest))
    return None
