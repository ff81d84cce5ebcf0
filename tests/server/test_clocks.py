"""Decision time and time bank. The tests advance the clock of the event loop, so nothing has to be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    Bot,
    Clock,
    connect_in_order,
    playing,
    resume_all,
    serving,
    together,
    tsumogiri,
    until,
)
from tests.support.stored_records import the_game

DECISION, BANK = 4.0, 6.0
TIMES: dict[str, Any] = {"decision_time": DECISION, "bank_time": BANK, "resume_timeout": 30, "seats": "fixed"}
# Of the two times above; far longer than anything here takes, far shorter than what is tested.
MARGIN = 1.0


@asynccontextmanager
async def at_table(
    data: Path, settings: dict[str, Any] = TIMES, **join: Any
) -> AsyncIterator[tuple[Running, Clock, Bot, list[Bot]]]:
    """A server, the clock of its event loop, and three bots that begin a game: the dealer, and the others."""
    async with serving(data, **settings) as server:
        clock = Clock()
        dealer, *others = bots = [Bot(server, name, **join) for name in "abc"]
        await connect_in_order(server, bots)
        yield server, clock, dealer, others


@pytest.mark.slow
async def test_a_decision_after_the_bank_is_used_up_is_late(tmp_path: Path) -> None:
    """The late reply, when it comes, is neither a fault nor the next decision."""
    async with at_table(tmp_path) as (server, clock, slow, others):
        async with playing(others):
            drawn = await slow.until_own()
            clock.advance(DECISION + BANK)
            error = await slow.next()
            assert error is not None
            assert error["type"] == "error"
            assert "no reply within 4 s" in error["message"]
            await slow.send(tsumogiri(slow, drawn))  # to the draw
            await slow.send(NOTHING)  # to the error
            await slow.play()
        game, lines = await the_game(server)
        assert [result.faults for result in game.seats] == [1, 0, 0]
        mine = [line for line in lines if line["type"] == "dahai" and line["actor"] == 0]
        assert mine[0]["tsumogiri"] is True
        assert len(slow.errors) == 1


@pytest.mark.slow
async def test_the_bank_is_for_the_whole_game(tmp_path: Path) -> None:
    """Two decisions that use two thirds of the bank each: the second is late, and the bank is empty afterwards."""
    async with at_table(tmp_path, reply="when_asked") as (server, clock, slow, others):
        async with playing(others):
            for expected in (0, 1, 1):
                drawn = await slow.until_own()
                clock.advance(DECISION + (BANK * 2 / 3 if len(slow.errors) == 0 else -MARGIN))
                if expected > len(slow.errors):
                    await slow.until(lambda message: message["type"] == "error")
                await slow.send(tsumogiri(slow, drawn))
            drawn = await slow.until_own()
            clock.advance(DECISION)
            await slow.until(lambda message: message["type"] == "error")
            await slow.send(tsumogiri(slow, drawn))
            await slow.play()
        game, _ = await the_game(server)
        assert [result.faults for result in game.seats] == [2, 0, 0]


async def test_quick_answers_leave_the_bank_alone(tmp_path: Path) -> None:
    async with at_table(tmp_path) as (server, clock, slow, others):
        async with playing(others):
            for _ in range(3):
                drawn = await slow.until_own()
                clock.advance(DECISION - MARGIN)
                await slow.send(tsumogiri(slow, drawn))
            drawn = await slow.until_own()
            clock.advance(DECISION + BANK - MARGIN)
            await asyncio.sleep(0.05)
            await slow.send(tsumogiri(slow, drawn))
            await slow.play()
        game, _ = await the_game(server)
        assert [result.faults for result in game.seats] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("restart", [False, True])
async def test_the_bank_is_unchanged_when_a_bot_reconnects(tmp_path: Path, restart: bool) -> None:
    """Most of it is used before the connection is lost, or the server restarts; only the rest is left afterwards."""
    async with serving(tmp_path, **TIMES) as server:
        clock = Clock()
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await connect_in_order(server, bots)
        drawn = await bots[0].until_own()
        clock.advance(DECISION + BANK - MARGIN)
        await asyncio.sleep(0.05)
        await bots[0].send(tsumogiri(bots[0], drawn))
        await together(*(bot.until(lambda message: message["type"] == "dahai") for bot in bots))
        bots[0].abort()
        if not restart:
            await bots[0].connect(resume=0)
            for bot in bots[1:]:
                await bot.answer(bot.game[-1])
            await use_up(bots, clock)
    if restart:
        for bot in bots[1:]:
            bot.abort()
        async with serving(tmp_path, **TIMES) as server:
            clock = Clock()
            await resume_all(server, bots)
            await use_up(bots, clock)


async def use_up(bots: list[Bot], clock: Clock) -> None:
    """Check that only MARGIN is left of the first bot's bank."""
    slow = bots[0]
    others = asyncio.gather(*(bot.play() for bot in bots[1:]))
    await slow.until(lambda message: message["type"] == "tsumo" and message["actor"] == 0 and slow.next_index > 5)
    clock.advance(DECISION + 2 * MARGIN)
    await slow.until(lambda message: message["type"] == "error")
    others.cancel()
    await asyncio.gather(others, return_exceptions=True)


@pytest.mark.slow
async def test_the_clock_runs_on_while_a_connection_is_lost(tmp_path: Path) -> None:
    async with at_table(tmp_path, resume=True) as (server, clock, slow, others):
        async with playing(others):
            await slow.until_own()
            slow.abort()
            (game_in_play,) = server.lobby.games.values()
            clock.advance(DECISION + BANK)
            await until(lambda: game_in_play.seats[0].faults == 1)
            await slow.play(resume=len(slow.game))
        game, lines = await the_game(server)
        assert [result.faults for result in game.seats] == [1, 0, 0]
        (note,) = [line["message"] for line in lines if line["type"] == "error"]
        assert note.startswith("no reply within")


@pytest.mark.slow
async def test_a_house_bot_takes_over_if_a_bot_does_not_reconnect_in_time(tmp_path: Path) -> None:
    """Not earlier; and a bot that reconnects later gets its seat back."""
    settings = TIMES | {"resume_timeout": 5, "decision_time": 30}
    async with at_table(tmp_path, settings, resume=True) as (server, clock, late, others):
        async with playing(others):
            await late.until_own()
            (game_in_play,) = server.lobby.games.values()
            late.abort()
            await until(lambda: game_in_play.seats[0].connection is None)
            clock.advance(5 - MARGIN)
            await asyncio.sleep(0.05)
            assert not game_in_play.seats[0].taken_over
            assert game_in_play.seats[0].decisions == 0
            clock.advance(MARGIN)
            await until(lambda: game_in_play.seats[0].taken_over)
            await late.play(resume=len(late.game))
        game, lines = await the_game(server)
        assert late.ended
        assert not any(result.taken_over for result in game.seats)
        assert [result.faults for result in game.seats] == [0, 0, 0]
        assert sum("connection lost for 5 s" in line.get("message", "") for line in lines) == 1
