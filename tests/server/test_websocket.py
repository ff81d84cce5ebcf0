"""The frames of WebSockets: fragments, control frames, limits of size and time, keepalive, refused handshakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosedError
from websockets.protocol import State

from engine.mjai.connection import MAX_JOIN, MAX_MESSAGE
from server.connection.websocket import MAX_FRAME_BYTES
from server.limits import Limits
from tests.support.running_server import Live, live, until
from tests.support.server_bots import Bot
from tests.support.websocket_frames import CLOSE, CONTINUATION, PING, PONG, TEXT, frame, upgrade_request

PARSED_AT_ONCE = json.dumps({"type": "join", "name": "a", "room": "x"}).encode()


@asynccontextmanager
async def opened(at: Live, path: str = "/mjai") -> AsyncIterator[ClientConnection]:
    """A WebSocket of a bot that has been greeted and has not joined."""
    async with at.socket(path, ping_interval=None, close_timeout=1) as socket:
        assert json.loads(await socket.recv())["type"] == "hello"
        yield socket


async def text_of(socket: ClientConnection) -> str:
    """The message of the error that the server sends."""
    error = json.loads(await socket.recv())
    assert error["type"] == "error"
    return str(error["message"])


async def closed_by_server(socket: ClientConnection) -> tuple[int | None, str | None]:
    """Code and reason of the close frame, after any messages."""
    with suppress(ConnectionClosedError):
        async for _ in socket:
            pass
    return socket.close_code, socket.close_reason


async def test_a_message_may_come_in_fragments_with_control_frames_between_them(tmp_path: Path) -> None:
    async with live(tmp_path) as at, opened(at) as socket:
        half = len(PARSED_AT_ONCE) // 2
        parts = [
            frame(TEXT, PARSED_AT_ONCE[:half], final=False),
            frame(PING, b"still here?"),
            frame(CONTINUATION, b"", final=False),
            frame(PONG, b"unasked"),
            frame(CONTINUATION, PARSED_AT_ONCE[half:]),
        ]
        for byte in b"".join(parts):
            socket.transport.write(bytes([byte]))
            await asyncio.sleep(0)
        await until(lambda: "x" in at.server.lobby.rooms)


async def test_a_long_handshake_opens_the_connection(at: Live) -> None:
    """It is parsed in several slices, between which the socket is not read."""
    cookies = {"Cookie": "x=" + "y" * 4000}
    async with at.socket("/mjai", ping_interval=None, additional_headers=cookies) as socket:
        await socket.recv()
        await socket.send(PARSED_AT_ONCE)
        await until(lambda: "x" in at.server.lobby.rooms)


async def test_a_frame_that_is_not_utf8_gets_an_error_and_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live(tmp_path) as at:
        bot = Bot(at.server, "bad", room="solo+tsumogiri+tsumogiri", transport="websocket")
        await bot.until_own()
        transport = bot._connection._socket.transport  # type: ignore[union-attr]
        transport.write(frame(TEXT, b'{"type":"dahai","pai":"\xff\xfe"}'))
        await bot.play()
        assert len(bot.errors) == 1
        assert "UTF-8" in bot.errors[0]
        assert bot.ended
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("fragments", [1, 3])
async def test_a_message_longer_than_the_limit_is_an_error_and_a_much_longer_one_closes(
    tmp_path: Path, fragments: int
) -> None:
    async with live(tmp_path, messages_per_second=1000) as at:
        for size, code in ((MAX_MESSAGE + 1, None), (MAX_FRAME_BYTES + 1, 1009)):
            async with opened(at) as socket:
                await socket.send(PARSED_AT_ONCE)
                await until(lambda: "x" in at.server.lobby.rooms)
                part = size // fragments + 1
                pieces = [bytes(size)[start : start + part] for start in range(0, size, part)]
                for index, piece in enumerate(pieces):
                    last = index == len(pieces) - 1
                    socket.transport.write(frame(CONTINUATION if index else TEXT, piece, final=last))
                if code is None:
                    assert "65,536" in await text_of(socket)
                else:
                    assert (await closed_by_server(socket))[0] == code


@pytest.mark.parametrize(
    "data",
    [
        frame(TEXT, b" " * (MAX_JOIN + 1)),
        frame(TEXT, b" " * (2 * MAX_JOIN + 1), length=60_000),
        frame(TEXT, b" " * MAX_JOIN, final=False) + frame(CONTINUATION, b" " * MAX_JOIN, final=False),
    ],
    ids=["complete", "unfinished frame", "unfinished fragments"],
)
async def test_a_bot_that_has_not_joined_may_send_less(tmp_path: Path, data: bytes) -> None:
    async with live(tmp_path) as at, opened(at) as socket:
        socket.transport.write(data)
        assert await text_of(socket) == "a message longer than 4,096 bytes; it was discarded"
        assert (await closed_by_server(socket))[0] == 1000


async def test_a_bot_that_is_being_closed_may_not_send_more(tmp_path: Path) -> None:
    async with live(tmp_path, limits=Limits(close_timeout=60.0)) as at:  # for the reply to the close frame
        reader, writer = await asyncio.open_connection("127.0.0.1", at.server.port)
        writer.write(upgrade_request("/mjai"))
        await reader.readuntil(b"hello")
        writer.write(frame(TEXT, b" " * (MAX_JOIN + 1)))
        writer.write(frame(TEXT, b" " * 3 * MAX_JOIN, length=60_000))
        async with asyncio.timeout(10):
            with suppress(ConnectionResetError):
                await reader.read()
        writer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        frame(0x3, b"reserved opcode"),
        frame(CONTINUATION, b"of nothing"),
        frame(PING, bytes(126)),
        frame(CLOSE, b"\x00"),
        bytes([0x81, 0x02]) + b"hi",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["opcode", "continuation", "long ping", "short close", "no mask", "http"],
)
async def test_what_is_no_frame_closes_the_connection(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with live(tmp_path) as at:
        async with opened(at) as socket:
            socket.transport.write(data)
            assert (await closed_by_server(socket))[0] == 1002
        await until(lambda: at.server.lobby.access.n_connections() == 0)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        frame(TEXT, b'{"type":', length=5000),
        frame(TEXT, b"{", final=False),
        frame(TEXT, b"", final=False),
        frame(PING, b"x", length=100),
    ],
    ids=["half a frame", "a fragment", "an empty fragment", "half a ping"],
)
@pytest.mark.parametrize("trickle", [b"", frame(PING, b"")], ids=["", "pings"])
async def test_a_message_must_be_complete_in_time(tmp_path: Path, start: bytes, trickle: bytes) -> None:
    limits = Limits(message_timeout=0.3)
    async with live(tmp_path, limits=limits, join_timeout=30) as at, opened(at) as socket:
        socket.transport.write(start)
        for _ in range(10):
            await asyncio.sleep(0.02)
            if socket.state is not State.OPEN:  # on a busy machine the time is over already
                break
            socket.transport.write(trickle)
        assert await text_of(socket) == "a message was not complete within 0.3 seconds"


@pytest.mark.slow
async def test_a_peer_that_does_not_answer_pings_is_gone(tmp_path: Path) -> None:
    async with live(tmp_path, limits=Limits(ping_interval=0.2), join_timeout=30) as at:
        async with opened(at) as alive, opened(at) as dead:
            dead.transport.pause_reading()
            await until(lambda: len(at.server.lobby._bots) == 1)
            await asyncio.sleep(0.5)
            assert len(at.server.lobby._bots) == 1
            await alive.ping()
        await until(lambda: not at.server.lobby._bots)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", [PING, PONG, TEXT, CONTINUATION], ids=["ping", "pong", "text", "continuation"])
async def test_frames_without_end_are_over_the_limit(tmp_path: Path, opcode: int) -> None:
    async with live(tmp_path, messages_per_second=5) as at, opened(at) as socket:
        data = frame(TEXT, b"", final=False) if opcode == CONTINUATION else b""
        data += b"".join(frame(opcode, b"", final=opcode != CONTINUATION) for _ in range(200))
        socket.transport.write(data)
        text = await text_of(socket)
        if opcode != TEXT:  # an empty text is no join message
            assert "the server's setting messages_per_second" in text
        await closed_by_server(socket)


@pytest.mark.slow
async def test_the_handshake_is_refused_in_one_line(at: Live) -> None:
    for path, method, status, told in (
        *((path, "GET", 404, "bots play at /mjai/ROOM") for path in ("/", "/mjai2", "/api/rooms")),
        ("/api/games/x/events", "GET", 404, "no game with this id"),
        ("/mjai", "POST", 405, "unsupported HTTP method"),
    ):
        response = await upgrade(at, path, method)
        assert int(response.split()[1]) == status
        assert told in response


async def upgrade(at: Live, path: str, method: str) -> str:
    """The whole response to a request for an upgrade that is refused."""
    reader, writer = await asyncio.open_connection("127.0.0.1", at.server.port)
    writer.write(upgrade_request(path, method))
    response = (await reader.read()).decode()
    writer.close()
    return response
