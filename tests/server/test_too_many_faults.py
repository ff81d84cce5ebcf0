"""Too many faults or messages: the house bot takes over, penalties, limits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from server.limits import Limits
from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    Bot,
    Clock,
    Message,
    connect_in_order,
    live_game,
    play_all,
    playing,
    serving,
    tsumogiri,
    until,
)
from tests.support.stored_records import the_game

TRANSPORTS = ("tcp", "websocket")
WRONG = {"type": "dahai", "actor": 1, "pai": "E"}  # by a bot that is not asked
STOPPED = Limits(clock=lambda: 0.0)  # so that whatever comes counts together


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_house_bot_takes_over_after_too_many_faults(tmp_path: Path, transport: str) -> None:
    async with serving(tmp_path, max_faults=3, fault_penalty=7.5, house_bot="tsumogiri") as server:
        bad = Bot(server, "bad", lambda bot, message: b"?", transport=transport)
        others = [Bot(server, name) for name in "xy"]
        await play_all([bad, *others])
        game, lines = await the_game(server)
        (result,) = [result for result in game.seats if result.name == "bad"]
        assert result.taken_over
        assert result.faults == 3
        assert result.penalty == 22.5
        assert [other.penalty for other in game.seats if other is not result] == [0, 0]
        assert sum(seat.points for seat in game.seats) == pytest.approx(sum(lines[-1]["points"]))
        assert not bad.ended
        assert "3 faults" in bad.errors[-1]
        notes = [line["message"] for line in lines if line["type"] == "error"]
        assert notes == bad.errors
        assert [bot.errors for bot in others] == [[], []]
        assert all(bot.ended for bot in others)


async def test_the_last_fault_may_come_while_another_message_waits_for_its_reply(tmp_path: Path) -> None:
    """The bot is asked to discard, but its reply is to an older message: the house bot must decide at once."""
    async with serving(tmp_path, max_faults=1, seats="fixed") as server:
        bad, others = Bot(server, "bad"), [Bot(server, name) for name in "xy"]
        await connect_in_order(server, [bad])
        async with playing(others):  # it is the dealer, so it has the first decision
            await bad.until(lambda message: message["type"] == "start_game")
            await bad.send(b"?")
            await bad.play()
        game, _ = await the_game(server)
        assert game.seats[0].taken_over
        assert all(bot.ended for bot in others)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_too_many_messages_a_second_close_the_connection_and_the_game_goes_on(
    tmp_path: Path, transport: str
) -> None:
    """All messages come in one second, on any machine."""
    settings: dict[str, Any] = {"messages_per_second": 100, "resume_timeout": 0.1, "max_faults": 9999}
    async with serving(tmp_path, limits=STOPPED, **settings) as server:
        bad, others = Bot(server, "bad", transport=transport), [Bot(server, name) for name in "xy"]
        async with playing(others):
            await bad.until_own()
            for _ in range(4000):
                await bad.send(tsumogiri(bad, bad.game[-1]))
            while await bad.next() is not None:
                pass
            await bad.leave()
        game, _ = await the_game(server)
        assert "a second that were not asked for" in bad.errors[-1]
        assert game.seats[bad.seat].taken_over
        assert [bot.errors for bot in others] == [[], []]


@pytest.mark.slow
async def test_a_reply_to_an_error_may_come_after_its_timeout(server: Running) -> None:
    clock = Clock()
    bad = Bot(server, "bad", room="solo+tsumogiri+tsumogiri")
    await bad.until_own()
    await bad.send(b"?")
    await bad.until(lambda message: message["type"] == "error")
    clock.advance(3)  # the server waits no longer for the reply
    await asyncio.sleep(0.05)
    await bad.send({"type": "none"})
    await bad.play()
    game, _ = await the_game(server)
    assert game.seats[bad.seat].faults == 1


@pytest.mark.slow
async def test_replies_to_errors_that_are_no_longer_waited_for_are_no_faults(tmp_path: Path) -> None:
    """One comes late, while no message waits for a reply; the next error is not waited for at all."""
    async with serving(tmp_path, seats="fixed") as server:
        clock = Clock()
        dealer, bad, _ = bots = [Bot(server, name) for name in ("dealer", "bad", "other")]
        await connect_in_order(server, bots)
        draw = await dealer.until_own()
        await bad.until(lambda message: message["type"] == "tsumo")
        connection = live_game(server).seats[1].connection
        assert connection is not None
        for patience in (3, 0):
            await bad.send(WRONG)
            await bad.until(lambda message: message["type"] == "error")
            clock.advance(patience)
            await until(lambda: not connection._outbox._unanswered)
            await bad.send(NOTHING)
        await dealer.answer(draw)
        await play_all(bots)
        game, _ = await the_game(server)
        assert ([seat.faults for seat in game.seats], len(bad.errors)) == ([0, 2, 0], 2)


@pytest.mark.slow
async def test_a_bot_that_only_watches_cannot_make_the_log_of_a_game_endless(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=Limits(max_faults_watching=20), max_faults=1, seats="fixed") as server:
        bots = [Bot(server, name, resume=True) for name in ("bad", "x", "y")]
        bad, *_ = bots
        await connect_in_order(server, bots)
        await bad.until_own()
        for _ in range(4):
            for _ in range(50):
                await bad.send(b"?")
            while await bad.next() is not None:
                pass
            await bad.leave()
            await bad.connect(resume=0)
            await bad.until(lambda message: message["type"] == "resumed")
        assert live_game(server).seats[0].faults == 1 + 20 + 2


async def test_texts_of_faults_count_as_annotations_of_their_address(tmp_path: Path) -> None:
    """Faults cost a bot nothing: their texts, which may be of its choice, would fill the disk and the memory."""
    async with serving(tmp_path, limits=STOPPED, max_faults=1000, annotations_per_minute=1) as server:
        bad = Bot(server, "bad", room="solo+tsumogiri+tsumogiri", reply="when_asked")
        await bad.until_own()
        for number in range(100):
            await bad.send({"type": f"{number:050}"})
        await bad.play()
        game, lines = await the_game(server)
        told = [line for line in lines if line["type"] == "error"]
        faults = game.seats[bad.seat].faults
        assert faults >= 100
        assert 0 < sum(len(line["message"]) + len(to_json(coded_part(line))) for line in told) <= 1024
        assert server.lobby.metrics.annotations_dropped._value.get() >= faults - len(told)


def coded_part(line: Message) -> Message:
    """The keys beside the text of a fault."""
    return {key: line[key] for key in ("code", "values", "codes") if key in line}


async def test_blank_lines_count_as_messages(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=STOPPED, messages_per_second=5) as server:
        bot = Bot(server, "a")
        await bot.connect()
        await bot.send(b"\n" * 50 + b" \n" * 50)
        error = await bot.next()
        assert error is not None
        assert error["message"].startswith("more than 5 messages or KiB a second that were not asked for")
        assert await bot.next() is None
        await bot.leave()
