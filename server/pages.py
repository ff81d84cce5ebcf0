"""The web pages: one HTML shell for all of them, and the files of `server/web`.

A page is a row of PAGES: its path, its title, and the name of its module in `server/web`, which fills it from the HTTP
API and the WebSockets in the browser. All files are read when the server starts.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

WEB = Path(__file__).parent / "web"
PAGES = {
    "/": ("Lobby", "lobby"),
    "/games/{id}": ("Game", "game"),
    "/games/{id}/review": ("Review", "review"),
    "/view": ("View a record", "view"),
    "/rooms": ("Rooms", "rooms"),
    "/rooms/{name}/play": ("Play", "play"),
    "/players": ("Players", "players"),
    "/players/{name}": ("Player", "player"),
}
SHELL = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · nukidora</title>
<link rel="icon" href="/web/icon.svg">
<link rel="stylesheet" href="/web/style.css">
<script type="module" src="/web/{module}.js"></script>
</head>
<body>
{sprite}
<main></main>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
"""
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # the browser asks each time whether its copy is the newest
    "Vary": "Accept-Encoding",
}


class File:
    """A file that browsers are sent, as it is and gzipped."""

    def __init__(self, content: bytes, suffix: str) -> None:
        self._content = content
        self._gzipped = gzip.compress(content, mtime=0)
        self._headers = HEADERS | {"ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
        self._media_type = MEDIA_TYPES[suffix]

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        if self._headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self._headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers = self._headers | {"Content-Encoding": "gzip"}
            return Response(self._gzipped, headers=headers, media_type=self._media_type)
        return Response(self._content, headers=self._headers, media_type=self._media_type)


def page_routes() -> Iterator[BaseRoute]:
    """The routes of all pages and of the files they load. ``style.css`` is all of `server/web/css`, by name."""
    sprite = (WEB / "tiles.svg").read_text()
    for path, (title, module) in PAGES.items():
        shell = SHELL.format(title=title, module=module, sprite=sprite)
        yield Route(path, File(shell.encode(), ".html").__call__)
    style = b"".join(file.read_bytes() for file in sorted((WEB / "css").glob("*.css")))
    yield Route("/web/style.css", File(style, ".css").__call__)
    for file in sorted(WEB.glob("*.*")):
        yield Route(f"/web/{file.name}", File(file.read_bytes(), file.suffix).__call__)
