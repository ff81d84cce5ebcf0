"""HTTP and WebSocket, on one port."""

from __future__ import annotations

from fastapi import FastAPI, WebSocket

from server.lobby import Lobby
from server.websocket import WebSocketLine


def make_app(lobby: Lobby) -> FastAPI:
    """The application of a server."""
    app = FastAPI(title="nukidora", summary="Three-player mjai server", docs_url="/docs", redoc_url=None)

    @app.websocket("/mjai/{room}")
    async def mjai(socket: WebSocket, room: str) -> None:
        given = {"room": room, **socket.query_params}
        await WebSocketLine(socket).serve(lambda line: lobby.welcome(line, given))

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return app
