"""The HTTP API: HEAD, and methods that are not allowed."""

from __future__ import annotations

from pathlib import Path

from tests.support.running_server import Live, live
from tests.support.stored_games import make_game

ALLOWED = [  # a method that is not allowed, a path, what is allowed there
    ("PUT", "/api/rooms", "GET, HEAD, POST"),
    ("OPTIONS", "/api/rooms/a%2Fb", "DELETE, GET, HEAD"),
    ("POST", "/api/games/0123/record", "GET, HEAD"),
    ("DELETE", "/healthz", "GET, HEAD"),
    ("PATCH", "/metrics", "GET, HEAD"),
]


async def test_allow_lists_all_methods_of_a_path(at: Live) -> None:
    for method, path, allowed in ALLOWED:
        response = await at.http.request(method, path)
        assert (response.status_code, response.headers["allow"]) == (405, allowed), path
        assert response.json() == {"detail": "Method Not Allowed"}


async def test_head_is_answered_like_get_without_the_body(at: Live) -> None:
    await at.server.lobby.store.save_game(make_game())
    (game,) = (await at.get("/api/games"))["items"]
    one = f"/api/games/{game['id']}"
    for path in ("/api/rooms", "/api/rooms/default", one, f"{one}/record", "/api/players", "/healthz", "/api/nothing"):
        known = await at.http.get(path)
        response = await at.http.head(path)
        assert response.status_code == known.status_code == (404 if path == "/api/nothing" else 200), path
        assert response.content == b""
        for name in ("content-type", "content-length", "etag"):
            assert response.headers.get(name) == known.headers.get(name), (path, name)
    assert (await at.http.head("/metrics")).headers["content-type"].startswith("text/plain")


async def test_an_unknown_key_of_a_query_is_refused_and_the_known_ones_are_told(tmp_path: Path) -> None:
    known = "known are status, player, room, rules, since, until, cursor, limit"
    async with live(tmp_path) as here:
        assert await here.refused(422, "GET", "/api/games?plyer=x") == f"query: plyer is unknown; {known}"
        assert await here.refused(422, "GET", "/api/rooms/default?x=") == "query: x is unknown; this address takes none"
        assert await here.refused(422, "GET", "/healthz?%00=1") == "query: '\\x00' is unknown; this address takes none"
        assert (await here.refused(422, "GET", "/api/games/x/record?fromat=kita")).endswith("; known are format")
        assert (await here.http.head("/api/games?x=1")).status_code == 422
        await here.get("/api/games", player="x", limit=1)
