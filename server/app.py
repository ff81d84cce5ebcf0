"""The web application: the HTTP API, and bots and spectators over WebSocket, on one port."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, WebSocket
from starlette.datastructures import QueryParams

from engine.mjai import connection
from engine.mjai.kinds import COUNT
from server import api
from server.api.common import Service
from server.api.errors import handle_errors
from server.api.guard import Guard
from server.connection.websocket import WebSocketTransport
from server.lobby import Lobby

DESCRIPTION = """\
Games of three-player riichi mahjong between mjai bots: rooms, results, records, ratings.

Two addresses are WebSockets and not listed below. Bots play at `/mjai/{room}`. Spectators listen at
`/api/games/{game_id}/events`: canonical mjai messages, one a frame, from the start of the game to `end_game`, with all
hands open; a round is sent once it is finished and the room's `spectator_delay` has passed.

Times are ISO 8601 in UTC. Lists come in pages: send `next_cursor` as `cursor` to get the next one. The body of
an error is `{"detail": "one line"}`. A plus sign in a query is written `%2B`.
"""
JOIN_KEYS = frozenset(key.name for key in connection.JOIN_KEYS) - {"room"}
NUMBERS = frozenset(key.name for key in connection.JOIN_KEYS if key.kind is COUNT)
MAX_DIGITS = 10
BOOLEANS = {"true": True, "false": False}


def make_app(lobby: Lobby) -> FastAPI:
    """The application of a server."""
    app = FastAPI(
        title="nukidora",
        summary="Three-player mjai server",
        description=DESCRIPTION,
        redoc_url=None,
    )
    app.state.service = Service(lobby)
    app.add_middleware(Guard, host=lobby.settings.host, tokens_needed=lobby.settings.tokens_needed)
    handle_errors(app)
    for router in api.ROUTERS:
        app.include_router(router)

    @app.websocket("/mjai")
    @app.websocket("/mjai/{room:path}")
    async def mjai(socket: WebSocket, room: str = "") -> None:
        url_keys = ({"room": room} if room else {}) | join_keys(socket.query_params)
        await WebSocketTransport(socket).serve(lambda transport: lobby.connect(transport, url_keys))

    return app


def join_keys(query: QueryParams) -> dict[str, Any]:
    """The keys of the join message in a URL. Values of the wrong type are kept: parsing the message refuses them."""
    return {key: join_value(key, text) for key, text in query.items() if key in JOIN_KEYS}


def join_value(key: str, text: str) -> Any:
    """The value of a key, as in a join message."""
    if key in NUMBERS and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return int(text)
    return BOOLEANS.get(text, text) if key == "resume" else text
