"""A running server: store, lobby, HTTP and TCP listeners put together."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from engine.mjai.connection import MAX_MESSAGE
from server.access import Access
from server.addresses import listening
from server.app import make_app
from server.connection import tcp
from server.lobby import Lobby
from server.loop_clock import loop_clock
from server.metrics import Metrics
from server.settings import Settings
from server.store import Store

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

SEND_TIMEOUT = 60  # seconds until a connection is closed whose peer acknowledges nothing
# Inherited by connections. asyncio does not set TCP_NODELAY on every socket, and short messages would be delayed.
HTTP_OPTIONS = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
if hasattr(socket, "TCP_USER_TIMEOUT"):  # else a WebSocket whose peer no longer reads would stay open
    HTTP_OPTIONS.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * SEND_TIMEOUT))
MAX_FRAME_BYTES = 16 * MAX_MESSAGE  # a longer frame closes the WebSocket; from MAX_MESSAGE on it is a fault


class HttpServer(uvicorn.Server):
    """uvicorn without signal handlers of its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the program that runs the event loop."""
        yield


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens."""

    lobby: Lobby
    host: str
    port: int  # HTTP and WebSocket
    mjai_port: int


def make_folder(folder: Path) -> None:
    """Create the data folder. Raises OSError, one line that names the setting."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(folder, str(error.strerror)) from None


def unusable(folder: Path, why: str) -> OSError:
    """The error to raise for a data folder that cannot be used."""
    return OSError(f"data folder {folder}: {why}; name another folder with --data (NUKIDORA_DATA)")


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Lock the folder while the block runs, or until the process dies. Raises OSError if another server uses it."""
    try:
        lock = (folder / "lock").open("ab")
    except OSError as error:
        raise unusable(folder, str(error.strerror)) from None
    with lock:
        try:
            if sys.platform == "win32":  # untested
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise unusable(folder, "another server uses it") from None
        yield


@asynccontextmanager
async def running(settings: Settings, metrics: Metrics | None = None) -> AsyncIterator[Running]:
    """Serve while the block runs. Raises OSError for an address or folder that cannot be used, StoreError."""
    make_folder(settings.data)
    # Lock and listen before any stored game is restored: both may fail.
    with (
        exclusive_lock(settings.data),
        listening(settings.host, settings.port, "port", HTTP_OPTIONS) as http_sockets,
        listening(settings.host, settings.mjai_port, "mjai_port") as mjai_sockets,
    ):
        ports = {
            "port": http_sockets[0].getsockname()[1],
            "mjai_port": mjai_sockets[0].getsockname()[1],
        }
        settings = settings.model_copy(update=ports)  # else 0 could stand for a free port
        store = await Store.open(settings.database_url)
        try:
            metrics = metrics or Metrics()
            loop_clock().on_lag = metrics.loop_lag.observe
            lobby = Lobby(settings, store, Access(settings, store), metrics)
            await lobby.open()
            async with accept_connections(lobby, http_sockets, mjai_sockets):
                yield Running(lobby, settings.host, settings.port, settings.mjai_port)
        finally:
            await store.close()


@asynccontextmanager
async def accept_connections(
    lobby: Lobby, http_sockets: list[socket.socket], mjai_sockets: list[socket.socket]
) -> AsyncIterator[None]:
    """Accept connections while the block runs; then close the lobby."""
    config = uvicorn.Config(
        make_app(lobby),
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME_BYTES,
        server_header=False,
        forwarded_allow_ips=lobby.settings.trusted_proxies,
        timeout_graceful_shutdown=5,
    )
    http = HttpServer(config)
    listeners = [await tcp.listen(listener, lobby.connect) for listener in mjai_sockets]
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
