"""Bots that do not reply, do not read or disconnect, and failures of the server: games go on and are stored."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import uvloop
from websockets.frames import CloseCode

from agents.base import Agent
from agents.registry import make
from server.connection import listener
from server.fairness import CpuLimiter
from server.house_bots import HouseBots
from server.loop_clock import loop_clock
from server.metrics import Metrics
from server.ports import MAX_UNSENT_BYTES
from server.running import Running
from server.spectators import Spectator
from tests.support.server_bots import (
    TIMEOUT,
    Answer,
    Bot,
    Clock,
    Message,
    PlainHouseBot,
    connect_in_order,
    play_all,
    playing,
    serving,
    together,
    until,
)
from tests.support.stored_records import stored_games, the_game
from tests.support.websocket_frames import TEXT, frame, upgrade_request

TRANSPORTS = ("tcp", "websocket")


# Silence and lost connections -----------------------------------------------------------------------------------------


def silent(bot: Bot, message: Message) -> Answer:
    """Never replies."""
    return None


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", ["always", "when_asked"])
async def test_a_bot_that_never_replies(tmp_path: Path, transport: str, reply: str) -> None:
    """It times out until the house bot takes over; the others wait no longer than that."""
    async with serving(tmp_path, decision_time=0.3, bank_time=0, max_faults=1) as server:
        bad = Bot(server, "bad", silent, transport=transport, reply=reply)
        others = [Bot(server, name) for name in "xy"]
        await play_all([bad, *others])
        game, lines = await the_game(server)
        (result,) = [result for result in game.seats if result.name == "bad"]
        assert result.taken_over
        assert result.faults == 1
        late = [line["message"] for line in lines if line["type"] == "error"][:1]
        assert all("no reply within 0.3 s" in message for message in late)
        assert [bot.errors for bot in others] == [[], []]


async def test_connections_that_were_refused_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "FAILURE_PAUSE", 0.05)
    descriptors = Path("/proc/self/fd")
    async with serving(tmp_path, connections_per_address=1) as server:
        here = ("127.0.0.1", server.mjai_port)
        reader, _ = await asyncio.open_connection(*here)
        await reader.readline()
        n_open = len(list(descriptors.iterdir()))
        n_refused = 2 * listener.MAX_REFUSED
        refused = [await asyncio.open_connection(*here) for _ in range(n_refused)]
        for each, _ in refused:
            assert b"connections_per_address" in await each.read()
        await until(lambda: len(list(descriptors.iterdir())) <= n_open + n_refused)


async def test_all_connections_are_lost(tmp_path: Path) -> None:
    """House bots finish the game, and it is stored."""
    async with serving(tmp_path, resume_timeout=0.05) as server:
        bots = [Bot(server, name) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
        for bot in bots:
            bot.abort()
        await until(lambda: server.lobby.metrics.games._value.get() == 1)
        game, _ = await the_game(server)
        assert all(result.taken_over for result in game.seats)


@pytest.mark.slow
async def test_a_game_may_end_while_a_lost_bot_could_still_reconnect(tmp_path: Path) -> None:
    """It ends only once."""
    settings: dict[str, Any] = {"decision_time": 0.01, "bank_time": 0, "resume_timeout": 3600, "max_faults": 1000}
    async with serving(tmp_path, timeout=1e6, **settings) as server:
        clock = Clock()
        lost, others = Bot(server, "lost"), [Bot(server, name) for name in "xy"]
        async with playing(others):
            await lost.until_own()
            lost.abort()
        assert all(bot.ended for bot in others)
        clock.advance(3601)
        await asyncio.sleep(0.3)
        assert server.lobby.metrics.games._value.get() == 1
        assert server.lobby.metrics.playing._value.get() == 0
        game, _ = await the_game(server)
        assert not any(result.taken_over for result in game.seats)


JOIN = b'{"type":"join","name":"stuck"}'
OPENING = {  # what is sent before hello and after it
    "tcp": (b"", JOIN + b"\n"),
    "websocket": (upgrade_request("/mjai/default"), frame(TEXT, JOIN)),
}
KERNEL_BUFFERS = 16 << 20  # bytes; more than the operating system buffers for two sockets


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_peer_that_never_reads_is_disconnected(server: Running, transport: str) -> None:
    """The server buffers a limited number of bytes for it, and a game goes on meanwhile."""
    playing = asyncio.create_task(play_all([Bot(server, name, room="other") for name in "abc"]))
    loop = asyncio.get_running_loop()
    with socket.socket() as peer:
        peer.setblocking(False)
        await loop.sock_connect(peer, ("127.0.0.1", server.mjai_port if transport == "tcp" else server.port))
        handshake, join = OPENING[transport]
        await loop.sock_sendall(peer, handshake)
        while b"hello" not in await loop.sock_recv(peer, 1000):
            pass
        await loop.sock_sendall(peer, join)
        room = server.lobby.rooms["default"]
        await until(lambda: len(room.waiting) == 1)
        line = room.waiting[0].transport
        sent = 0
        while room.waiting:
            assert sent < KERNEL_BUFFERS + MAX_UNSENT_BYTES
            line.send([b"x" * 10_000])
            sent += 10_000
            await asyncio.sleep(0)
        assert sent > MAX_UNSENT_BYTES
        await until(lambda: server.lobby.metrics.connections._value.get() <= 3)
    await playing
    await the_game(server)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_peer_that_reads_late_stays_connected(server: Running, transport: str) -> None:
    """Messages below the limit are buffered until they are read."""
    slow = Bot(server, "slow", transport=transport)
    await connect_in_order(server, [slow])
    burst = [b'{"type":"error","message":"%s"}' % (b"x" * 1000)] * 200
    server.lobby.rooms["default"].waiting[0].transport.send(burst)
    for _ in burst:
        assert await slow.next() is not None
    assert len(server.lobby.rooms["default"].waiting) == 1
    await slow.leave()


@pytest.mark.usefixtures("no_error_is_logged")
def test_connections_that_are_reset_before_they_are_accepted(tmp_path: Path) -> None:
    """On uvloop, as in production, which gives no peer address for them."""

    async def reset() -> None:
        async with serving(tmp_path) as server:
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", server.mjai_port)) as peer:
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            await asyncio.sleep(0.1)
            await until(lambda: server.lobby.metrics.connections._value.get() == 0)

    uvloop.run(reset())


# Failures of the server ----------------------------------------------------------------------------------------------


def no_weights(_: np.ndarray) -> None:
    raise RuntimeError("no such weights")


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("fails", [no_weights, lambda _: None, lambda _: np.array([]), lambda _: [114]])
async def test_safe_defaults_are_played_for_a_house_bot_that_fails(
    tmp_path: Path, fails: Callable[[np.ndarray], Any], at_once: bool
) -> None:
    """At once, as the compiled ones do, or in a thread."""

    class Failing(HouseBots):
        def decides_at_once(self, spec: str) -> bool:
            return at_once

    bots = Failing(lambda *_: PlainHouseBot(fails))
    async with serving(tmp_path, house_bots=bots, fill=("rule",), fill_delay=0) as server:
        await Bot(server, "a").play()
        game, lines = await the_game(server)
        discards = [line for line in lines if line["type"] == "dahai"]
        assert all(line["tsumogiri"] for line in discards)
        assert [result.faults for result in game.seats] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("fill", [(), ("rule",)])
async def test_safe_defaults_are_played_for_a_house_bot_that_cannot_be_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fill: tuple[str, ...]
) -> None:
    """Such as one whose files were deleted after the room was opened."""

    def gone(*_: Any) -> Agent:
        raise OSError("no such file")

    house_bots = HouseBots()
    house_bots.check("rule")
    house_bots.make = gone
    async with serving(tmp_path, house_bots=house_bots, fill=fill, fill_delay=0, max_faults=1) as server:
        bots = [Bot(server, name) for name in ("a" if fill else "abc")]
        if not fill:
            bots[0].script = lambda bot, message: b"junk"
        await play_all(bots)
        game, _ = await the_game(server)
        assert sum(seat.taken_over for seat in game.seats) == (0 if fill else 1)
    assert "no such file" in caplog.text


async def test_house_bots_that_hang_delay_no_other_game(tmp_path: Path) -> None:
    """None of them is asked again before it has decided."""
    go_on = threading.Event()
    thinking: Counter[int] = Counter()

    def hanging() -> PlainHouseBot:
        def hang(_: np.ndarray) -> list[int]:
            thinking[id(bot)] += 1
            go_on.wait(TIMEOUT)
            return [0]

        bot = PlainHouseBot(hang)
        return bot

    class Hanging(HouseBots):
        """Here `rule` is a bot of somebody else."""

        def is_built_in(self, spec: str) -> bool:
            return spec != "rule"

    bots = Hanging(lambda spec, *_: hanging() if spec == "rule" else make(spec))
    bots.check("tsumogiri")
    settings: dict[str, Any] = {"decision_time": 0.02, "bank_time": 0, "max_faults": 10_000}
    async with serving(tmp_path, house_bots=bots, **settings) as server:
        try:
            stuck = [Bot(server, f"stuck{room}", room=f"{room}+rule", reply="when_asked") for room in "abcd"]
            await together(*(bot.until(lambda _, bot=bot: len(bot.game) > 50) for bot in stuck))  # type: ignore[misc]
            await Bot(server, "a", room="free+tsumogiri").play()
            assert len(await stored_games(server, "free+tsumogiri")) == 1
            assert set(thinking.values()) == {1}
        finally:
            go_on.set()


# Spectators -----------------------------------------------------------------------------------------------------------


class Reader:
    """The connection of a spectator that has to read what it was sent before it is sent more."""

    address = "127.0.0.1"

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed: list[int] = []
        self.has_read = asyncio.Event()
        self.has_read.set()

    async def drain(self) -> None:
        await self.has_read.wait()

    def send_frames(self, frames: bytes) -> None:
        self.sent.append(frames)
        self.has_read.clear()

    def close(self, code: int = CloseCode.NORMAL_CLOSURE) -> None:
        self.closed.append(code)


def spectate(reader: Reader, frames: AsyncIterator[bytes], timeout: float = 600.0) -> Spectator:
    """A spectator with that connection."""
    return Spectator(cast(Any, reader), frames, CpuLimiter(1.0, 1.0), Metrics(), timeout, lambda: None)


async def some_frames() -> AsyncIterator[bytes]:
    for frames in (b"1", b"2"):
        yield frames


async def failing_frames() -> AsyncIterator[bytes]:
    yield b"1"
    raise ZeroDivisionError


async def test_a_halt_of_the_server_is_no_slowness_of_a_spectator() -> None:
    loop_clock()  # begins to run
    reader = Reader()
    spectate(reader, some_frames(), timeout=1.0)
    await until(lambda: reader.sent == [b"1"])
    time.sleep(1.5)
    await asyncio.sleep(0.01)
    assert reader.closed == []
    reader.has_read.set()
    await until(lambda: bool(reader.closed))
    assert (reader.sent, reader.closed) == ([b"1", b"2"], [CloseCode.NORMAL_CLOSURE])


async def test_a_spectator_whose_frames_cannot_be_made_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reader()
    spectate(reader, failing_frames())
    await until(lambda: reader.sent == [b"1"])
    reader.has_read.set()
    async with asyncio.timeout(20):
        await until(lambda: reader.closed == [CloseCode.INTERNAL_ERROR])
    assert "ZeroDivisionError" in caplog.text
