"""Resuming a game in which a house bot has taken the seat over."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from agents.base import Agent
from agents.registry import make
from agents.review.decisions import seat_decisions
from engine.records import mjai
from server.house_bots import HouseBots
from tests.support.server_bots import (
    NOTHING,
    TIMEOUT,
    Bot,
    PlainHouseBot,
    live_game,
    playing,
    resumed_from,
    serving,
    until,
)
from tests.support.stored_records import assert_all_received, the_faultless_game, the_game


@pytest.mark.slow
async def test_a_bot_that_resumes_gets_its_seat_back_from_the_house_bot(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_timeout=0.02, house_bot="tsumogiri") as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]
        async with playing(others):
            await lost.until_own()
            (game_in_play,) = server.lobby.games.values()
            seat = game_in_play.seats[lost.seat]
            lost.abort()
            await until(lambda: seat.taken_over)
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.send(NOTHING)
            assert not seat.taken_over
            await lost.play()
        game, lines = await the_game(server)
        assert_all_received([lost, *others], lines)
        assert not any(result.taken_over for result in game.seats)
        record = mjai.read("\n".join(map(json.dumps, lines)), "stored")
        (part,) = record.handed_over
        assert (part.seat, part.who) == (lost.seat, "tsumogiri")
        assert 0 < part.first < part.end < len(record.events)
        decided = [decision.message + 1 for decision in seat_decisions(record, lost.seat).decisions]
        assert decided
        assert not any(part.first <= n_before < part.end for n_before in decided)


@pytest.mark.slow
async def test_a_bot_may_resume_while_a_slow_house_bot_decides(tmp_path: Path) -> None:
    """Then its own reply is the decision; that of the house bot is ignored, whenever it comes."""
    loop, thinking, thought = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def think(_: np.ndarray) -> np.ndarray:
        loop.call_soon_threadsafe(thinking.set)
        asyncio.run_coroutine_threadsafe(thought.wait(), loop).result()
        return np.array([37], dtype=np.int64)

    house_bots = HouseBots(lambda *_: PlainHouseBot(think))
    async with serving(tmp_path, house_bots=house_bots, resume_timeout=0.02) as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]
        async with playing(others):
            await lost.until_own()
            (game_in_play,) = server.lobby.games.values()
            lost.abort()
            await thinking.wait()
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.send(NOTHING)
            drawn = await lost.next()
            assert drawn is not None
            thought.set()
            n_decisions = game_in_play.seats[lost.seat].decisions
            await asyncio.sleep(0.1)
            assert game_in_play.seats[lost.seat].decisions == n_decisions
            await lost.answer(drawn)
            await lost.play()
        await the_faultless_game(server, [lost, *others])


async def test_a_bot_that_lost_its_seat_by_faults_is_not_asked_while_a_slow_house_bot_decides(tmp_path: Path) -> None:
    go_on = threading.Event()

    def think(_: np.ndarray) -> np.ndarray:
        go_on.wait(TIMEOUT)
        return np.array([37], dtype=np.int64)

    def made(spec: str, seed: int) -> Agent:
        return PlainHouseBot(think) if spec == "rule" else make(spec, seed)

    async with serving(tmp_path, house_bots=HouseBots(made), max_faults=1, house_bot="rule") as server:
        bad = Bot(server, "bad", room="solo+tsumogiri+tsumogiri", resume=True, reply="when_asked")
        try:
            await bad.until_own()
            game = live_game(server)
            await bad.send(b"?")
            while await bad.next() is not None:
                pass
            await bad.leave()
            await until(lambda: bool(game.seats[bad.seat].legal_actions))
            await bad.connect(resume=len(bad.game))
            await resumed_from(bad)
            last = await bad.next()
            assert last is not None
            assert "can_act" not in last
            n_decisions = game.seats[bad.seat].decisions
            await bad.send({"type": "dahai", "actor": bad.seat, "pai": last["pai"], "tsumogiri": True})
            await bad.until(lambda message: message["type"] == "error")
            assert game.seats[bad.seat].decisions == n_decisions
        finally:
            go_on.set()


# The end --------------------------------------------------------------------------------------------------------------
