"""A running server: store, lobby, HTTP and TCP listeners put together."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus

import uvicorn
from fastapi import FastAPI
from pydantic_core import to_json

from engine.common.error_text import coded
from engine.mjai import connection
from server.access import Access, AccessError, Admission
from server.addresses import Proxies, listening
from server.app import make_app
from server.background_tasks import BackgroundTasks
from server.connection.http import MAX_HEAD, HttpConnection
from server.connection.listener import Listener
from server.connection.tcp import TcpTransport
from server.connection.websocket import WebSocketConnection
from server.data_folder import exclusive_lock, make_folder
from server.house_bots import HOUSE_BOTS, HouseBots
from server.limits import LIMITS, Limits
from server.lobby import Lobby
from server.loop_clock import loop_clock
from server.memory import find_trim, keep_trimmed
from server.metrics import Metrics
from server.retention import keep_pruned
from server.review_work import review
from server.reviews import DoReview
from server.settings import Settings
from server.store import Store

RESOLVE_EVERY = 10.0  # seconds between two look-ups of the host names of proxies
SEND_TIMEOUT = 60  # seconds after which a connection whose peer acknowledges nothing is closed
RECEIVE_BUFFER = 65_536  # bytes that the kernel is asked to buffer for a connection; Linux doubles that
SEND_BUFFER = 131_072  # bytes that the kernel buffers for a peer that does not read
# Inherited by connections. asyncio does not set TCP_NODELAY on every socket, which would delay short messages.
OPTIONS = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER),
    (socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER),
]
if hasattr(socket, "TCP_USER_TIMEOUT"):  # otherwise a connection whose peer no longer reads would stay open
    OPTIONS.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * SEND_TIMEOUT))


class HttpServer(uvicorn.Server):
    """uvicorn without signal handlers."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the program that runs the event loop."""
        yield


@dataclass(frozen=True, slots=True)
class Running:
    """A listening server."""

    lobby: Lobby
    host: str
    port: int  # HTTP and WebSocket
    mjai_port: int


@asynccontextmanager
async def running(
    settings: Settings,
    metrics: Metrics | None = None,
    *,
    limits: Limits = LIMITS,
    house_bots: HouseBots = HOUSE_BOTS,
    do_review: DoReview = review,
) -> AsyncIterator[Running]:
    """Serve while the block runs; `do_review`: see `Reviews`.

    Raises OSError for an address or folder that cannot be used, StoreError.
    """
    make_folder(settings.data)
    # Lock and listen before any stored game is restored: both may fail.
    with (
        exclusive_lock(settings.data),
        listening(settings.host, settings.port, "port", OPTIONS) as http_sockets,
        listening(settings.host, settings.mjai_port, "mjai_port", OPTIONS) as mjai_sockets,
    ):
        ports = {
            "port": http_sockets[0].getsockname()[1],
            "mjai_port": mjai_sockets[0].getsockname()[1],
        }
        settings = replace(settings, **ports)  # replaces 0, which stands for a free port
        store = await Store.open(settings.database_url, limits)
        try:
            metrics = metrics or Metrics()
            loop_clock().on_lag = metrics.loop_lag.observe
            access = Access(settings, limits)
            lobby = Lobby(settings, store, access, metrics, limits, house_bots)
            metrics.sockets.set_function(access.n_connections)
            await lobby.open()
            async with accept_connections(lobby, make_app(lobby, do_review), http_sockets, mjai_sockets):
                yield Running(lobby, settings.host, settings.port, settings.mjai_port)
        finally:
            await store.close()


@asynccontextmanager
async def accept_connections(
    lobby: Lobby, app: FastAPI, http_sockets: list[socket.socket], mjai_sockets: list[socket.socket]
) -> AsyncIterator[None]:
    """Accept connections while the block runs; then close the lobby."""
    app.openapi()  # built once, which takes a while
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http=HttpConnection,
        ws=WebSocketConnection,
        h11_max_incomplete_event_size=MAX_HEAD,
        server_header=False,
        proxy_headers=False,  # `server.api.guard` reads them
        timeout_graceful_shutdown=5,
    )
    http = HttpServer(config)
    serving = asyncio.create_task(http.serve(sockets=[]))
    while not http.started:
        if serving.done():
            await serving  # raises what has stopped it
        await asyncio.sleep(0.01)
    chores = BackgroundTasks()
    chores.start(keep_resolved(lobby.access.proxies, RESOLVE_EVERY))
    chores.start(keep_pruned(lobby.store, lobby.settings, lobby.metrics))
    chores.start(keep_trimmed(find_trim()))
    listeners = [*http_listeners(lobby, config, http, http_sockets), *mjai_listeners(lobby, mjai_sockets)]
    try:
        yield
    finally:
        await chores.stop()
        for listener in listeners:
            listener.close()
        await lobby.close()
        await app.state.service.close()
        http.should_exit = True
        await serving


async def keep_resolved(proxies: Proxies, every: float) -> None:
    """Look up the host names of proxies periodically: a container may start later, or with another address."""
    while proxies.names:
        for name in proxies.names:
            with contextlib.suppress(OSError):  # if a look-up fails, the previous addresses are kept
                found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
                proxies.resolved[name] = {str(address[0]) for *_, address in found}
        await asyncio.sleep(every)


def http_listeners(
    lobby: Lobby, config: uvicorn.Config, http: HttpServer, sockets: list[socket.socket]
) -> Iterator[Listener]:
    """Accept HTTP connections, some of which become WebSockets."""

    def refusal(error: AccessError) -> bytes:
        lobby.metrics.refused.inc()
        body = to_json({"detail": error.text} | coded(error.text))
        status = HTTPStatus(error.status)
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        return f"{head}\r\nConnection: close\r\n\r\n".encode() + body

    def make(admission: Admission) -> HttpConnection:
        return HttpConnection(config, http.server_state, admission, lobby.fair_queue, lobby.limits)

    for listener in sockets:
        yield Listener(listener, lobby.access, make, refusal, proxies=True)


def mjai_listeners(lobby: Lobby, sockets: list[socket.socket]) -> Iterator[Listener]:
    """Accept mjai connections over TCP."""

    def refusal(error: AccessError) -> bytes:
        lobby.metrics.refused.inc()
        return to_json(connection.error(error.text, retry=error.retry, **coded(error.text))) + b"\n"

    def make(admission: Admission) -> TcpTransport:
        return TcpTransport(
            admission, lobby.fair_queue, lobby.settings.messages_per_second, lobby.limits, lobby.connect
        )

    for listener in sockets:
        yield Listener(listener, lobby.access, make, refusal, proxies=False)
