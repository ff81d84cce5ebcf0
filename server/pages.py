"""The web pages: one HTML shell for all of them with the tiles of `engine.svg`, and the files of `server/web`.

A page is a row of PAGES: its path, its title, and the name of its module in `server/web`, which fills the page in the
browser from the HTTP API and the WebSockets. All files are read when the server starts, and nothing else is ever sent.

A page refers to its files under a folder named by the hash of all of them, `/web/HASH/`, so that a browser can cache
them indefinitely and never mixes files of two versions. Without the hash, the newest files are sent.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from agents.review.modules import with_imports
from engine.common.program import version
from engine.svg import sprite
from server.api.common import digest, has_content, takes_gzip, with_raw_path
from server.api.errors import raised

WEB = Path(__file__).parent / "web"
PAGES = {
    "/": ("Lobby", "lobby"),
    "/games/{id}": ("Game", "game"),
    "/games/{id}/review": ("Review", "review"),
    "/view": ("View a record", "view"),
    "/position": ("Analyse a position", "position"),
    "/puzzle": ("Puzzle of the day", "puzzle"),
    "/rooms": ("Rooms", "rooms"),
    "/rooms/{name}/play": ("Play", "play"),
    "/tournaments": ("Tournaments", "tournaments"),
    "/tournaments/{name}": ("Tournament", "tournament"),
    "/players": ("Players", "players"),
    "/players/{name}": ("Player", "player"),
}
SHELL = """\
<!doctype html>
<html lang="en" data-version="{version}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · nukidora</title>
<link rel="icon" href="{folder}/icon.svg">
<link rel="stylesheet" href="{folder}/style.css">
{scripts}
</head>
<body>
{sprite}
<main>{main}</main>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
"""
MISSING = """<h1>404</h1>
<p>There is no such page. <a href="/">Lobby</a></p>
<p lang="ja">このページはありません。<a href="/">ロビー</a></p>"""
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}
NEWEST = "no-cache"  # the browser revalidates its copy each time
FOR_EVER = "public, max-age=31536000, immutable"


class File:
    """A file sent to browsers, plain and gzipped."""

    def __init__(
        self,
        content: bytes,
        suffix: str,
        cache_control: str = NEWEST,
        status: int = 200,
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        self._content = content
        self._gzipped = gzip.compress(content, mtime=0)
        self._tag = f'W/"{digest(content)}"'
        self._headers = {**headers} | {"ETag": self._tag, "Cache-Control": cache_control}
        self._media_type = MEDIA_TYPES[suffix]
        self._status = status

    async def respond(self, request: Request) -> Response:
        """The response to a request."""
        if has_content(request.headers, self._tag):
            return Response(status_code=304, headers=self._headers)
        content, headers = self._content, self._headers
        if takes_gzip(request.headers):
            content, headers = self._gzipped, headers | {"Content-Encoding": "gzip"}
        return Response(content, self._status, headers, self._media_type)


class PageRoute(Route):
    """A route that matches the path undecoded: a slash in a name is %2F."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path as it was sent, and HTTP only."""
        return super().matches(with_raw_path(scope)) if scope["type"] == "http" else (Match.NONE, {})


def read_files() -> dict[str, bytes]:
    """The files of the pages by their names. ``style.css`` is all of `server/web/css`, in the order of the names."""
    files = {file.name: file.read_bytes() for file in sorted(WEB.glob("*.*"))}
    return files | {"style.css": b"".join(file.read_bytes() for file in sorted((WEB / "css").glob("*.css")))}


@cache  # tests start a thousand servers
def page_routes() -> tuple[BaseRoute, ...]:
    """The routes of all pages and of the files they load."""
    routes = []
    files = read_files()
    folder = "/web/" + digest(b"".join(name.encode() + content for name, content in sorted(files.items())))
    for path, (title, module) in PAGES.items():
        # The browser requests all modules at once instead of one after another as it reads their imports.
        modules = list(with_imports(f"{module}.js", lambda name: files[name].decode()))
        links = [f'<link rel="modulepreload" href="{folder}/{name}">' for name in modules[1:]]
        scripts = "\n".join([*links, f'<script type="module" src="{folder}/{module}.js"></script>'])
        shell = SHELL.format(title=title, version=version(), folder=folder, scripts=scripts, sprite=sprite(), main="")
        routes.append(PageRoute(path, File(shell.encode(), ".html").respond))
    for name, content in files.items():
        suffix = Path(name).suffix
        routes.append(PageRoute(f"{folder}/{name}", File(content, suffix, FOR_EVER).respond))
        routes.append(PageRoute(f"/web/{name}", File(content, suffix).respond))
    return tuple(routes)


NO_PAGE = File(
    SHELL.format(title="404", version=version(), folder="/web", scripts="", sprite="", main=MISSING).encode(),
    ".html",
    status=404,
)


async def missing_page(request: Request, error: Exception) -> Response:
    """Return the 404 response: a page if the browser accepts one, else JSON."""
    assert isinstance(error, HTTPException)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        return await NO_PAGE.respond(request)
    return await raised(request, error)
