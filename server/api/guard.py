"""Middleware that refuses requests from web pages of other sites, and large bodies.

A web page can make its visitor's browser send requests and open WebSockets to any address, including this machine's
own. The browser then sends the page's site in ``Origin``; bots and other programs send no such header.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from server.api.errors import deny, problem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY = 65_536  # bytes


class Guard:
    """ASGI middleware: web pages may change something or open a WebSocket only if they come from this server.

    The name of another site can be made to resolve to this address (DNS rebinding). If no token is needed, the request
    must therefore name an address, ``localhost`` or the `host` that the server listens on.
    """

    def __init__(self, app: ASGIApp, host: str, tokens_needed: bool) -> None:
        self._app = app
        self._host = host
        self._tokens_needed = tokens_needed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with an error, or pass it on."""
        refusal = None
        if scope["type"] == "websocket":
            refusal = self._check_origin(Headers(scope=scope))
        elif scope["type"] == "http" and scope["method"] not in SAFE_METHODS:
            headers = Headers(scope=scope)
            refusal = self._check_origin(headers) or check_size(headers)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await deny(WebSocket(scope, receive, send), refusal)
        else:
            await refusal(scope, receive, send)

    def _check_origin(self, headers: Headers) -> JSONResponse | None:
        """The error response to a web page of another site, else None."""
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin is None:
            return None
        if not host or origin.partition("://")[2].lower() != host.lower():
            return problem(403, "web pages of other sites may not do this; use a page of this server, or no browser")
        if not self._tokens_needed and not self._is_own(host):
            return problem(403, "without tokens, web pages may do this only at the server's address or localhost")
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a Host header cannot be the name of another site."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in ("localhost", self._host.lower()):
                return True
            ip_address(name)
        except ValueError:
            return False
        return True


def check_size(headers: Headers) -> JSONResponse | None:
    """The error response to a body that is too large or of unknown length, else None."""
    if "transfer-encoding" in headers:
        return problem(411, "Content-Length is missing: send the length of the body")
    if int(headers.get("content-length", 0)) > MAX_BODY:
        return problem(413, f"the body is longer than {MAX_BODY:,} bytes")
    return None
