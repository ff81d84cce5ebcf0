"""A bot leaves its game by request: a house bot plays on at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from server.running import Running
from tests.support.server_bots import Bot, live_game, playing, resumed_from, serving, until
from tests.support.stored_records import the_game

LEAVE = {"type": "leave"}


async def test_a_house_bot_takes_the_seat_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        leaver = Bot(server, "leaver", reply="when_asked")
        others = [Bot(server, name) for name in "xy"]
        async with playing(others):
            await leaver.until_own()
            await leaver.send(LEAVE)
            while await leaver.next() is not None:
                pass
        game, lines = await the_game(server)
        assert leaver.errors == ["left the game: rule plays this seat"]
        seat = game.seats[leaver.seat]
        assert (seat.name, seat.taken_over, seat.faults) == ("leaver", True, 0)
        assert [line["played_by"] for line in lines if line["type"] == "error"] == ["rule"]


async def test_who_has_left_may_only_look_on(tmp_path: Path) -> None:
    """Else who leaves and comes back would have the whole time for a decision again, as often as he likes."""
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        leaver = Bot(server, "leaver", resume=True)
        others = [Bot(server, name) for name in "xy"]
        async with playing(others):
            await leaver.until_own()
            await leaver.send(b'{ "type" : "leave", "unknown": 1 }')
            while await leaver.next() is not None:
                pass
            seat = live_game(server).seats[leaver.seat]
            assert seat.taken_over
            for _ in range(3):
                await leaver.connect(resume=len(leaver.game))
                await resumed_from(leaver)
                assert seat.taken_over
            await leaver.play()
            assert leaver.game[-1]["type"] == "end_game"
        game, lines = await the_game(server)
        assert game.seats[leaver.seat].taken_over
        assert [line["played_by"] for line in lines if line["type"] == "error"] == ["rule"], "coming back adds nothing"


async def test_who_has_left_has_left_after_a_restart_too(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        leaver = Bot(server, "leaver", resume=True)
        others = [Bot(server, name, resume=True) for name in "xy"]
        for bot in (leaver, *others):
            await bot.connect()
        await leaver.until_own()
        await leaver.send(LEAVE)
        while await leaver.next() is not None:
            pass
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        (game,) = server.lobby.games.values()
        assert [seat.left for seat in game.seats] == [seat.index == leaver.seat for seat in game.seats]


async def test_leaving_while_the_join_is_looked_at(server: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.mjai_port)
    writer.write(b'{"type":"join","name":"early","room":"default"}\n{"type":"leave"}\n')
    hello, *others = (await reader.read()).splitlines()
    assert (json.loads(hello)["type"], others) == ("hello", [])
    writer.close()
    assert not server.lobby.rooms["default"].waiting


async def test_a_bot_that_waits_leaves_the_room(server: Running) -> None:
    bot = Bot(server, "early", joined=True, reply="when_asked")
    await bot.connect()
    room = server.lobby.rooms["default"]
    await until(lambda: bool(room.waiting))
    await bot.send(LEAVE)
    await until(lambda: not room.waiting)
    await until(lambda: not server.lobby._bots)


async def test_a_restored_game_does_not_wait_for_who_has_left(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        bot = Bot(server, "leaver", room="solo+rule+rule", resume=True, reply="when_asked")
        await bot.connect()
        await bot.until_own()
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        (game,) = server.lobby.games.values()
        game.leave(bot.seat)
        await until(lambda: game.announced)
        stored, _ = await the_game(server)
        assert stored.seats[bot.seat].taken_over
