"""Limits of HTTP connections: their number, requests in time, bodies, pipelining, requests by address."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from server.access import RateLimitError
from server.connection.http import HttpConnection
from server.limits import Limits
from server.logs import QUIET
from tests.conftest import DATA
from tests.support.running_server import Live, live, until
from tests.support.websocket_frames import upgrade_request

HEAD = b"GET /api/rooms HTTP/1.1\r\nHost: localhost\r\n"
SOON = 60.0  # seconds; only a server that hangs takes as long
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connection(at: Live, port: str = "port") -> AsyncIterator[Streams]:
    """A plain connection to the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", getattr(at.server, port))
    try:
        yield reader, writer
    finally:
        writer.close()


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of a response."""
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    return int(head.split()[1]), await reader.readexactly(int(length.partition(b":")[2]))


def may_upload(at: Live) -> bool:
    """Whether no record of this address is being received, read, or sent back."""
    try:
        with at.server.lobby.access.uploading("127.0.0.1"):
            return True
    except RateLimitError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HEAD,
        b"POST /api/rooms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{",
        b'{"type":"join","name":"a"}\n',
    ],
    ids=["nothing", "half a head", "half a body", "mjai"],
)
async def test_a_request_must_be_complete_in_time(tmp_path: Path, sent: bytes) -> None:
    async with live(tmp_path, limits=Limits(request_timeout=0.2)) as at, connection(at) as (reader, writer):
        writer.write(sent)
        answer = await asyncio.wait_for(reader.read(), SOON)
        assert sent.startswith(b"POST") or answer.split()[1] in (b"408", b"400")
        await until(lambda: at.server.lobby.access.n_connections() == 0)


async def test_a_trickle_does_not_prolong_the_time(tmp_path: Path) -> None:
    async with live(tmp_path, limits=Limits(request_timeout=0.3)) as at, connection(at) as (reader, writer):
        answer = asyncio.create_task(reader.read())
        n_sent = 0
        while not answer.done() and n_sent < 250:
            writer.write(b"G")
            n_sent += 1
            await asyncio.sleep(0.02)
        with suppress(ConnectionResetError):  # the last bytes came after it was closed
            assert b" 408 " in await answer
        assert n_sent < 250


@pytest.mark.slow
async def test_a_response_must_be_read_in_time(tmp_path: Path) -> None:
    first, *lines = (DATA / "records/phoenix_2020_1.mjson").read_text().splitlines()
    long = json.dumps(json.loads(first) | {"comment": "x" * 6_000_000})  # the response is as long
    record = gzip.compress("\n".join([long, *lines]).encode())
    head = f"POST /api/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(record)}\r\n\r\n".encode()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        async with live(tmp_path, limits=Limits(response_timeout=0.3)) as at:
            deaf.connect(("127.0.0.1", at.server.port))
            deaf.sendall(head + record)
            await until(lambda: not may_upload(at))
            await until(lambda: may_upload(at))
            await until(lambda: at.server.lobby.access.n_connections() == 0)


@asynccontextmanager
async def unread_response(at: Live, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[socket.socket]:
    """A connection on which the server has a little left to send, which the system has no room for."""
    connections: list[HttpConnection] = []
    connected = HttpConnection.connection_made

    def collect(self: HttpConnection, transport: asyncio.Transport) -> None:
        connections.append(self)
        connected(self, transport)

    monkeypatch.setattr(HttpConnection, "connection_made", collect)
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", at.server.port))
        waiting, cycle = 0, None
        while not waiting:
            slow.sendall(b"GET /web/page.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(lambda before=cycle: connections and connections[0].cycle not in (None, before))
            cycle, transport = connections[0].cycle, connections[0].transport
            await until(lambda asked=cycle, to=transport: asked.response_complete or to.get_write_buffer_size() > 0)
            waiting = transport.get_write_buffer_size()
        assert waiting < 10_000
        yield slow


@pytest.mark.slow
async def test_a_short_response_must_be_read_in_time_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with live(tmp_path, limits=Limits(response_timeout=0.3)) as at, unread_response(at, monkeypatch):
        assert at.server.lobby.access.n_connections() == 1
        await until(lambda: at.server.lobby.access.n_connections() == 0)


@pytest.mark.slow
async def test_a_websocket_outlives_the_time_of_the_response_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live(tmp_path, limits=Limits(response_timeout=0.7)) as at, unread_response(at, monkeypatch) as slow:
        slow.sendall(upgrade_request("/mjai/default"))
        await asyncio.sleep(0.2)
        loop, received = asyncio.get_running_loop(), b""
        slow.setblocking(False)
        while b"hello" not in received:
            received += await asyncio.wait_for(loop.sock_recv(slow, 65_536), SOON)
        await asyncio.sleep(1)
        assert at.server.lobby.access.n_connections() == 1


@pytest.mark.slow
async def test_a_connection_that_was_answered_may_ask_again_and_is_closed_when_idle(tmp_path: Path) -> None:
    async with live(tmp_path) as at, connection(at) as (reader, writer):
        for _ in range(3):
            writer.write(HEAD + b"\r\n")
            assert (await response(reader))[0] == 200
        assert await asyncio.wait_for(reader.read(), SOON) == b"", "uvicorn closes it after five seconds"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("body", [b"Content-Length: 3\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"])
async def test_only_a_post_has_a_body(tmp_path: Path, method: str, body: bytes) -> None:
    async with live(tmp_path) as at, connection(at) as (reader, writer):
        path = "/api/rooms/default" if method == "DELETE" else "/api/rooms"
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n".encode() + body)
        answer = await asyncio.wait_for(reader.read(), SOON)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer.lower()


async def test_a_method_that_a_path_has_not_is_refused_whatever_the_body(tmp_path: Path) -> None:
    async with live(tmp_path) as at, connection(at) as (reader, writer):
        writer.write(b"DELETE /api/rooms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc")
        answer = await asyncio.wait_for(reader.read(), SOON)
        assert answer.startswith(b"HTTP/1.1 405 ")
        assert b"connection: close" in answer.lower()


async def test_pipelined_requests_are_not_answered(tmp_path: Path) -> None:
    async with live(tmp_path) as at, connection(at) as (reader, writer):
        writer.write((HEAD + b"\r\n") * 10)
        answers = await asyncio.wait_for(reader.read(), SOON)
        assert answers.count(b"HTTP/1.1 200") == 1


async def test_requests_of_an_address_are_limited(tmp_path: Path) -> None:
    stopped = Limits(clock=lambda: 1000.0)  # however slow the requests are, none is refilled
    async with live(tmp_path, limits=stopped, requests_per_minute=40) as at:
        for _ in range(10):  # a quarter of a minute's at once
            await at.get("/api/rooms")
        refused = await at.http.get("/api/rooms")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        problem = refused.json()
        assert (problem["code"], problem["values"]["setting"]) == ("too_many", "requests_per_minute")
        assert f"more than {problem['values']['limit']} " in problem["detail"]
        other = await at.http.get("/api/rooms", headers={"X-Forwarded-For": "192.0.2.1"})
        assert other.status_code == 200, "another client of the trusted proxy"


async def test_connections_over_the_limit_are_told_why_on_both_ports(tmp_path: Path) -> None:
    async with live(tmp_path, max_connections=3) as at, connection(at), connection(at), connection(at):
        await until(lambda: at.server.lobby.access.n_connections() == 3)
        async with connection(at) as (reader, _):
            status, body = await response(reader)
            assert status == 503
            problem = json.loads(body)
            assert "the server is full" in problem["detail"]
            assert problem["code"] == "server_full"
        async with connection(at, "mjai_port") as (reader, _):
            error = json.loads(await reader.read())
            assert (error["type"], error["retry"], error["code"]) == ("error", True, "server_full")
            assert "the server is full" in error["message"]


@pytest.mark.slow
async def test_invalid_requests_are_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, least in QUIET.items():  # as `start_logging` sets them
        caplog.set_level(least, logger=name)
    async with live(tmp_path) as at, connection(at) as (reader, writer):
        writer.write(b"\x16\x03\x01 hello, is this TLS?\r\n\r\n")
        assert b" 400 " in await asyncio.wait_for(reader.read(), SOON)
    assert "Invalid HTTP request" not in caplog.text
