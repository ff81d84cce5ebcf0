"""A running server: everything put together, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import uvicorn

from agents.registry import make
from engine.game import Game
from engine.mjai.connection import MAX_MESSAGE
from server import tcp
from server.access import Access
from server.addresses import listening
from server.app import make_app
from server.lobby import Lobby
from server.metrics import Metrics
from server.settings import Settings
from server.store import Store

UNREAD_FOR = 60  # seconds until a connection that takes nothing is gone
# Inherited by connections. asyncio does not do the first for every socket, and short messages would wait.
HTTP_OPTIONS = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
if hasattr(socket, "TCP_USER_TIMEOUT"):  # or a WebSocket whose peer has stopped reading would never quite go
    HTTP_OPTIONS.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_FOR))
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
    bots = [make(spec) for spec in (settings.house_bot, *settings.fill)]
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


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other servers from the folder while the block runs, or until the process dies. Raises OSError."""
    with (folder / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"data folder {folder}: another server uses it; name another folder with --data") from None
        yield


@asynccontextmanager
async def running(settings: Settings, metrics: Metrics | None = None) -> AsyncIterator[Running]:
    """Serve while the block runs. Raises OSError for an address or folder that cannot be had, StoreError."""
    settings.data.mkdir(parents=True, exist_ok=True)
    # What can be refused is asked for before any game goes on.
    with (
        alone(settings.data),
        listening(settings.host, settings.port, HTTP_OPTIONS) as http_sockets,
        listening(settings.host, settings.mjai_port) as mjai_sockets,
    ):
        store = await Store.open(settings.database_url)
        try:
            lobby = Lobby(settings, store, Access(settings, store), metrics or Metrics())
            await lobby.open()
            async with accepting(lobby, http_sockets, mjai_sockets):
                port, mjai_port = (sockets[0].getsockname()[1] for sockets in (http_sockets, mjai_sockets))
                yield Running(lobby, settings.host, port, mjai_port)
        finally:
            await store.close()


@asynccontextmanager
async def accepting(
    lobby: Lobby, http_sockets: list[socket.socket], mjai_sockets: list[socket.socket]
) -> AsyncIterator[None]:
    """Take connections while the block runs; then the lobby closes."""
    config = uvicorn.Config(
        make_app(lobby),
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        server_header=False,
        forwarded_allow_ips=lobby.settings.trusted_proxies,
        timeout_graceful_shutdown=5,
    )
    http = HttpServer(config)
    listeners = [await tcp.accept(listener, lobby.welcome) for listener in mjai_sockets]
    serving = asyncio.create_task(http.serve(sockets=http_sockets))
    try:
        while not http.started:
            await asyncio.sleep(0.01)
        yield
    finally:
        for listener in listeners:
            listener.close()
        await lobby.close()
        http.should_exit = True
        await serving
