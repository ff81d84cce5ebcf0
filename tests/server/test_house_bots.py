"""House bots: their pause, and that those of one kind are one player."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.game.seat import Seat
from server.running import Running
from tests.support.running_server import Live
from tests.support.server_bots import PATIENT, Bot, Clock, connect_in_order, serving, until
from tests.support.server_bots import live_game as the_live_game
from tests.support.stored_records import the_game


async def test_two_house_bots_of_one_kind_are_one_player_with_one_rating(at: Live) -> None:
    for _ in range(2):
        await Bot(at.server, "aki", room="solo+rule+rule").play()
    players = (await at.get("/api/players", order="name"))["items"]
    assert [(found["name"], found["house_bot"]) for found in players] == [("aki", False), ("rule (house)", True)]
    house = players[1]
    assert (house["games"], house["rated_games"]) == (4, 2)
    ratings = (await at.get("/api/players/rule (house)/ratings"))["items"]
    assert [point["number"] for point in ratings] == [1, 2]
    assert ratings[-1]["rating"] == house["rating"]
    assert ratings[0]["rating"] != house["rating"]


@pytest.mark.slow
async def test_a_pause_delays_house_bots_and_is_no_fault(tmp_path: Path) -> None:
    """Although it is longer than a decision may take."""
    async with serving(tmp_path, timeout=1e6, pause=20.0, decision_time=5.0, bank_time=0.0, seed=5) as server:
        clock = Clock()
        bot = Bot(server, "aki", room="solo+rule+rule")
        playing = asyncio.create_task(bot.play())
        waits = 0
        while not playing.done():
            await asyncio.sleep(0)
            if deciding := in_pause(server):
                waits += 1
                made = [seat.decisions for seat in deciding]
                clock.advance(20.0)
                await until(lambda: all(seat.decisions > n for seat, n in zip(deciding, made, strict=True)))  # noqa: B023
        await playing
        game, lines = await the_game(server)
        assert [seat.faults for seat in game.seats] == [0, 0, 0]
        assert not any(seat.taken_over for seat in game.seats)
        assert waits >= sum(line["type"] == "dahai" and game.seats[line["actor"]].house_bot for line in lines)


def in_pause(server: Running) -> list[Seat]:
    """The house bots that decide once the pause is over; none while a connected bot is asked, too."""
    asked = [seat for game in server.lobby.games.values() for seat in game.seats if seat.legal_actions]
    return asked if all(seat.paused for seat in asked) else []


async def test_a_bot_that_returns_in_the_pause_of_its_house_bot_has_its_time(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"pause": 20.0, "resume_timeout": 0.0, "decision_time": 5.0, "bank_time": 0.0}
    async with serving(tmp_path, timeout=1e6, seats="fixed", **settings) as server:
        clock = Clock()
        bot, *others = (Bot(server, name, resume=True) for name in ("aki", "bo", "chi"))
        await connect_in_order(server, [bot, *others])
        await bot.until_own()
        game = the_live_game(server)
        bot.abort()
        await until(lambda: game.seats[0].taken_over)
        assert game.seats[0].legal_actions
        await bot.connect(resume=len(bot.game))
        await until(lambda: not game.seats[0].taken_over)
        clock.advance(6.0)
        await until(lambda: game.seats[0].faults == 1)  # it has not replied
        clock.advance(20.0)  # the pause is over, and changes nothing
        await asyncio.sleep(0.01)
        assert game.seats[0].faults == 1


@pytest.mark.slow
async def test_a_server_that_closes_in_a_pause_goes_on_with_the_game(tmp_path: Path, no_error_is_logged: None) -> None:
    limits = replace(PATIENT, steps_at_once=4)
    async with serving(tmp_path, limits=limits, pause=0.05, resume_timeout=0.0) as server:
        bot = Bot(server, "aki", room="solo+rule+rule", resume=True)
        await bot.until_own()
        await bot.answer(bot.game[-1])
    await asyncio.sleep(0.1)  # the timer of the pause fires
    async with serving(tmp_path, limits=limits, pause=0.0, resume_timeout=0.0) as server:
        (journal,) = (tmp_path / "journal").glob("*.journal")
        await until(lambda: the_live_game(server).history.count > len(bot.game))
        assert journal.exists()


async def test_a_decision_has_one_pause_however_often_its_bot_comes_and_goes(tmp_path: Path) -> None:
    """Else one bot could halt the game of the others for ever."""
    settings: dict[str, Any] = {"pause": 20.0, "resume_timeout": 0.0, "decision_time": 5.0, "bank_time": 0.0}
    async with serving(tmp_path, timeout=1e6, seats="fixed", **settings) as server:
        bot, *others = (Bot(server, name, resume=True) for name in ("aki", "bo", "chi"))
        await connect_in_order(server, [bot, *others])
        await bot.until_own()
        seat = the_live_game(server).seats[0]
        for decided in (0, 1):
            bot.abort()
            await until(lambda: seat.taken_over)
            assert (seat.decisions, seat.faults) == (decided, 0)
            await bot.connect(resume=len(bot.game))
            await until(lambda: not seat.taken_over)


async def test_a_game_that_all_bots_have_left_is_played_without_pauses(tmp_path: Path) -> None:
    """Else abandoned games, each with its journal open, would pile up."""
    async with serving(tmp_path, pause=60.0, resume_timeout=0.0, seats="fixed") as server:
        bot = Bot(server, "aki", room="solo+tsumogiri+tsumogiri")
        await bot.until_own()
        bot.abort()
        await until(lambda: not server.lobby.games)
        await the_game(server)
