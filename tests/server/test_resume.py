"""Coming back to a game: nothing is missed, nothing is lost, and nobody else can."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from server.game import fallback
from server.store import FinishedGame, Store
from tests.support.server_bots import (
    NOTHING,
    Bot,
    Chooser,
    Message,
    connect_in_order,
    live_game,
    play_all,
    play_in_storms,
    serving,
    stored_games,
    the_game,
    together,
    until,
    whole,
)

TRANSPORTS = ("tcp", "websocket")
REPLIES = ("always", "when_asked")
SEEN: list[Callable[[Bot], int]] = [
    lambda bot: 0,
    lambda bot: len(bot.game) // 2,
    lambda bot: len(bot.game) - 1,
    lambda bot: len(bot.game),
]


@pytest.mark.parametrize("wire", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
async def test_coming_back_to_an_open_decision(tmp_path: Path, wire: str, reply: str) -> None:
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", wire=wire, reply=reply, resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            for seen in SEEN * 2:
                await lost.until_own()
                lost.drop()
                await lost.connect(resume=seen(lost))
                resumed = await lost.next()
                assert resumed == {"type": "resumed", "from": min(seen(lost), len(lost.game) - 1)}
                await lost.answer(resumed)
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]
        assert lost.errors == []


@pytest.mark.parametrize("reply", REPLIES)
async def test_coming_back_while_others_play(tmp_path: Path, reply: str) -> None:
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", reply=reply, resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            for seen in SEEN * 2:
                await lost.until(lambda message: message["type"] == "tsumo" and message["actor"] != lost.seat)
                lost.drop()
                await lost.connect(resume=seen(lost))
                await lost.answer(await resumed_from(lost))
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


async def resumed_from(bot: Bot) -> Message:
    """The answer to coming back."""
    message = await bot.next()
    assert message is not None
    assert message["type"] == "resumed"
    return message


async def test_messages_sent_again_hold_no_more_than_before(tmp_path: Path) -> None:
    """But for hints, which only the last needs, they are the same; `Bot` compares all others."""
    async with serving(tmp_path, seats="fixed") as server:
        bots = [Bot(server, name, Chooser(server, 1), resume=True) for name in "abc"]
        lost = bots[0]
        await connect_in_order(server, bots)

        async def come_back() -> None:
            for _ in range(5):
                drawn = await lost.until_own()
                await lost.answer(drawn)
            drawn = await lost.until_own()
            before, n_raw = list(lost.game), len(lost.raw)
            lost.drop()
            await lost.connect(resume=0)
            again = await lost.until(lambda _: lost.place == len(before))
            assert again == drawn
            assert len(lost.raw) == n_raw + 2 + len(before)  # hello and resumed
            await lost.answer(again)
            await lost.play()

        await together(come_back(), play_all(bots[1:]))
        _, lines = await the_game(server)
        whole(bots, lines)


@pytest.mark.parametrize("restart", [False, True])
async def test_dialect_and_reply_are_remembered(tmp_path: Path, restart: bool) -> None:
    """The secret alone is enough to come back with, after a restart of the server as well."""
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", room="r+rule", dialect="kita", reply="when_asked", resume=True)
        asked = await lost.until(lambda message: message.get("can_act", False))
        lost.drop()
        if not restart:
            await come_back_plainly(lost, asked)
    if restart:
        async with serving(tmp_path) as server:
            lost.move(server)
            await come_back_plainly(lost, asked)


async def come_back_plainly(bot: Bot, asked: Message) -> None:
    """With the secret and nothing else, to the same question in the same dialect."""
    bot.opening = json.dumps({"type": "join", "resume": bot.secret, "seen": len(bot.game)}).encode()
    await bot.connect()
    assert await resumed_from(bot) == {"type": "resumed", "from": len(bot.game) - 1}
    assert await bot.next() == asked
    await bot.answer(asked)
    await bot.play()
    assert bot.ended
    assert bot.errors == []
    assert not any("possible_actions" in message for message in bot.game)


async def test_dialect_and_reply_may_change_when_coming_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        lost, others = Bot(server, "lost", resume=True), [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until_own()
            lost.drop()
            lost.join |= {"reply": "when_asked"}
            await lost.connect(resume=len(lost.game))
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert any("can_act" in message for message in lost.game)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


@pytest.mark.parametrize("wire", TRANSPORTS)
async def test_a_storm_of_reconnects(tmp_path: Path, wire: str) -> None:
    async with serving(tmp_path) as server:
        chance = random.Random(wire)
        bots = [Bot(server, name, Chooser(server, 2), wire=wire, resume=True) for name in "abc"]
        await together(*(play_in_storms(bot, chance) for bot in bots))
        game, lines = await the_game(server)
        whole(bots, lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]
        assert not any(standing.taken_over for standing in game.seats)


async def test_a_wrong_secret_and_too_much_seen_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "start_kyoku") for bot in bots))
        for secret, seen, said in (
            (bots[0].secret[:-1], 0, "secret"),
            (bots[0].secret + "x", 0, "secret"),
            ("x" * 257, 0, "resume"),
            (bots[0].secret, 99, "seen is 99"),
            (bots[0].secret, -1, "seen"),
        ):
            stranger = Bot(server, "a")
            stranger.join |= {"resume": secret, "seen": seen}
            await stranger.play()
            (error,) = stranger.errors
            assert said in error
        assert len({bot.secret for bot in bots}) == 3
        for bot in bots:
            await bot.answer(bot.game[-1])
        await play_all(bots)
        game, _ = await the_game(server)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


async def test_no_secret_without_asking_for_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name) for name in "abc"]
        await play_all(bots)
        assert not any(b"resume" in raw for bot in bots for raw in bot.raw)


@pytest.mark.parametrize("wire", TRANSPORTS)
async def test_the_newer_of_two_connections_counts(tmp_path: Path, wire: str) -> None:
    async with serving(tmp_path) as server:
        first, others = Bot(server, "a", wire=wire, resume=True), [Bot(server, name) for name in "xy"]
        second = Bot(server, "a", wire=wire)

        async def twice() -> None:
            await first.until_own()
            second.secrets, second.games = first.secrets, [list(first.game)]
            await second.connect(resume=0)
            await resumed_from(second)
            await second.say(NOTHING)
            await first.play()
            assert "another connection" in first.errors[-1]
            await second.play()

        await together(twice(), play_all(others))
        game, lines = await the_game(server)
        whole([second, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


@pytest.mark.parametrize("wire", TRANSPORTS)
async def test_who_comes_back_and_is_gone_at_once_takes_nobodys_seat_for_good(tmp_path: Path, wire: str) -> None:
    """The seat is waited for again, and the next connection gets it."""
    async with serving(tmp_path) as server:
        lost, others = Bot(server, "lost", wire=wire, resume=True), [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            for _ in range(5):
                await lost.until_own()
                lost.drop()
                for _ in range(5):
                    await lost.connect(resume=0)
                    await lost.leave()
                seat = live_game(server).seats[lost.seat]
                await until(lambda seat=seat: seat.connection is None)  # type: ignore[misc]
                assert seat.reconnect_timer is not None
                await lost.connect(resume=len(lost.game))
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


async def test_a_seat_taken_over_is_given_back(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_within=0.02, house="tsumogiri") as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until_own()
            (game_in_play,) = server.lobby.games.values()
            seat = game_in_play.seats[lost.seat]
            lost.drop()
            await until(lambda: seat.taken_over)
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.say(NOTHING)
            assert not seat.taken_over
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert not any(standing.taken_over for standing in game.seats)


async def test_a_bot_may_come_back_while_a_slow_house_bot_thinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then its own answer counts, not the house bot's, whenever that comes."""
    loop, thinking, thought = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    class Slow:
        name = "slow"

        def act(self, views: np.ndarray) -> np.ndarray:
            loop.call_soon_threadsafe(thinking.set)
            asyncio.run_coroutine_threadsafe(thought.wait(), loop).result()
            return np.array([37], dtype=np.int64)

    monkeypatch.setattr(fallback, "make", lambda *_: Slow())
    async with serving(tmp_path, resume_within=0.02) as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until_own()
            (game_in_play,) = server.lobby.games.values()
            lost.drop()
            await thinking.wait()
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.say(NOTHING)
            drawn = await lost.next()
            assert drawn is not None
            thought.set()
            n_decisions = game_in_play.seats[lost.seat].decisions
            await asyncio.sleep(0.1)
            assert game_in_play.seats[lost.seat].decisions == n_decisions
            await lost.answer(drawn)
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


# The end --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("stored", [False, True])
async def test_coming_back_for_the_end_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str, stored: bool
) -> None:
    """The connection is lost after the last round; the bot is back before the game is stored, or after."""
    go_on = asyncio.Event()
    save_game = Store.save_game

    async def slow_save(self: Store, game: FinishedGame) -> bool:
        await go_on.wait()
        return await save_game(self, game)

    monkeypatch.setattr(Store, "save_game", slow_save)
    async with serving(tmp_path) as server:
        lost, others = Bot(server, "lost", reply=reply, resume=True), [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until(lambda message: message["type"] == "end_kyoku" and live_game(server).engine.over)
            game_in_play = live_game(server)
            lost.drop()
            await until(lambda: game_in_play.seats[lost.seat].connection is None)
            if stored:
                go_on.set()
                await until(lambda: game_in_play.announced)
            await lost.connect(resume=len(lost.game))
            await lost.answer(await resumed_from(lost))
            go_on.set()
            await lost.play()

        await together(come_back(), play_all(others))
        assert lost.ended
        _, lines = await the_game(server)
        whole([lost, *others], lines)


async def test_a_game_that_is_over_for_long_cannot_be_come_back_to(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_within=0.01) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await play_all(bots)
        await until(lambda: not server.lobby.games)
        await bots[0].play(resume=0)
        assert "no game being played has this secret" in bots[0].errors[0]
        assert list((tmp_path / "journal").iterdir()) == []


async def test_a_bot_that_came_back_stays_for_its_next_games_as_who_it_was(tmp_path: Path) -> None:
    """Whatever name it says when it comes back, and with a secret for each game."""
    async with serving(tmp_path) as server:
        token = await server.lobby.store.add_token("owned")
        lost, others = Bot(server, "lost", games=3, resume=True), [Bot(server, name, games=3) for name in "xy"]

        async def come_back() -> None:
            for number in (1, 2, 3):
                await lost.until(lambda _, n=number: len(lost.games) == n and len(lost.game) > 9)  # type: ignore[misc]
                lost.drop()
                lost.join |= {"name": "owned", "games": 7, "room": "elsewhere"}
                await lost.connect(resume=len(lost.game))
            await lost.play()
            assert len(set(lost.secrets)) == 3

        await together(come_back(), play_all(others))
        games = await stored_games(server)
        assert len(games) == 3
        assert all({standing.name for standing in game.seats} == {"lost", "x", "y"} for game in games)
        assert token not in str(games)
