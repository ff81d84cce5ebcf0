"""Rooms: who plays with whom, on which seat, and for how many games."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from pathlib import Path

import pytest

from server.retention import delete_not_kept
from server.running import Running
from server.store import Keep
from tests.server.test_storing import SOON, no_check_runs, wait_in
from tests.support.read_only import ReadOnly
from tests.support.running_server import live
from tests.support.server_bots import (
    Bot,
    Clock,
    connect_in_order,
    live_game,
    play_all,
    playing,
    serving,
    together,
    until,
)
from tests.support.stored_records import replay_of, stored_games, stored_lines, the_game

TRANSPORTS = ("tcp", "websocket")
LONG = 1e6  # seconds; more than the clocks of these tests advance


@pytest.mark.parametrize("n_bots", [1, 2])
async def test_house_bots_fill_a_room_after_the_delay_and_not_before(tmp_path: Path, n_bots: int) -> None:
    async with serving(tmp_path, timeout=LONG, fill=("rule", "tsumogiri"), fill_delay=1000) as server:
        clock = Clock()
        bots = [Bot(server, name) for name in "ab"[:n_bots]]
        await connect_in_order(server, bots)
        clock.advance(900)
        await asyncio.sleep(0.05)
        assert not server.lobby.games
        clock.advance(100)
        await play_all(bots)
        game, _ = await the_game(server)
        houses = [result for result in game.seats if result.house_bot]
        assert len(houses) == 3 - n_bots
        assert "rule" in houses[0].name or "rule" in houses[-1].name
        assert len({result.name for result in game.seats}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("room", "houses"),
    [
        ("solo+tsumogiri+efficiency", ["efficiency (house)", "tsumogiri (house)"]),
        ("solo+rule@-300+efficiency", ["efficiency (house)", "rule@-300 (house)"]),
        ("x+rule", ["rule (house)", "rule (house)"]),
    ],
)
async def test_a_room_named_with_house_bots_starts_at_once(
    tmp_path: Path, transport: str, room: str, houses: list[str]
) -> None:
    async with serving(tmp_path, fill_delay=3600) as server:
        await Bot(server, "a", room=room, transport=transport).play()
        game, _ = await the_game(server)
        assert sorted(result.name for result in game.seats if result.house_bot) == houses
        assert game.room == room


@pytest.mark.slow
async def test_rooms_and_games_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "server")
    async with serving(tmp_path) as server:
        await Bot(server, "a", room="solo+rule+rule").play()
        game, _ = await the_game(server)
        await until(lambda: "solo+rule+rule" not in server.lobby.rooms)
    entries = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    logged = [entry for entry in entries if entry.get("room", "default") != "default"]
    assert [entry["event"] for entry in logged] == ["room opened", "game finished", "room closed"]
    assert logged[1]["game"] == game.id
    assert logged[1]["scores"] == [(result.name, result.score) for result in game.seats]


BAD_NAMES = [
    ("", "room"),
    ("no spaces", "room"),
    ("a/b", "room"),
    ("ü", "room"),
    ("x" * 65, "room"),
    (".", "room"),
    ("..", "room"),
    (".+rule", "room"),
    ("..+rule", "room"),
    ("x+..", "room"),
    ("+rule", "room"),
    ("x+", "room"),
    ("x+nobody", "nobody"),
    ("x+rule+rule+rule", "3 house bots"),
    ("x+random:7", "room"),
    ("x+rule@300", "room"),
    ("x@-300", "room"),
    ("x+rule@-9999", "the weakest that rule can be"),
    ("x+tsumogiri@-100", "tsumogiri plays at full strength"),
]


@pytest.mark.slow
async def test_bad_names_of_rooms_are_refused(server: Running) -> None:
    for room, said in BAD_NAMES:
        bot = await Bot(server, "a", room=room).play()
        (error,) = bot.errors
        assert said in error
    assert set(server.lobby.rooms) == {"default"}


@pytest.mark.slow
async def test_without_house_bots_a_room_waits_and_fixed_seats_are_in_order_of_arrival(tmp_path: Path) -> None:
    async with serving(tmp_path, seats="fixed", fill_delay=1) as server:
        clock = Clock()
        bots = [Bot(server, name) for name in "abc"]
        await connect_in_order(server, bots[:2])
        clock.advance(9)
        await asyncio.sleep(0.05)
        assert not server.lobby.games
        await play_all(bots)
        assert bots[0].game[0]["names"] == ["a", "b", "c"]


@pytest.mark.slow
async def test_a_handicap_follows_its_player_to_any_seat_and_game(tmp_path: Path) -> None:
    """The scores are given in order of arrival; such games are stored and not rated."""
    async with serving(tmp_path, scores=(15_000, 40_000, 50_000), seed=1) as server:
        bots = [Bot(server, name, games=3) for name in "abc"]
        await connect_in_order(server, bots)
        await play_all(bots)
        games = await stored_games(server)
    assert len(games) == 3
    assert len({tuple(seat.name for seat in game.seats) for game in games}) > 1
    for game in games:
        assert {seat.name: seat.start_score for seat in game.seats} == {"a": 15_000, "b": 40_000, "c": 50_000}
        assert not game.rated


@pytest.mark.slow
async def test_house_bots_get_the_last_scores(tmp_path: Path) -> None:
    async with serving(tmp_path, scores=(15_000, 40_000, 50_000), fill=("random", "tsumogiri"), fill_delay=0) as server:
        await play_all([Bot(server, "a")])
        game, _ = await the_game(server)
    found = {seat.name: seat.start_score for seat in game.seats}
    assert found == {"a": 15_000, "random (house)": 40_000, "tsumogiri (house)": 50_000}


@pytest.mark.slow
async def test_random_seats_come_in_every_order(tmp_path: Path) -> None:
    async with serving(tmp_path, seed=1) as server:
        seen: Counter[tuple[str, ...]] = Counter()
        for _ in range(30):  # random, but the same with each run, as the room has a seed
            bots = [Bot(server, name) for name in "abc"]
            await connect_in_order(server, bots)
            await together(*(bot.until(lambda message: message["type"] == "start_kyoku") for bot in bots))
            seen[tuple(bots[0].game[0]["names"])] += 1
            for bot in bots:
                bot.abort()
        assert set(seen) == set(itertools.permutations("abc"))


@pytest.mark.slow
async def test_a_room_seed_determines_walls_and_seats(tmp_path: Path) -> None:
    async def games(folder: str, seed: int | None) -> list[list[object]]:
        async with serving(tmp_path / folder, seed=seed, seats="random") as server:
            bots = [Bot(server, name, games=2) for name in "abc"]
            await connect_in_order(server, bots)
            await play_all(bots)
            stored = [await stored_lines(server, game.id) for game in (await stored_games(server))[::-1]]
            assert len({lines[0]["wall_seed"] for lines in stored}) == 2
            return [[line for line in lines if line["type"] != "error"] for lines in stored]

    first, again = await games("first", 7), await games("again", 7)
    assert [lines[:2] for lines in first] == [lines[:2] for lines in again]
    assert first == again
    assert first[0][1] != (await games("other", 8))[0][1]
    assert first[0][1] != (await games("none", None))[0][1]


@pytest.mark.slow
@pytest.mark.parametrize("keep", [Keep(), Keep(games=1), Keep(games=0)])
async def test_the_sequence_of_game_seeds_continues_after_a_restart(tmp_path: Path, keep: Keep) -> None:
    """It is the same sequence with and without restarts, also if games are deleted meanwhile."""
    seeds = []
    for _ in range(3):
        async with serving(tmp_path, seed=7, fill=("tsumogiri",), fill_delay=0, resume_timeout=0) as server:
            await Bot(server, "a").play()
            await until(lambda: not server.lobby.games)  # and no journal would be stored again
            (newest, *_) = await stored_games(server)
            seeds.append((await stored_lines(server, newest.id))[0]["wall_seed"])
            await delete_not_kept(server.lobby.store, keep, id)
    async with serving(tmp_path / "other", seed=7, fill=("tsumogiri",), fill_delay=0) as server:
        await Bot(server, "a", games=3).play()
        games = await stored_games(server)
        assert [(await stored_lines(server, game.id))[0]["wall_seed"] for game in games[::-1]] == seeds


@pytest.mark.parametrize(("seed", "number"), [(7, 1), (None, 0)])
async def test_a_game_in_play_at_a_restart_is_numbered_if_its_room_had_a_seed(
    tmp_path: Path, seed: int | None, number: int
) -> None:
    """The number is stored with the game: to count another game would skip a number now and repeat it later."""
    async with serving(tmp_path, seed=seed, resume_timeout=0.1) as server:
        bots = [Bot(server, name) for name in "abc"]
        await connect_in_order(server, bots)
        await until(lambda: len(server.lobby.games) == 1)
    async with serving(tmp_path, seed=7) as server:
        room = server.lobby.rooms["default"]
        assert room.number == number
        await until(lambda: room.started == 1 and not room.playing)
        assert await server.lobby.store.next_in_series("default") == number
    for bot in bots:
        bot.abort()


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_bots_stay_for_the_number_of_games_they_join_for(server: Running, transport: str) -> None:
    """On one connection; when one bot leaves, the others play on with the next bot that joins."""
    stay = [Bot(server, name, transport=transport, games=3) for name in "ab"]
    once = [Bot(server, name, transport=transport) for name in "xyz"]
    async with playing(stay):
        for bot in once:
            await bot.play()
    assert [len(bot.games) for bot in stay] == [3, 3]
    assert [len(bot.games) for bot in once] == [1, 1, 1]
    for game in await stored_games(server):
        assert replay_of(await stored_lines(server, game.id)).check() == []
    assert len(await stored_games(server)) == 3


@pytest.mark.slow
async def test_games_in_many_rooms_at_once(server: Running) -> None:
    bots = [
        Bot(
            server,
            f"{room}.{index}",
            room=f"room{room}",
            transport=TRANSPORTS[room % 2],
            reply=("always", "when_asked")[index % 2],
        )
        for room in range(12)
        for index in range(3)
    ]
    await play_all(bots)
    assert all(bot.ended and not bot.errors for bot in bots)
    assert all({name.split(".")[0] for name in bot.game[0]["names"]} == {bot.name.split(".")[0]} for bot in bots)
    assert len(await stored_games(server)) == 12
    assert set(server.lobby.rooms) == {"default"}


@pytest.mark.slow
async def test_empty_rooms_opened_by_bots_are_removed(tmp_path: Path) -> None:
    """Otherwise bots that join and leave at once would use up `max_rooms`."""
    async with serving(tmp_path, max_rooms=3) as server:
        for number in range(10):
            bot = Bot(server, "a", room=f"room{number}", transport=TRANSPORTS[number % 2])
            await bot.connect()
            if number % 3:
                await until(lambda room=f"room{number}": room in server.lobby.rooms)  # type: ignore[misc]
            await bot.leave()
        await until(lambda: not server.lobby.metrics.connections._value.get())
        await asyncio.sleep(0.1)  # joins that are still being handled
        assert set(server.lobby.rooms) == {"default"}


@pytest.mark.slow
async def test_too_many_rooms_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, max_rooms=2) as server:
        first, second = Bot(server, "a", room="x"), Bot(server, "b", room="y")
        await first.connect()
        await until(lambda: "x" in server.lobby.rooms)
        await second.play()
        assert "2 rooms" in second.errors[0]
        await first.leave()


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_bot_disconnected_by_the_server_while_waiting_gets_no_seat(server: Running, transport: str) -> None:
    """Even if it does not close its side of the connection."""
    chatty = Bot(server, "chatty", transport=transport)
    await connect_in_order(server, [chatty])
    for _ in range(20):
        await chatty.send(b"hello?")
    await until(lambda: not server.lobby.rooms["default"].waiting)
    bots = [Bot(server, name) for name in "abc"]
    await play_all(bots)
    game, _ = await the_game(server)
    assert {result.name for result in game.seats} == {"a", "b", "c"}
    await chatty.play()
    assert chatty.errors


@pytest.mark.slow
async def test_a_message_while_waiting_is_an_error_and_no_fault(server: Running) -> None:
    chatty = Bot(server, "chatty")
    await connect_in_order(server, [chatty])
    await chatty.send(b"hello?")
    await together(chatty.play(), play_all([Bot(server, name) for name in "xy"]))
    game, _ = await the_game(server)
    assert [result.faults for result in game.seats] == [0, 0, 0]
    assert len(chatty.errors) == 1


@pytest.mark.slow
async def test_a_room_plays_no_more_games_than_its_own_though_many_wait(tmp_path: Path, read_only: ReadOnly) -> None:
    """Its first game cannot be stored for a while, in which no other starts."""
    async with live(tmp_path, limits=SOON, games=2) as at:
        first, later = [Bot(at.server, name) for name in "abc"], [Bot(at.server, name) for name in "uvwxyz"]
        await connect_in_order(at.server, first)
        await until(lambda: len(at.server.lobby.games) == 1)
        await no_check_runs(at.server)
        read_only.on = True
        await together(*(bot.until(lambda _: live_game(at.server).engine.over) for bot in first))
        await until(lambda: bool(at.server.lobby.storing.problem))
        await wait_in(at.server, later, "default")
        read_only.on = False
        await play_all([*first, *later])
        assert [len(bot.games) for bot in later] == [1, 1, 1, 0, 0, 0]
        assert all("all its games have started" in bot.errors[0] for bot in later[3:])
        assert len(await stored_games(at.server)) == 2
