"""Resuming a game: a bot misses no message, keeps its seat, and needs the secret."""

from __future__ import annotations

import json
import random
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from server.limits import Limits
from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    Bot,
    Chooser,
    Message,
    connect_in_order,
    live_game,
    play_all,
    play_with_reconnects,
    playing,
    resumed_from,
    serving,
    together,
    until,
)
from tests.support.stored_records import assert_all_received, held_up, stored_games, the_faultless_game, the_game

TRANSPORTS = ("tcp", "websocket")
REPLIES = ("always", "when_asked")
SEEN_COUNTS: list[Callable[[Bot], int]] = [
    lambda bot: 0,
    lambda bot: len(bot.game) // 2,
    lambda bot: len(bot.game) - 1,
    lambda bot: len(bot.game),
]


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
async def test_resuming_at_an_open_decision(server: Running, transport: str, reply: str) -> None:
    lost = Bot(server, "lost", transport=transport, reply=reply, resume=True)
    others = [Bot(server, name) for name in "xy"]
    async with playing(others):
        for seen in SEEN_COUNTS * 2:
            await lost.until_own()
            lost.abort()
            await lost.connect(resume=seen(lost))
            resumed = await lost.next()
            assert resumed == {"type": "resumed", "from": min(seen(lost), len(lost.game) - 1)}
            await lost.answer(resumed)
        await lost.play()
    await the_faultless_game(server, [lost, *others])
    assert lost.errors == []


@pytest.mark.slow
async def test_messages_sent_again_are_those_sent_before(tmp_path: Path) -> None:
    """Only the last has hints; `Bot` checks that everything else is the same."""
    async with serving(tmp_path, seats="fixed") as server:
        bots = [Bot(server, name, Chooser(server, 1), resume=True) for name in "abc"]
        lost = bots[0]
        await connect_in_order(server, bots)
        async with playing(bots[1:]):
            for _ in range(5):
                drawn = await lost.until_own()
                await lost.answer(drawn)
            drawn = await lost.until_own()
            before, n_raw = list(lost.game), len(lost.raw)
            lost.abort()
            await lost.connect(resume=0)
            again = await lost.until(lambda _: lost.next_index == len(before))
            assert again == drawn
            assert len(lost.raw) == n_raw + 2 + len(before)  # hello and resumed
            await lost.answer(again)
            await lost.play()
        _, lines = await the_game(server)
        assert_all_received(bots, lines)


@pytest.mark.slow
@pytest.mark.parametrize("restart", [False, True])
async def test_dialect_and_reply_are_remembered(tmp_path: Path, restart: bool) -> None:
    """The secret alone is enough to resume, after a restart of the server too."""
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", room="r+rule", dialect="kita", reply="when_asked", resume=True)
        asked = await lost.until(lambda message: message.get("can_act", False))
        lost.abort()
        if not restart:
            await resume_with_secret_only(lost, asked)
    if restart:
        async with serving(tmp_path) as server:
            lost.move(server)
            await resume_with_secret_only(lost, asked)


async def resume_with_secret_only(bot: Bot, asked: Message) -> None:
    """Resume with the secret and nothing else; the same message comes again in the same dialect."""
    bot.opening = json.dumps({"type": "join", "resume": bot.secret, "seen": len(bot.game)}).encode()
    await bot.connect()
    assert await resumed_from(bot) == {"type": "resumed", "from": len(bot.game) - 1}
    assert await bot.next() == asked
    await bot.answer(asked)
    await bot.play()
    assert bot.ended
    assert bot.errors == []
    assert not any("possible_actions" in message for message in bot.game)


@pytest.mark.slow
async def test_dialect_and_reply_may_change_when_resuming(server: Running) -> None:
    lost, others = Bot(server, "lost", resume=True), [Bot(server, name) for name in "xy"]
    async with playing(others):
        await lost.until_own()
        lost.abort()
        lost.join |= {"reply": "when_asked"}
        await lost.connect(resume=len(lost.game))
        await lost.play()
    await the_faultless_game(server, [lost, *others])
    assert any("can_act" in message for message in lost.game)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_many_reconnects(server: Running, transport: str) -> None:
    chance = random.Random(transport)
    bots = [Bot(server, name, Chooser(server, 2), transport=transport, resume=True) for name in "abc"]
    await together(*(play_with_reconnects(bot, chance) for bot in bots))
    game, _ = await the_faultless_game(server, bots)
    assert not any(result.taken_over for result in game.seats)


@pytest.mark.slow
async def test_a_wrong_secret_and_too_much_seen_are_refused(server: Running) -> None:
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
    assert [result.faults for result in game.seats] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_newer_of_two_connections_plays_the_seat(server: Running, transport: str) -> None:
    first, others = Bot(server, "a", transport=transport, resume=True), [Bot(server, name) for name in "xy"]
    second = Bot(server, "a", transport=transport)
    async with playing(others):
        await first.until_own()
        second.secrets, second.games = first.secrets, [list(first.game)]
        await second.connect(resume=0)
        await resumed_from(second)
        await second.send(NOTHING)
        await first.play()
        assert "another connection" in first.errors[-1]
        await second.play()
    await the_faultless_game(server, [second, *others])


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_bot_may_resume_again_after_losing_a_resumed_connection(server: Running, transport: str) -> None:
    """The server waits for it again, and the next connection gets the seat."""
    lost, others = Bot(server, "lost", transport=transport, resume=True), [Bot(server, name) for name in "xy"]
    async with playing(others):
        for _ in range(5):
            await lost.until_own()
            lost.abort()
            for _ in range(5):
                await lost.connect(resume=0)
                await lost.leave()
            seat = live_game(server).seats[lost.seat]
            await until(lambda seat=seat: seat.connection is None)  # type: ignore[misc]
            assert seat.reconnect_timer is not None
            await lost.connect(resume=len(lost.game))
            await until(lambda seat=seat: seat.connection is not None)  # type: ignore[misc]
            assert seat.reconnect_timer is None, "a house bot would take over"
        await lost.play()
    await the_faultless_game(server, [lost, *others])


@pytest.mark.slow
@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("stored", [False, True])
async def test_resuming_after_the_last_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str, stored: bool
) -> None:
    """The connection is lost after the last round; the bot resumes before the game is stored, or after."""
    _, go_on = held_up(monkeypatch, "save_game")
    async with serving(tmp_path) as server:
        lost, others = Bot(server, "lost", reply=reply, resume=True), [Bot(server, name) for name in "xy"]
        async with playing(others):
            await lost.until(lambda message: message["type"] == "end_kyoku" and live_game(server).engine.over)
            game_in_play = live_game(server)
            lost.abort()
            await until(lambda: game_in_play.seats[lost.seat].connection is None)
            if stored:
                go_on.set()
                await until(lambda: game_in_play.announced)
            await lost.connect(resume=len(lost.game))
            await lost.answer(await resumed_from(lost))
            go_on.set()
            await lost.play()
        assert lost.ended
        _, lines = await the_game(server)
        assert_all_received([lost, *others], lines)


@pytest.mark.slow
@pytest.mark.parametrize(("resume_timeout", "kept_time"), [(0.01, 3600), (3600, 0.01)])
async def test_a_finished_game_cannot_be_resumed_after_resume_within(
    tmp_path: Path, resume_timeout: float, kept_time: float
) -> None:
    async with serving(tmp_path, limits=Limits(kept_time=kept_time), resume_timeout=resume_timeout) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await play_all(bots)
        await until(lambda: not server.lobby.games)
        await bots[0].play(resume=0)
        assert "no game in play has this secret" in bots[0].errors[0]
    assert list((tmp_path / "journal").iterdir()) == []


@pytest.mark.slow
async def test_of_games_that_are_over_an_addresss_latest_can_be_resumed(tmp_path: Path) -> None:
    """Those of other addresses stay."""
    async with serving(tmp_path, limits=Limits(kept_games=2), resume_timeout=3600) as server:
        await play_all([Bot(server, name, resume=True) for name in "abc"])
        (game_of_another,) = server.lobby.games.values()
        for seat in game_of_another.seats:
            seat.address = "192.0.2.1"
        bots = [Bot(server, name, games=4, resume=True) for name in "abc"]
        await play_all(bots)
        await until(lambda: len(server.lobby.games) == 3)
        kept = [game.id for game in await stored_games(server)]
        assert set(server.lobby.games) == {game_of_another.id, *kept[:2]}
        await bots[0].play(resume=0)
        assert bots[0].errors == []


@pytest.mark.slow
async def test_a_game_that_makes_room_is_freed(tmp_path: Path) -> None:
    """Its timer does not keep it."""
    async with serving(tmp_path, limits=Limits(kept_games=1), resume_timeout=3600) as server:
        await play_all([Bot(server, name, resume=True) for name in "abc"])
        (first,) = map(weakref.ref, server.lobby.games.values())
        await play_all([Bot(server, name, resume=True) for name in "abc"])
        await until(lambda: first() is None)


@pytest.mark.slow
async def test_a_bot_that_resumed_keeps_its_name_and_room_for_its_next_games(server: Running) -> None:
    """Whatever name it sends when it resumes; and each game has a secret of its own."""
    token = await server.lobby.store.add_token("owned")
    lost, others = Bot(server, "lost", games=3, resume=True), [Bot(server, name, games=3) for name in "xy"]
    async with playing(others):
        for number in (1, 2, 3):
            await lost.until(lambda _, n=number: len(lost.games) == n and len(lost.game) > 9)  # type: ignore[misc]
            lost.abort()
            lost.join |= {"name": "owned", "games": 7, "room": "elsewhere"}
            await lost.connect(resume=len(lost.game))
        await lost.play()
        assert len(set(lost.secrets)) == 3
    games = await stored_games(server)
    assert len(games) == 3
    assert all({result.name for result in game.seats} == {"lost", "x", "y"} for game in games)
    assert token not in str(games)
