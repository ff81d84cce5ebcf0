"""Access control of the HTTP API: web pages of other sites, and admin tokens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.running_server import Live, live
from tests.support.websocket_frames import upgrade_request

# Web pages ------------------------------------------------------------------------------------------------------------

HERE = "127.0.0.1:8000"
ORIGINS = [  # Host, Origin, may act without tokens, may act where tokens are needed
    (HERE, None, True, True),
    (HERE, f"http://{HERE}", True, True),
    ("localhost:8000", "http://LOCALHOST:8000", True, True),
    ("[::1]:8000", "http://[::1]:8000", True, True),
    ("mjai.example", None, True, True),
    ("mjai.example", "https://mjai.example", False, True),  # may be another site's name for this address
    (HERE, "http://mjai.example", False, False),
    (HERE, "http://127.0.0.1:3000", False, False),
    (HERE, "null", False, False),
    (HERE, "", False, False),
    ("mjai.example@127.0.0.1:8000", "http://mjai.example@127.0.0.1:8000", True, True),
]


@pytest.mark.usefixtures("no_error_is_logged")
@pytest.mark.parametrize("access", ["open", "token"])
async def test_web_pages_of_other_sites_are_refused(tmp_path: Path, access: str) -> None:
    async with live(tmp_path, access=access) as at:
        token = await at.server.lobby.store.add_token("boss", admin=True)
        game = "/api/games/none/events"
        for number, (host, origin, *allowed) in enumerate(ORIGINS):
            may = allowed[access == "token"]
            headers = {"Host": host, "Authorization": f"Bearer {token}"}
            if origin is not None:
                headers["Origin"] = origin
            assert (await at.http.get("/api/rooms", headers=headers)).status_code == 200
            response = await at.http.post("/api/rooms", json={"name": f"r{number}"}, headers=headers)
            assert response.status_code == (201 if may else 403), (host, origin)
            response = await at.http.delete(f"/api/rooms/r{number}", headers=headers)
            assert response.status_code == (204 if may else 403), (host, origin)
            for path, opened in ((game, 404), ("/mjai/default", 101)):
                assert await shake_hands(at, path, host, origin) == (opened if may else 403), (path, host, origin)


async def shake_hands(at: Live, path: str, host: str, origin: str | None) -> int:
    """The status of the response to a WebSocket handshake."""
    reader, writer = await asyncio.open_connection("127.0.0.1", at.server.port)
    headers = f"Origin: {origin}\r\n" if origin is not None else ""
    writer.write(upgrade_request(path, host=host, headers=headers))
    status = int((await reader.readline()).split()[1])
    writer.transport.abort()
    return status


# Tokens ---------------------------------------------------------------------------------------------------------------


async def test_only_admins_open_and_close_rooms_if_tokens_are_needed(tmp_path: Path) -> None:
    async with live(tmp_path, access="token") as at:
        boss = await at.server.lobby.store.add_token("boss", admin=True)
        bot = await at.server.lobby.store.add_token("aki")
        new: Any = {"json": {"name": "a"}}
        for method, path, options in (("POST", "/api/rooms", new), ("DELETE", "/api/rooms/default", {})):
            for status, scheme, token, detail in (
                (401, "", "", "an admin token is needed: send it as Authorization: Bearer TOKEN"),
                (401, "Basic", boss, "an admin token is needed"),
                (401, "Bearer", boss[:-1], "the token is unknown or revoked"),
                (403, "Bearer", bot, "the token of 'aki' is not an admin token"),
            ):
                headers = {"Authorization": f"{scheme} {token}"} if scheme else {}
                assert (await at.refused(status, method, path, headers=headers, **options)).startswith(detail)
            response = await at.http.request(method, path, **options)
            assert response.headers["www-authenticate"] == "Bearer"
            response = await at.http.request(method, path, headers={"Authorization": f"bearer {boss}"}, **options)
            assert response.status_code in (201, 204)
        assert (await at.http.get("/api/rooms/a")).status_code == 200
