"""Spectators are sent every round, all hands open, but not before it is over and the delay has passed; or every event
at once, all hands closed.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus

from server.broadcast import Broadcast, closed_frames
from server.fairness import CpuLimiter
from tests.support.running_server import TABLE, Live, live, play_into, play_on, until
from tests.support.server_bots import PATIENT, Answer, Bot, Message, tsumogiri
from tests.support.stored_records import stored_lines
from tests.support.websocket_frames import upgrade_request

pytestmark = pytest.mark.usefixtures("no_error_is_logged")
START, END, END_GAME = b'"type":"start_kyoku"', b'"type":"end_kyoku"', b'"type":"end_game"'
NASTY = '","ext_bot":{"a":1},"'  # a name that looks like the key that is removed


async def playing_game(at: Live) -> str:
    """The id of the only game being played."""
    (game,) = (await at.get("/api/games?status=playing"))["items"]
    return str(game["id"])


def scores(game: dict[str, Any]) -> list[int]:
    """The scores of seats 0 to 2, as the API sends them."""
    return [seat["score"] for seat in game["seats"]]


class Listener:
    """A spectator's connection, after the handshake and without compression; `received` is every byte sent to it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reads: bool) -> None:
        self.received = bytearray()
        self._writer = writer
        self._reader = reader
        self.reading = asyncio.create_task(self._read(reads))

    @classmethod
    async def connect(cls, at: Live, game: str, reads: bool = True, query: str = "") -> Listener:
        """Connect and shake hands."""
        plain = socket.socket()
        if not reads:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", at.server.port))
        reader, writer = await asyncio.open_connection(sock=plain, limit=1024)
        writer.write(upgrade_request(f"/api/games/{game}/events{query}"))
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        return cls(reader, writer, reads)

    async def _read(self, reads: bool) -> None:
        while reads and (data := await self._reader.read(65_536)):
            self.received += data

    def close(self) -> None:
        """Close the connection."""
        self._writer.transport.abort()


async def watch(at: Live, game: str) -> list[tuple[float, Message]]:
    """All messages a spectator is sent, and when."""
    async with at.socket(f"/api/games/{game}/events") as events:
        return [(monotonic(), json.loads(data)) async for data in events]


async def refusal(at: Live, path: str) -> tuple[int, Headers, str]:
    """Status, headers and detail of the response that refuses a WebSocket."""
    with pytest.raises(InvalidStatus) as refused:
        await at.socket(path)
    response = refused.value.response
    return response.status_code, response.headers, json.loads(response.body or b"")["detail"]


def connections(at: Live) -> int:
    """The number of open connections of bots and spectators."""
    return int(at.server.lobby.metrics.registry.get_sample_value("nukidora_connections") or 0)


@pytest.mark.slow
async def test_spectators_are_sent_the_whole_game_without_annotations(tmp_path: Path) -> None:
    def thinking(bot: Bot, message: Message) -> Answer:
        answer = tsumogiri(bot, message)
        assert isinstance(answer, dict)
        return answer | {"ext_bot": {"sure": "5p"}}

    async with live(tmp_path) as at:
        bot = Bot(at.server, NASTY, thinking, room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        early = asyncio.create_task(watch(at, game))
        await bot.answer(question)
        question = await play_into(bot, 2)
        late = asyncio.create_task(watch(at, game))
        await play_on(bot, question)
        lines = await stored_lines(at.server, game)
        assert any("ext_bot" in line for line in lines)
        lines[0].pop("wall_seed")
        expected = [{key: value for key, value in line.items() if key != "ext_bot"} for line in lines]
        assert [message for _, message in await early] == expected
        assert [message for _, message in await late] == expected
        assert NASTY in expected[0]["names"]
        assert expected[-1]["type"] == "end_game"
        assert "?" not in str(expected[1]["tehais"])


@pytest.mark.slow
async def test_no_byte_of_an_unfinished_round_is_sent(at: Live) -> None:
    bot = Bot(at.server, "aki", room=TABLE)
    question = await play_into(bot, 0)
    game = await playing_game(at)
    listeners: list[Listener] = []
    for rounds in range(4):
        if rounds:
            await bot.answer(question)
            question = await play_into(bot, rounds)
        listeners.append(await Listener.connect(at, game))
        await until(lambda: all(listener.received.count(END) == rounds for listener in listeners))  # noqa: B023
        await asyncio.sleep(0.1)
        for listener in listeners:
            assert listener.received.count(START) == rounds
            assert listener.received.endswith(b"{" + END + b"}" if rounds else b"")
        shown = await at.get(f"/api/games/{game}")
        assert shown["rounds"] == rounds
        if rounds:
            assert json.dumps(scores(shown), separators=(",", ":")).encode() in listeners[0].received
        else:
            assert (bytes(listeners[0].received), scores(shown)) == (b"", [35_000] * 3)
    await play_on(bot, question)
    await until(lambda: all(END_GAME in listener.received for listener in listeners))
    await until(lambda: len({bytes(listener.received) for listener in listeners}) == 1)  # with the close frame
    for listener in listeners:
        listener.close()


@pytest.mark.slow
async def test_rounds_are_sent_after_the_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delay = 1.0
    over: list[float] = []
    recorded = Broadcast.recorded

    def clocked(broadcast: Broadcast, rounds: int) -> None:
        over.extend([monotonic()] * rounds)
        recorded(broadcast, rounds)

    monkeypatch.setattr(Broadcast, "recorded", clocked)
    async with live(tmp_path, spectator_delay=delay, resume_timeout=0) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        watching = asyncio.create_task(watch(at, game))
        await bot.answer(question)
        question = await play_into(bot, 1)
        assert (await at.get(f"/api/games/{game}"))["rounds"] == 1  # the scores are no secret
        await play_on(bot, question)
        await until(lambda: not at.server.lobby.broadcasts)  # the game is removed, but its spectators still have it
        shown = await watching
        rounds = 0
        for when, message in shown:
            rounds += message["type"] == "start_kyoku"
            assert when > over[max(1, rounds) - 1] + delay, message
        assert rounds == len(over) > 1


@pytest.mark.slow
async def test_a_spectator_that_does_not_read_is_disconnected(tmp_path: Path) -> None:
    limits = replace(PATIENT, spectator_timeout=0.5, close_timeout=0.5)
    async with live(tmp_path, limits=limits) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        history = at.server.lobby.games[game].history
        for _ in range(10_000):  # more than the system's own buffers take
            history.add_error(0, "x" * 1000)
        stuck = await Listener.connect(at, game, reads=False)
        await until(lambda: connections(at) == 2)
        began = monotonic()  # how long after this it is sent the round depends on the machine
        await bot.answer(question)
        question = await play_into(bot, 1)
        await until(lambda: connections(at) == 1)
        assert monotonic() - began > 0.9
        await play_on(bot, question)
        stuck.close()


async def test_a_spectator_that_sends_a_message_is_disconnected(at: Live) -> None:
    bot = Bot(at.server, "aki", room=TABLE)
    await play_into(bot, 0)
    async with at.socket(f"/api/games/{await playing_game(at)}/events") as events:
        await events.send("{}")
        with pytest.raises(ConnectionClosed):
            await events.recv()
    assert (events.close_code, events.close_reason) == (1008, "spectators only listen")


@pytest.mark.slow
async def test_spectators_count_as_connections(tmp_path: Path) -> None:
    async with live(tmp_path, connections_per_address=2, max_connections=5) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        await play_into(bot, 0)
        path = f"/api/games/{await playing_game(at)}/events"
        async with at.socket(path):
            status, headers, detail = await refusal(at, path)
            assert status == 429
            assert int(headers["Retry-After"]) >= 1
            assert "setting connections_per_address" in detail
        await until(lambda: connections(at) == 1)
        async with at.socket(path):
            pass
        await until(lambda: connections(at) == 1)
        while at.server.lobby.access.n_connections() < 5:
            at.server.lobby.access.admit(f"192.0.2.{at.server.lobby.access.n_connections()}", maybe_proxy=False)
        status, _, detail = await refusal(at, path)
        assert (status, detail) == (503, "the server is full (its setting max_connections); try again later")


@pytest.mark.slow
async def test_after_a_restart_spectators_are_sent_the_game_from_its_start(tmp_path: Path) -> None:
    seen: list[Any] = []
    async with live(tmp_path) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        async with at.socket(f"/api/games/{game}/events") as events:
            await bot.answer(question)
            await play_into(bot, 1)
            while not seen or END not in seen[-1]:
                seen.append(await events.recv(decode=False))
    async with live(tmp_path) as at:
        shown = await at.get(f"/api/games/{game}")
        assert shown["rounds"] == 1
        async with at.socket(f"/api/games/{game}/events") as events:
            assert [await events.recv(decode=False) for _ in seen] == seen


# Closed hands ---------------------------------------------------------------------------------------------------------


async def next_question(bot: Bot) -> Message:
    """Play to the next draw of the bot, or to the end of the game."""
    return await bot.until(
        lambda message: message["type"] == "end_game" or (message["type"], message.get("actor")) == ("tsumo", bot.seat)
    )


@pytest.mark.slow
async def test_closed_hands_come_at_once(tmp_path: Path) -> None:
    """Whenever the bot is asked, a spectator has been sent the draw that it is asked about, whatever the delay."""
    async with live(tmp_path, spectator_delay=3600, length="east") as at:
        bot = Bot(at.server, "aki", room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        async with at.socket(f"/api/games/{game}/events?hands=closed") as events:
            seen: list[Message] = []
            while question["type"] != "end_game":
                while len(seen) < len(bot.game):
                    seen.append(json.loads(await events.recv()))
                assert seen[-1] == {"type": "tsumo", "actor": bot.seat, "pai": "?"}
                shown = await at.get(f"/api/games/{game}")
                assert shown["rounds"] == sum(message["type"] == "end_kyoku" for message in seen)
                if seen[-2]["type"] == "start_kyoku":
                    assert scores(shown) == seen[-2]["scores"]
                await bot.answer(question)
                question = await next_question(bot)
            seen += [json.loads(data) async for data in events]
        assert [message["type"] for message in seen] == [message["type"] for message in bot.game]
        assert seen[-1]["type"] == "end_game"


async def test_a_late_spectator_of_closed_hands_is_sent_the_same(at: Live) -> None:
    bot = Bot(at.server, "aki", room=TABLE)
    question = await play_into(bot, 0)
    game = await playing_game(at)
    closed = f"{game}/events?hands=closed"
    first = asyncio.create_task(frames_of(at, closed))
    for rounds in (1, 2):
        await bot.answer(question)
        question = await play_into(bot, rounds)
    second = asyncio.create_task(frames_of(at, closed))
    await until(lambda: connections(at) == 3)
    await play_on(bot, question)
    third = await frames_of(at, closed)
    assert await first == await second == third
    assert third[-1].startswith(b'{"type":"end_game"')


async def frames_of(at: Live, path: str) -> list[bytes]:
    """All frames of a spectator."""
    async with at.socket(f"/api/games/{path}") as events:
        return [data.encode() if isinstance(data, str) else data async for data in events]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("hands=shut", "query: hands is shut; it should be 'open' or 'closed'"),
        ("hands=", "query: hands is ; it should be 'open' or 'closed'"),
        ("hands=%00", "query: hands is '\\x00'; it should be 'open' or 'closed'"),
        ("hand=closed", "query: hand is unknown; known are hands"),
    ],
)
async def test_other_values_of_hands_are_refused(at: Live, query: str, detail: str) -> None:
    assert (await refusal(at, f"/api/games/0123/events?{query}"))[::2] == (422, detail)


class FakeConnection:
    """A spectator's connection that keeps what it is sent, and may stop reading."""

    address = "127.0.0.1"

    def __init__(self) -> None:
        self.writable = True
        self.sent = bytearray()

    def send_frames(self, frames: bytes) -> None:
        """See `WebSocketConnection`."""
        self.sent += frames


async def read(stream: AsyncIterator[bytes], connection: FakeConnection) -> None:
    """Be sent a stream, as a `Spectator` is."""
    async for frames in stream:
        await until(lambda: connection.writable)
        connection.send_frames(frames)


@pytest.mark.slow
async def test_who_falls_behind_or_comes_late_is_sent_the_same(at: Live) -> None:
    """Some stop reading again and again, in rounds and between them; nothing is sent to those, and nothing is lost."""
    bot = Bot(at.server, "aki", room=TABLE)
    question = await play_into(bot, 0)
    broadcast = at.server.lobby.broadcasts[await playing_game(at)]
    cpu_limiter, chance = CpuLimiter(1.0, 1.0), random.Random(1)
    watched: list[tuple[FakeConnection, asyncio.Task[None]]] = []

    def watch() -> None:
        connection: Any = FakeConnection()
        stream = broadcast.stream("closed", connection, cpu_limiter)
        watched.append((connection, asyncio.create_task(read(stream, connection))))

    while question["type"] != "end_game":
        if len(watched) < 20 and chance.random() < 0.2:
            watch()
        for connection, _ in watched:
            connection.writable = chance.random() < 0.7
        await bot.answer(question)
        question = await next_question(bot)
    for connection, _ in watched:
        connection.writable = True
    watch()
    await asyncio.gather(*(task for _, task in watched))
    (sent,) = {bytes(connection.sent) for connection, _ in watched}
    assert sent == b"".join(closed_frames(broadcast.game.history.lines()))
    assert len(watched) > 10


@pytest.mark.slow
async def test_a_spectator_of_closed_hands_that_does_not_read_is_disconnected(tmp_path: Path) -> None:
    limits = replace(PATIENT, spectator_timeout=0.3, close_timeout=0.3)
    async with live(tmp_path, limits=limits) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        question = await play_into(bot, 0)
        game = await playing_game(at)
        stuck = await Listener.connect(at, game, reads=False, query="?hands=closed")
        await until(lambda: connections(at) == 2)
        history = at.server.lobby.games[game].history
        for _ in range(100):
            await asyncio.sleep(0)
            for _ in range(10):  # more than the system's own buffers take
                history.add({"type": "dora", "dora_marker": "x" * 1000})
            at.server.lobby.broadcasts[game].recorded(0)
        await until(lambda: connections(at) == 1)
        await play_on(bot, question)
        stuck.close()


@pytest.mark.slow
async def test_spectators_do_not_delay_the_shutdown(tmp_path: Path) -> None:
    limits = replace(PATIENT, close_timeout=60.0)
    async with live(tmp_path, limits=limits) as at:
        bot = Bot(at.server, "aki", room=TABLE)
        await play_into(bot, 0)
        listener = await Listener.connect(at, await playing_game(at))
        began = monotonic()
    assert monotonic() - began < limits.close_timeout  # which a delay would take
    await listener.reading
