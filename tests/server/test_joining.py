"""Joins: those that are refused, and what is sent before and after them."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from websockets.asyncio.client import connect

from server.connection.bot_connection import HELLO, BotConnection
from server.connection.http import HttpConnection
from server.connection.listener import Listener
from server.fairness import TURN
from server.limits import LIMITS, Limits
from server.ports import Transport
from server.running import Running
from server.settings import Settings
from server.store import Store, StoreError
from tests.support.server_bots import PATIENT, Bot, Clock, connect_in_order, live_game, serving, until

TRANSPORTS = ("tcp", "websocket")
BAD_JOINS = [
    b"{}",
    b'{"type":"none"}',
    b'{"type":"join"}',
    b'{"type":"join","name":""}',
    b'{"type":"join","name":"\\u0000"}',
    b'{"type":"join","name":"x\\ud800"}',
    b'{"type":"join","name":7}',
    b'{"type":"join","name":"x","dialect":"mjai"}',
    b'{"type":"join","name":"x","reply":"never"}',
    b'{"type":"join","name":"x","games":-1}',
    b'{"type":"join","name":"x","games":1.5}',
    b'{"type":"join","name":"x","resume":""}',
    b'{"type":"join","resume":"nothing"}',
    b"[" * 10_000,
    b"\xff",
    b"x" * 70_000,
]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_bad_joins_are_refused(server: Running, transport: str) -> None:
    for join in BAD_JOINS:
        bot = Bot(server, "a", transport=transport)
        bot.opening = join
        await bot.play()
        (error,) = bot.errors
        assert error.isprintable()
        assert len(error) < 500
    assert not server.lobby.rooms["default"].waiting


@pytest.mark.parametrize("more", [b"", b"x" * 600])  # what waits for its turn is not read
async def test_a_refused_peer_that_goes_gives_its_connection_back(tmp_path: Path, more: bytes) -> None:
    async with serving(tmp_path, limits=Limits(close_timeout=600.0)) as server, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
        writer.write(b"no join\n" + more)
        assert b"not JSON" in await reader.read()
        writer.close()
        await until(lambda: server.lobby.access.n_connections() == 0)


@pytest.mark.parametrize("resumes", [False, True])
async def test_a_peer_that_could_not_reply_starts_no_game_and_ends_no_connection(tmp_path: Path, resumes: bool) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "xyz"[: 3 if resumes else 2]]
        await connect_in_order(server, bots)
        secret = ""
        if resumes:
            await bots[0].until_own()
            secret = live_game(server).seats[bots[0].seat].secret
        reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
        join = {"type": "join", "name": "ghost"} | ({"resume": secret} if resumes else {})
        writer.write(json.dumps(join).encode() + b"\n")
        writer.write_eof()
        _, *answers = (await reader.read()).splitlines()
        (answer,) = map(json.loads, answers)
        assert answer["code"] == "half_closed"
        if resumes:
            assert live_game(server).seats[bots[0].seat].connection is not None
        else:
            assert len(server.lobby.rooms["default"].waiting) == 2
        for bot in bots:
            await bot.leave()


async def test_a_connection_that_never_joins_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, join_timeout=5) as server:
        clock = Clock()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
        await reader.readline()
        clock.advance(5)
        assert b"no join within 5 seconds" in await reader.readline()
        assert await reader.read() == b""
        writer.close()


class Busy:
    """A transport whose received data is not parsed yet."""

    address, data_waits = "127.0.0.1", True

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, messages: Sequence[bytes]) -> None:
        self.sent += messages


async def test_a_join_that_waits_to_be_parsed_is_not_missing() -> None:
    transport = Busy()
    settings = Settings(join_timeout=0.01)
    BotConnection(cast(Transport, transport), settings, LIMITS, lambda bot, join: None, lambda bot: None)
    await asyncio.sleep(0.1)  # a timer fires 0.01 s after its time, unless data waits
    assert transport.sent == [HELLO]


@pytest.mark.parametrize(
    ("joins", "told"),
    [
        ({"name": "rule (house)"}, b"is reserved for house bots"),
        ({"name": "a", "dialect": "x"}, b"dialect"),
        ({"name": "a"}, b"closed your side of the connection"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b""])
async def test_who_sends_no_more_after_its_join_is_answered(
    server: Running, joins: dict[str, str], told: bytes, end: bytes
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
    writer.write(json.dumps({"type": "join", "room": "default"} | joins).encode() + end)
    writer.write_eof()
    *_, last = (await asyncio.wait_for(reader.read(), 10)).splitlines()
    assert told in last
    writer.close()
    await until(lambda: not server.lobby._bots)


async def test_a_message_that_is_cut_when_its_sender_leaves_is_none(server: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
    await reader.readline()
    writer.write(b'{"type":"join","name":"a","room":"def')
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


@contextmanager
def busy(server: Running) -> Iterator[None]:
    """More work of others than an iteration of the event loop may take, while the block runs."""
    done = False

    def work() -> bool:
        time.sleep(2 * TURN)
        return not done

    for party in range(4):
        server.lobby.fair_queue.add(f"party {party}", work)
    try:
        yield
    finally:
        done = True


@pytest.mark.parametrize("port", ["mjai_port", "port"])
async def test_the_end_of_what_is_sent_does_not_overtake_what_waits_to_be_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: str
) -> None:
    """The answer comes, and then the end of what the server sends: no other request can come."""
    monkeypatch.setattr(HttpConnection, "timeout_keep_alive_handler", lambda connection: None)
    sent = {
        "mjai_port": (b'{"type":"join","name":"a","room":"default"}\n', b"keep it open"),
        "port": (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 "),
    }
    message, answer = sent[port]
    async with serving(tmp_path, limits=replace(PATIENT, request_timeout=60.0)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", getattr(server, port))
        with busy(server):
            await asyncio.sleep(0.05)
            writer.write(message)
            writer.write_eof()
            assert answer in await asyncio.wait_for(reader.read(), 10)
        writer.close()


async def hanging(_: Store) -> None:
    await asyncio.sleep(60)


async def failing(_: Store) -> None:
    raise StoreError("no such host")


@pytest.mark.parametrize("token_names", [hanging, failing])
async def test_a_join_that_the_database_holds_up_is_not_called_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token_names: Callable[[Store], Awaitable[None]]
) -> None:
    monkeypatch.setattr(Store, "token_names", token_names)
    async with serving(tmp_path, join_timeout=0.2) as server:
        (error,) = (await Bot(server, "a").play()).errors
        assert "no join" not in error
        assert "database" in error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "room", "errors"),
    [
        ("/mjai", "x", []),
        ("/mjai/", "x", []),
        ("/mjai/y", "y", []),
        ("/mjai/a/b", "", ["join: room is 'a/b'; room must be 1 to 64 of A-Z a-z 0-9 _ . - (no dot first)"]),
    ],
)
async def test_the_room_of_a_websocket(server: Running, path: str, room: str, errors: list[str]) -> None:
    """The path names it, else the join message; a bad name in the path is reported like one in the message."""
    async with connect(f"ws://127.0.0.1:{server.port}{path}") as socket:
        assert "hello" in str(await socket.recv())
        await socket.send('{"type":"join","name":"a","room":"x"}')
        if room:
            await until(lambda: room in server.lobby.rooms and len(server.lobby.rooms[room].waiting) == 1)
        received = [json.loads(message)["message"] async for message in socket] if errors else []
    assert [error[: len(errors[0])] for error in received] == errors


async def test_who_connects_while_the_server_stops_is_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients: dict[int, socket.socket] = {}
    close = Listener.close

    def accept_and_close(listener: Listener) -> None:
        address = listener._listener.getsockname()
        clients[address[1]] = socket.create_connection(address)
        listener._accept()
        close(listener)

    monkeypatch.setattr(Listener, "close", accept_and_close)
    async with serving(tmp_path) as server:
        pass
    reader, writer = await asyncio.open_connection(sock=clients.pop(server.mjai_port))
    _, line = (await reader.read()).splitlines()
    error = json.loads(line)
    assert (error["code"], error["retry"]) == ("server_stops", True)
    assert not server.lobby._bots
    writer.close()
    for other in clients.values():
        other.close()
