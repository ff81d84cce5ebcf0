"""Coming back to a game: nothing is missed, nothing is lost, and nobody else can."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server import sitting as sitting_module
from server.store import FinishedGame, Store
from tests.server.bots import (
    NOTHING,
    Answer,
    Bot,
    Chooser,
    Message,
    bare,
    connect_in_order,
    play_all,
    play_in_storms,
    serving,
    stored_games,
    stored_lines,
    the_game,
    together,
    tsumogiri,
    until,
)

TRANSPORTS = ("tcp", "websocket")
REPLIES = ("always", "when_asked")
SEEN: dict[str, Callable[[Bot], int]] = {
    "nothing": lambda bot: 0,
    "half": lambda bot: len(bot.game) // 2,
    "all but one": lambda bot: len(bot.game) - 1,
    "all": lambda bot: len(bot.game),
}


async def whole(bots: list[Bot], lines: list[Message]) -> None:
    """All bots have had all messages of the game."""
    events = [line for line in lines if line["type"] != "error"]
    for bot in bots:
        assert [message["type"] for message in bot.game] == [event["type"] for event in events]
        assert [message.get("pai") for message in bot.game if message["type"] == "dahai"] == [
            event["pai"] for event in events if event["type"] == "dahai"
        ]


@pytest.mark.parametrize("wire", TRANSPORTS)
@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("seen", SEEN)
async def test_coming_back_to_an_open_decision(tmp_path: Path, wire: str, reply: str, seen: str) -> None:
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", wire=wire, reply=reply, resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            for _ in range(3):
                await lost.until_own()
                lost.drop()
                await lost.connect(resume=SEEN[seen](lost))
                resumed = await lost.next()
                assert resumed == {"type": "resumed", "from": min(SEEN[seen](lost), len(lost.game) - 1)}
                await lost.answer(resumed)
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        await whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]
        assert lost.errors == []


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("seen", SEEN)
async def test_coming_back_while_others_play(tmp_path: Path, reply: str, seen: str) -> None:
    async with serving(tmp_path) as server:
        lost = Bot(server, "lost", reply=reply, resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            for _ in range(3):
                await lost.until(lambda message: message["type"] == "tsumo" and message["actor"] != lost.seat)
                lost.drop()
                await lost.connect(resume=SEEN[seen](lost))
                await lost.answer(await resumed_from(lost))
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        await whole([lost, *others], lines)
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
        await whole(bots, lines)


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
        await whole([lost, *others], lines)
        assert any("can_act" in message for message in lost.game)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


@pytest.mark.parametrize("wire", TRANSPORTS)
async def test_a_storm_of_reconnects(tmp_path: Path, wire: str) -> None:
    async with serving(tmp_path) as server:
        chance = random.Random(wire)
        bots = [Bot(server, name, Chooser(server, 2), wire=wire, resume=True) for name in "abc"]
        await together(*(play_in_storms(bot, chance) for bot in bots))
        game, lines = await the_game(server)
        await whole(bots, lines)
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
        await whole([second, *others], lines)
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
                (sitting,) = server.lobby.sittings.values()
                await until(lambda: sitting.seats[lost.seat].guest is None)
                assert sitting.seats[lost.seat].patience is not None
                await lost.connect(resume=len(lost.game))
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        await whole([lost, *others], lines)
        assert [standing.faults for standing in game.seats] == [0, 0, 0]


async def test_a_seat_taken_over_is_given_back(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_within=0.02, house="tsumogiri") as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until_own()
            (sitting,) = server.lobby.sittings.values()
            seat = sitting.seats[lost.seat]
            lost.drop()
            await until(lambda: seat.taken_over)
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.say(NOTHING)
            assert not seat.taken_over
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        await whole([lost, *others], lines)
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

    monkeypatch.setattr(sitting_module, "make", lambda *_: Slow())
    async with serving(tmp_path, resume_within=0.02) as server:
        lost = Bot(server, "lost", resume=True)
        others = [Bot(server, name) for name in "xy"]

        async def come_back() -> None:
            await lost.until_own()
            (sitting,) = server.lobby.sittings.values()
            lost.drop()
            await thinking.wait()
            await lost.connect(resume=len(lost.game))
            await resumed_from(lost)
            await lost.say(NOTHING)
            drawn = await lost.next()
            assert drawn is not None
            thought.set()
            n_decisions = sitting.seats[lost.seat].decisions
            await asyncio.sleep(0.1)
            assert sitting.seats[lost.seat].decisions == n_decisions
            await lost.answer(drawn)
            await lost.play()

        await together(come_back(), play_all(others))
        game, lines = await the_game(server)
        await whole([lost, *others], lines)
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
            await lost.until(lambda message: message["type"] == "end_kyoku" and the_sitting(server).game.over)
            sitting = the_sitting(server)
            lost.drop()
            await until(lambda: sitting.seats[lost.seat].guest is None)
            if stored:
                go_on.set()
                await until(lambda: sitting.announced)
            await lost.connect(resume=len(lost.game))
            await lost.answer(await resumed_from(lost))
            go_on.set()
            await lost.play()

        await together(come_back(), play_all(others))
        assert lost.ended
        _, lines = await the_game(server)
        await whole([lost, *others], lines)


def the_sitting(server: Any) -> Any:
    """The one game being played."""
    (sitting,) = server.lobby.sittings.values()
    return sitting


async def test_a_game_that_is_over_for_long_cannot_be_come_back_to(tmp_path: Path) -> None:
    async with serving(tmp_path, resume_within=0.01) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await play_all(bots)
        await until(lambda: not server.lobby.sittings)
        await bots[0].play(resume=0)
        assert "no game being played has this secret" in bots[0].errors[0]
        assert list((tmp_path / "journal").iterdir()) == []


async def test_a_bot_that_came_back_stays_for_its_next_games_as_who_it_was(tmp_path: Path) -> None:
    """Whatever name it says when it comes back, and with a secret for each game."""
    async with serving(tmp_path) as server:
        token = await server.lobby.store.add_token("owned")
        lost, others = Bot(server, "lost", games=3, resume=True), [Bot(server, name, games=3) for name in "xy"]

        async def come_back() -> None:
            secrets = set()
            for number in (1, 2, 3):
                await lost.until(lambda message, n=number: message["type"] == "tsumo" and len(lost.games) == n)
                secrets.add(lost.secret)
                lost.drop()
                lost.join |= {"name": "owned", "games": 7, "room": "elsewhere"}
                await lost.connect(resume=len(lost.game))
            assert len(secrets) == 3
            await lost.play()

        await together(come_back(), play_all(others))
        games = await stored_games(server)
        assert len(games) == 3
        assert all({standing.name for standing in game.seats} == {"lost", "x", "y"} for game in games)
        assert token not in str(games)


# A restart --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", REPLIES)
async def test_games_go_on_after_a_restart(tmp_path: Path, reply: str) -> None:
    """Stopped in the middle, twice; faults, remarks and what was taken over are remembered."""

    def remarking(bot: Bot, message: Message) -> Answer:
        answer = tsumogiri(bot, message)
        return answer | {"ext_bot": {"n": bot.place}} if answer is not NOTHING else answer  # type: ignore[operator]

    async with serving(tmp_path, seats="fixed") as server:
        bots = [Bot(server, name, remarking, reply=reply, resume=True) for name in "abc"]
        await connect_in_order(server, bots)
        await bots[0].until_own()
        await bots[0].say(b"?")
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 20) for bot in bots))  # type: ignore[misc]
    for limit in (40, 60):
        async with serving(tmp_path) as server:
            for bot in bots:
                bot.move(server)
                await bot.connect(resume=len(bot.game))
            await together(*(bot.until(lambda _, bot=bot, n=limit: bot.place >= n) for bot in bots))  # type: ignore[misc]
    async with serving(tmp_path) as server:
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=random.Random(limit).randrange(len(bot.game)))
        await play_all(bots)
        game, lines = await the_game(server)
        await whole(bots, lines)
        assert lines[0]["type"] == "start_game"
        assert "wall_seed" in lines[0]
        assert game.seats[bots[0].seat].faults == 1
        assert [line["message"] for line in lines if line["type"] == "error"] == bots[0].errors[:1]
        mine = [line for line in lines if line["type"] == "dahai"]
        assert sum("ext_bot" not in line for line in mine) == 1


async def test_a_fault_before_the_first_decision_is_noted_behind_the_beginning(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "start_game") for bot in bots))
        await bots[0].say(b"?")
        await bots[0].until(lambda message: message["type"] == "error")
    async with serving(tmp_path) as server:
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=len(bot.game))
        await play_all(bots)
        game, lines = await the_game(server)
        assert lines[0]["type"] == "start_game"
        assert "wall_seed" in lines[0]
        assert game.seats[bots[0].seat].faults == 1


async def test_a_note_of_a_take_over_survives_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, max_faults=1, seats="fixed") as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await connect_in_order(server, bots)
        await bots[0].until_own()
        await bots[0].say(b"?")
        await bots[0].play()
        taken_over = bots[0].errors[-1]
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 10) for bot in bots[1:]))  # type: ignore[misc]
    async with serving(tmp_path, max_faults=1) as server:
        for bot in bots[1:]:  # who is played for is not waited for
            bot.move(server)
            await bot.connect(resume=len(bot.game))
        await play_all(bots[1:])
        game, lines = await the_game(server)
        assert [line["message"] for line in lines if line["type"] == "error"] == bots[0].errors
        assert taken_over in [line["message"] for line in lines if line["type"] == "error"]
        assert game.seats[bots[0].seat].taken_over


async def test_who_does_not_come_back_after_a_restart_is_played_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
    journal = next((tmp_path / "journal").iterdir())
    journal.write_text(journal.read_text().replace('"resume_within":30.0', '"resume_within":0.2'))
    async with serving(tmp_path, resume_within=0.2) as server:
        for bot in bots[:2]:
            bot.move(server)
            await bot.connect(resume=len(bot.game))
        await play_all(bots[:2])
        game, lines = await the_game(server)
        await whole(bots[:2], lines)
        assert [standing.taken_over for standing in game.seats if standing.name == "c"] == [True]
        assert sum(standing.taken_over for standing in game.seats) == 1


async def test_a_restart_after_the_last_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game is over but not stored: bots come back for the end, one having missed the last message before it."""
    save_game = Store.save_game

    async def no_save(self: Store, game: FinishedGame) -> bool:
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(Store, "save_game", no_save)
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]

        def over(message: Message) -> bool:
            return message["type"] == "end_kyoku" and the_sitting(server).game.over

        await together(*(bot.until(over) for bot in bots))
    monkeypatch.setattr(Store, "save_game", save_game)
    async with serving(tmp_path) as server:
        missed = bots[0].game.pop()
        assert missed["type"] == "end_kyoku"
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=len(bot.game))
        await play_all(bots)
        assert all(bot.ended for bot in bots)
        _, lines = await the_game(server)
        await whole(bots, lines)


async def test_a_restart_after_the_end(tmp_path: Path) -> None:
    """A bot that has lost its connection just before the end hears of it from the next server, too; nothing is twice."""
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await play_all(bots)
        (before,) = await stored_games(server)
    async with serving(tmp_path) as server:
        lost = bots[0]
        end = lost.game[-1]
        lost.games[-1] = lost.game[:-1]
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=len(lost.game))
        await play_all(bots)
        assert bare(lost.game[-1]) == bare(end)
        assert (await stored_games(server)) == [before]
        assert len(await stored_lines(server, before.id)) == len(lost.game)


async def test_a_journal_cut_in_the_middle_of_a_line(tmp_path: Path) -> None:
    """What was being written when the process died was told to nobody."""
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 20) for bot in bots))  # type: ignore[misc]
    (path,) = (tmp_path / "journal").iterdir()
    with path.open("ab") as journal:
        journal.write(b'{"seat":0,"ac')
    async with serving(tmp_path) as server:
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=len(bot.game))
        await play_all(bots)
        await the_game(server)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"nonsense\n", b"{}\n", b"[]\n", b'{"id":"x"}\n', b"7\n", b"\xff\xff\n", b"null\n"]
)
async def test_a_journal_that_cannot_be_read_is_set_aside(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "journal"
    folder.mkdir(parents=True)
    (folder / ("0" * 32 + ".journal")).write_bytes(content)
    async with serving(tmp_path) as server:
        assert not list(folder.glob("*.journal"))
        await play_all([Bot(server, name) for name in "abc"])
        await the_game(server)


@pytest.mark.parametrize("bad", [b'{"seat":0,"act":114,"bank":1}\n', b'{"seat":7,"act":1,"bank":1}\n', b"{}\n", b"3\n"])
async def test_a_journal_of_what_cannot_be_is_set_aside_and_forgotten(tmp_path: Path, bad: bytes) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, room="cup", resume=True) for name in "abc"]
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 20) for bot in bots))  # type: ignore[misc]
    (path,) = (tmp_path / "journal").iterdir()
    with path.open("ab") as journal:
        journal.write(bad)
    async with serving(tmp_path) as server:
        assert path.with_suffix(".broken").exists()
        assert not server.lobby.sittings
        assert set(server.lobby.rooms) == {"default"}
        bots[0].move(server)
        await bots[0].play(resume=0)
        assert "no game" in bots[0].errors[-1]
