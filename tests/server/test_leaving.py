"""A bot leaves its game by request: a house bot plays on at once."""

from __future__ import annotations

from pathlib import Path

from tests.support.server_bots import Bot, play_all, resumed_from, serving, the_game, together, until

LEAVE = {"type": "leave"}


async def test_a_house_bot_takes_the_seat_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        leaver = Bot(server, "leaver", reply="when_asked")
        others = [Bot(server, name) for name in "xy"]

        async def leave() -> None:
            await leaver.until_own()
            await leaver.send(LEAVE)
            while await leaver.next() is not None:
                pass

        await together(leave(), play_all(others))
        game, lines = await the_game(server)
        assert leaver.errors == ["left the game: rule plays this seat"]
        seat = game.seats[leaver.seat]
        assert (seat.name, seat.taken_over, seat.faults) == ("leaver", True, 0)
        assert [line["played_by"] for line in lines if line["type"] == "error"] == ["rule"]


async def test_a_request_is_no_reply_and_leaves_a_bot_that_always_replies_its_seat(tmp_path: Path) -> None:
    """Whoever kept the secret may still come back."""
    async with serving(tmp_path, resume_timeout=3600.0) as server:
        leaver = Bot(server, "leaver", resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def leave() -> None:
            await leaver.until_own()
            await leaver.send(b'{ "type" : "leave", "unknown": 1 }')
            while await leaver.next() is not None:
                pass
            (game,) = server.lobby.games.values()
            assert game.seats[leaver.seat].taken_over
            await leaver.connect(resume=len(leaver.game))
            await resumed_from(leaver)
            await leaver.send({"type": "none"})
            assert not game.seats[leaver.seat].taken_over
            await leaver.play()

        await together(leave(), play_all(others))
        game, _ = await the_game(server)
        assert not game.seats[leaver.seat].taken_over


async def test_a_bot_that_waits_leaves_the_room(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
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
