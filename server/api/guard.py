"""What is turned away before any route sees it: pages of other sites, and big bodies.

A web page can make its visitor's browser send requests and open WebSockets to any address, this machine's own included.
The browser then says in ``Origin`` which site the page is of; bots and other programs send none.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from server.api.errors import deny, problem

READING = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY = 65_536  # bytes


class Guard:
    """Lets, of web pages, only this server's own change anything or open a WebSocket.

    The name of another site may be made to point here (DNS rebinding); so where no token is needed, the server must be
    called by its address, by ``localhost`` or by the `host` it listens on.
    """

    def __init__(self, app: ASGIApp, host: str, tokens_needed: bool) -> None:
        self._app = app
        self._host = host
        self._tokens_needed = tokens_needed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's call."""
        if scope["type"] == "websocket":
            wrong = self._foreign(Headers(scope=scope))
        elif scope["type"] == "http" and scope["method"] not in READING:
            headers = Headers(scope=scope)
            wrong = self._foreign(headers) or big(headers)
        else:
            wrong = None
        if wrong is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await deny(WebSocket(scope, receive, send), wrong)
        else:
            await wrong(scope, receive, send)

    def _foreign(self, headers: Headers) -> JSONResponse | None:
        """The answer to a page of another site."""
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin is None:
            return None
        if not host or origin.partition("://")[2].lower() != host.lower():
            return problem(403, "web pages of other sites may not do that; use a page of this server, or no browser")
        if not self._tokens_needed and not self._is_own(host):
            return problem(403, "without tokens web pages may do that only under the server's address or localhost")
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a Host header cannot be the name of somebody else's site."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in ("localhost", self._host.lower()):
                return True
            ip_address(name)
        except ValueError:
            return False
        return True


def big(headers: Headers) -> JSONResponse | None:
    """The answer to a body that is too big, or may turn out to be."""
    if "transfer-encoding" in headers:
        return problem(411, "say how long the body is: Content-Length is missing")
    if int(headers.get("content-length", 0)) > MAX_BODY:
        return problem(413, f"the body is longer than {MAX_BODY:,} bytes")
    return None
