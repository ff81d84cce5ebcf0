"""Bots that wait for a game: who is told so, for how long they may wait, and how many rooms an address may open."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from agents.client.address import parse_url
from agents.client.playing import play
from agents.client.session import ClientSession
from engine.mjai.dialects import DIALECTS
from server.access import Access, RateLimitError
from server.limits import LIMITS
from server.running import Running
from server.settings import RoomSettings, Settings
from tests.support.scripted_bot import ScriptedBot
from tests.support.server_bots import Bot, Clock, connect_in_order, play_all, serving, together, until

TRANSPORTS = ("tcp", "websocket")
LONG = 1e6  # seconds; more than the clocks of these tests advance
REPLIES = ("always", "when_asked")
TIMED_OUT = "no game in room default within 600 seconds; join again to wait on"


async def first_message(bot: Bot) -> dict[str, Any]:
    """What the server sends next; the bot replies as it should."""
    message = await bot._read()
    assert message is not None
    await bot.answer(message)
    return message


# The acknowledgement --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_bots_that_ask_for_it_are_told_that_they_wait(
    server: Running, transport: str, reply: str, dialect: str
) -> None:
    join = {"reply": reply, "dialect": dialect, "transport": transport}
    bots = [Bot(server, name, joined=True, **join) for name in "abc"]
    for number, bot in enumerate(bots, 1):
        await bot.connect()
        told = await first_message(bot)
        assert told == {"type": "joined", "room": "default", "waiting": number, "needed": 3 - number}
    await play_all(bots)
    assert all(bot.ended and not bot.errors for bot in bots)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_other_bots_are_sent_nothing_until_the_game_begins(
    server: Running, transport: str, reply: str, dialect: str
) -> None:
    """Bots of today fail at messages that they do not know: Ruby's have no players yet, Mortal's events are an enum."""
    bots = [Bot(server, name, transport=transport, reply=reply, dialect=dialect) for name in "abc"]
    await connect_in_order(server, bots)
    assert [(await first_message(bot))["type"] for bot in bots] == ["start_game"] * 3


async def test_bots_are_told_again_before_each_game_and_by_the_key_in_a_url(server: Running) -> None:
    bot = Bot(server, "a", transport="websocket", query={"joined": "true", "games": "2"}, room="x+tsumogiri")
    await bot.connect()
    joined = {"type": "joined", "room": "x+tsumogiri", "waiting": 1, "needed": 0}
    for _ in range(2):
        assert await first_message(bot) == joined
        await bot.until(lambda message: message["type"] == "end_game")
        await bot.answer(bot.game[-1])
    assert await bot.next() is None


async def test_a_bot_that_resumes_is_told_once_it_waits_for_its_next_game(server: Running) -> None:
    join: dict[str, Any] = {"room": "x+tsumogiri", "joined": True, "resume": True, "games": 2, "reply": "when_asked"}
    bot = Bot(server, "a", **join)
    await bot.connect()
    assert (await first_message(bot))["type"] == "joined"
    await bot.until_own()
    bot.abort()
    await bot.connect(resume=len(bot.game))
    await bot.until(lambda message: message["type"] == "end_game")
    assert (await first_message(bot))["type"] == "joined"
    bot.abort()


# The waiting time -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("idle", ["leave", "stay"])
async def test_a_bot_that_has_waited_too_long_is_told_and_let_go(tmp_path: Path, transport: str, idle: str) -> None:
    """Unless the room lets it stay and the server knows that it is there: over WebSocket it answers pings."""
    stays = idle == "stay" and transport == "websocket"
    async with serving(tmp_path, timeout=LONG, idle=idle) as server:
        clock = Clock()
        bot = Bot(server, "a", transport=transport)
        await connect_in_order(server, [bot])
        clock.advance(599)
        await asyncio.sleep(0.05)
        assert len(server.lobby.rooms["default"].waiting) == 1
        clock.advance(1)
        if stays:
            await asyncio.sleep(0.05)
            await together(bot.play(), play_all([Bot(server, name) for name in "xy"]))
            assert bot.ended
            assert bot.errors == []
        else:
            assert await bot.next() == {
                "type": "error",
                "message": TIMED_OUT,
                "retry": True,
                "code": "waited",
                "values": {"name": "default", "seconds": 600.0},
            }
            assert await bot.next() is None
            assert server.lobby.rooms["default"].waiting == []


@pytest.mark.parametrize("settings", [{"wait_timeout": 0}, {"fill": ["tsumogiri"], "fill_delay": 86_400}])
async def test_a_room_may_let_bots_wait(tmp_path: Path, settings: dict[str, Any]) -> None:
    async with serving(tmp_path, timeout=LONG) as server:
        room = await server.lobby.rooms.open("cup", RoomSettings(length="east", **settings))
        clock = Clock()
        bot = Bot(server, "a", room="cup")
        await bot.connect()
        await until(lambda: len(room.waiting) == 1)
        clock.advance(86_000)
        await asyncio.sleep(0.05)
        assert len(room.waiting) == 1
        bot.abort()


@pytest.mark.slow
async def test_the_wait_for_each_game_is_limited_and_no_game_is(tmp_path: Path) -> None:
    async with serving(tmp_path, timeout=LONG, wait_timeout=100, decision_time=3600) as server:
        clock = Clock()
        stays, *others = (Bot(server, name, games=games) for name, games in (("a", 2), ("b", 1), ("c", 1)))
        bots = [stays, *others]
        questions = await together(*(bot.until(lambda message: message["type"] == "start_kyoku") for bot in bots))
        clock.advance(200)
        await together(*(bot.answer(question) for bot, question in zip(bots, questions, strict=True)))
        playing = asyncio.create_task(stays.play())
        await play_all(others)
        await until(lambda: len(server.lobby.rooms["default"].waiting) == 1)
        clock.advance(101)
        await playing
        assert stays.ended
        assert stays.errors == ["no game in room default within 100 seconds; join again to wait on"]


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_our_client_waits_and_comes_back_by_itself(tmp_path: Path, transport: str) -> None:
    """It says once that it waits; let go, it joins again, until enough others have come."""
    async with serving(tmp_path, wait_timeout=0.3) as server:
        url = {
            "tcp": f"mjsonp://127.0.0.1:{server.mjai_port}/default",
            "websocket": f"ws://127.0.0.1:{server.port}/mjai/default",
        }
        address = parse_url(url[transport])
        lines: list[str] = []
        logged: list[str] = []

        def log_and_wait(told: str, _: float) -> None:
            logged.append(told)
            sleep(0.01)

        join = {"type": "join", "name": "me", "room": "default"}
        session = ClientSession(ScriptedBot(), join, 1, lines.append, lines.append, address)
        others = [Bot(server, name) for name in "ab"]

        async def join_until_played(bot: Bot) -> None:
            while not bot.games:
                await bot.play()

        playing = asyncio.create_task(asyncio.to_thread(play, address, session, wait=log_and_wait))
        try:
            await until(lambda: len(logged) >= 2)
            assert lines == ["waiting in room default: 1 of 3"]
            assert all("no game in room default within 0.3 seconds; join again to wait on" in line for line in logged)
            await together(*(join_until_played(bot) for bot in others))
            await playing
            assert session.games_played == 1
            assert [line for line in lines if "waiting" in line] == lines[:1]
        finally:
            session.finished = True  # else its thread would try again for ever


# Rooms of one address -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_address_opens_a_limited_number_of_rooms(tmp_path: Path, transport: str) -> None:
    """It may join all that are open, and open others when one is closed. Rooms of admins do not count."""
    async with serving(tmp_path, rooms_per_address=2) as server:
        for number in range(4):
            await server.lobby.rooms.open(f"admins{number}", RoomSettings())
        bots = [Bot(server, "a", transport=transport, room=f"room{number}") for number in range(2)]
        for number, bot in enumerate(bots):
            await bot.connect()
            await until(lambda number=number: f"room{number}" in server.lobby.rooms)  # type: ignore[misc]
        third = Bot(server, "b", transport=transport, room="room2")
        await third.connect()
        assert await third.next() == {
            "type": "error",
            "message": "127.0.0.1 has opened 2 rooms (the server's setting rooms_per_address); "
            "join one of them, or leave one first",
            "retry": True,
            "code": "rooms",
            "values": {"address": "127.0.0.1", "n": 2},
        }
        for room in ("room1", "admins3", "default"):
            bots.append(Bot(server, "c", transport=transport, room=room))
            n_waiting = len(server.lobby.rooms[room].waiting)
            await bots[-1].connect()
            await until(lambda room=room, n=n_waiting: len(server.lobby.rooms[room].waiting) == n + 1)  # type: ignore[misc]
        bots[0].abort()
        await until(lambda: "room0" not in server.lobby.rooms)
        bots.append(Bot(server, "d", transport=transport, room="room2"))
        await bots[-1].connect()
        await until(lambda: "room2" in server.lobby.rooms)
        for bot in bots[1:]:
            bot.abort()
        await until(lambda: set(server.lobby.rooms) == {"default", *(f"admins{number}" for number in range(4))})


async def test_a_room_counts_until_its_last_game_is_over(tmp_path: Path) -> None:
    async with serving(tmp_path, rooms_per_address=1) as server:
        bot = Bot(server, "a", room="x+tsumogiri")
        await bot.until_own()
        other = await Bot(server, "b", room="y+tsumogiri").play()
        assert "rooms_per_address" in other.errors[0]
        await bot.answer(bot.game[-1])
        await bot.play()
        await until(lambda: "x+tsumogiri" not in server.lobby.rooms)
        assert (await Bot(server, "b", room="y+tsumogiri").play()).ended


@pytest.mark.parametrize(
    ("addresses", "one"),
    [
        (["2001:db8:1:2::1", "2001:db8:1:2:ffff::", "2001:db8:1:2:3:4:5:6"], True),
        (["2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:2:2::1"], False),
        (["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"], True),
        (["192.0.2.1", "192.0.2.2", "192.0.2.3"], False),
    ],
)
def test_a_network_of_ipv6_is_one_address(addresses: list[str], one: bool) -> None:
    access = Access(Settings(rooms_per_address=2), LIMITS)
    for address in addresses[:2]:
        access.open_room(address)
    if one:
        with pytest.raises(RateLimitError, match=r"rooms_per_address"):
            access.open_room(addresses[2])
        access.close_room(addresses[1])
    access.open_room(addresses[2])


# The join message -----------------------------------------------------------------------------------------------------

JOIN = json.dumps({"type": "join", "name": "a"})


@pytest.mark.slow
@pytest.mark.parametrize("query", [{}, {"dialect": "kita"}])
@pytest.mark.parametrize("data", [JOIN.encode("utf-16"), JOIN.encode("utf-32-le")])
async def test_a_join_is_utf_8_with_and_without_keys_in_the_url(
    server: Running, query: dict[str, str], data: bytes
) -> None:
    bot = Bot(server, "a", transport="websocket", query=query)
    bot.opening = data
    await bot.play()
    (error,) = bot.errors
    assert re.fullmatch(r"not JSON \(.* at line 1 column \d\); send one JSON object a message, in UTF-8", error)
