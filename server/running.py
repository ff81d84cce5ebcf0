"""A running server: everything put together, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
import uvicorn

from agents.registry import make
from engine.game import Game
from server import tcp
from server.access import Access
from server.app import make_app
from server.line import MAX_MESSAGE
from server.lobby import Lobby
from server.metrics import Metrics
from server.settings import Settings
from server.store import Store

UNREAD_FOR = 60  # seconds until a connection that takes nothing is gone
MAX_FRAME = 16 * MAX_MESSAGE  # beyond this a WebSocket is closed instead of told that its message is too long


class HttpServer(uvicorn.Server):
    """uvicorn without signal handlers of its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the event loop."""
        yield


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens."""

    lobby: Lobby
    host: str
    port: int  # HTTP and WebSocket
    mjai_port: int


def warm_up(settings: Settings) -> None:
    """Compile, or load, all that games will need, before anybody waits for it."""
    bots = [make(spec) for spec in (settings.house, *settings.fill)]
    game = Game(rules=settings.room.make_rules())
    while not game.over:
        for seat in game.asked:
            views = np.array([game.view(seat)])
            action, *_ = (int(bot.act(views)[0]) for bot in bots)
            assert action in game.legal(seat)
            game.act(seat, action)
    game.take_messages()
    gc.collect()
    gc.freeze()  # what is there by now stays: to look through it again would halt all games for a quarter of a second


@asynccontextmanager
async def running(settings: Settings, metrics: Metrics | None = None) -> AsyncIterator[Running]:
    """Serve while the block runs. Raises OSError for an address or folder that cannot be had, StoreError."""
    settings.data.mkdir(parents=True, exist_ok=True)
    store = await Store.open(settings.database_url)
    lobby = Lobby(settings, store, Access(settings, store), metrics or Metrics())
    try:
        await lobby.open()
        listener = await tcp.listen(settings.host, settings.mjai_port, lobby.welcome)
        http_socket = socket.create_server((settings.host, settings.port), reuse_port=False)
        # Inherited by its connections: asyncio does not do it for a socket made so, and short messages would wait.
        http_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # or a WebSocket whose peer has stopped reading would never quite go
            http_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_FOR)
        config = uvicorn.Config(
            make_app(lobby),
            ws_per_message_deflate=False,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=MAX_FRAME,
            server_header=False,
            forwarded_allow_ips=settings.forwarded,
            timeout_graceful_shutdown=5,
        )
        http = HttpServer(config)
        serving = asyncio.create_task(http.serve(sockets=[http_socket]))
        while not http.started:
            await asyncio.sleep(0.01)
        mjai_port = listener.sockets[0].getsockname()[1]
        try:
            yield Running(lobby, settings.host, http_socket.getsockname()[1], mjai_port)
        finally:
            listener.close()
            await lobby.close()
            http.should_exit = True
            await serving
    finally:
        await store.close()
