"""The server restarts: games are restored from their journals; journals that cannot be read are renamed."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from server.game.journal import Journal
from tests.support.plain_plays import count_messages
from tests.support.server_bots import (
    NOTHING,
    TIMEOUT,
    Answer,
    Bot,
    Clock,
    Message,
    connect_in_order,
    live_game,
    play_all,
    resume_all,
    serving,
    stop_in_mid_game,
    together,
    tsumogiri,
    until,
    without_hints,
)
from tests.support.stored_records import assert_all_received, held_up, stored_games, stored_lines, the_game

REPLIES = ("always", "when_asked")


@pytest.mark.slow
@pytest.mark.parametrize("reply", REPLIES)
async def test_games_go_on_after_a_restart(tmp_path: Path, reply: str) -> None:
    """After several restarts in mid-game; faults, annotations and the scores at the start are restored too."""

    def annotating(bot: Bot, message: Message) -> Answer:
        answer = tsumogiri(bot, message)
        return answer | {"ext_bot": {"n": bot.next_index}} if answer is not NOTHING else answer  # type: ignore[operator]

    handicap = {"a": 15_000, "b": 40_000, "c": 50_000}
    async with serving(tmp_path, seats="fixed", scores=tuple(handicap.values())) as server:
        bots = [Bot(server, name, annotating, reply=reply, resume=True) for name in handicap]
        await connect_in_order(server, bots)
        await bots[0].until_own()
        await bots[0].send(b"?")
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 20) for bot in bots))  # type: ignore[misc]
    for limit in (40, 60):
        async with serving(tmp_path) as server:
            await resume_all(server, bots)
            await together(*(bot.until(lambda _, bot=bot, n=limit: bot.next_index >= n) for bot in bots))  # type: ignore[misc]
    async with serving(tmp_path) as server:
        for bot in bots:
            bot.move(server)
            await bot.connect(resume=random.Random(limit).randrange(len(bot.game)))
        await play_all(bots)
        game, lines = await the_game(server)
        assert_all_received(bots, lines)
        assert lines[0]["type"] == "start_game"
        assert "wall_seed" in lines[0]
        assert game.seats[bots[0].seat].faults == 1
        assert [line["message"] for line in lines if line["type"] == "error"] == bots[0].errors[:1]
        mine = [line for line in lines if line["type"] == "dahai"]
        assert sum("ext_bot" not in line for line in mine) == 1
        assert {seat.name: seat.start_score for seat in game.seats} == handicap
        for bot in bots:
            assert (await server.lobby.store.statistics(bot.name)).play == count_messages(lines)[bot.seat]


@pytest.mark.slow
async def test_a_fault_before_the_first_decision_is_recorded_after_start_game(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "start_game") for bot in bots))
        await bots[0].send(b"?")
        await bots[0].until(lambda message: message["type"] == "error")
    async with serving(tmp_path) as server:
        await resume_all(server, bots)
        await play_all(bots)
        game, lines = await the_game(server)
        assert lines[0]["type"] == "start_game"
        assert "wall_seed" in lines[0]
        assert game.seats[bots[0].seat].faults == 1


@pytest.mark.slow
async def test_the_error_about_a_takeover_survives_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, max_faults=1, seats="fixed") as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await connect_in_order(server, bots)
        await bots[0].until_own()
        await bots[0].send(b"?")
        await bots[0].play()
        taken_over = bots[0].errors[-1]
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= 10) for bot in bots[1:]))  # type: ignore[misc]
    async with serving(tmp_path, max_faults=1) as server:
        await resume_all(server, bots[1:])  # the seat taken over is not waited for
        await play_all(bots[1:])
        game, lines = await the_game(server)
        assert [line["message"] for line in lines if line["type"] == "error"] == bots[0].errors
        assert taken_over in [line["message"] for line in lines if line["type"] == "error"]
        assert game.seats[bots[0].seat].taken_over


@pytest.mark.slow
async def test_a_house_bot_plays_for_a_bot_that_does_not_reconnect_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await together(*(bot.until(lambda message: message["type"] == "tsumo") for bot in bots))
    async with serving(tmp_path, timeout=2 * TIMEOUT) as server:
        clock = Clock()
        await resume_all(server, bots[:2])
        await until(lambda: sum(seat.connection is not None for seat in live_game(server).seats) == 2)
        assert not any(seat.taken_over for seat in live_game(server).seats)
        clock.advance(30)  # the resume timeout
        await play_all(bots[:2])
        game, lines = await the_game(server)
        assert_all_received(bots[:2], lines)
        assert [result.taken_over for result in game.seats if result.name == "c"] == [True]
        assert sum(result.taken_over for result in game.seats) == 1


@pytest.mark.slow
async def test_a_restart_after_the_last_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game is over but not stored: bots resume and are sent the end, and one the message before it."""
    held_up(monkeypatch, "save_game")
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]

        def over(message: Message) -> bool:
            return message["type"] == "end_kyoku" and live_game(server).engine.over

        await together(*(bot.until(over) for bot in bots))
    monkeypatch.undo()
    async with serving(tmp_path) as server:
        missed = bots[0].game.pop()
        assert missed["type"] == "end_kyoku"
        await resume_all(server, bots)
        await play_all(bots)
        assert all(bot.ended for bot in bots)
        _, lines = await the_game(server)
        assert_all_received(bots, lines)


@pytest.mark.slow
async def test_a_restart_after_the_end_of_a_game(tmp_path: Path) -> None:
    """A bot that lost its connection just before the end is sent it after the restart; the game is not stored twice."""
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
        assert without_hints(lost.game[-1]) == without_hints(end)
        assert (await stored_games(server)) == [before]
        assert len(await stored_lines(server, before.id)) == len(lost.game)


@pytest.mark.slow
async def test_a_journal_whose_last_line_is_incomplete_is_restored(tmp_path: Path) -> None:
    """Nobody was sent what follows from an entry that was being written when the process died."""
    bots = await stop_in_mid_game(tmp_path)
    (path,) = (tmp_path / "journal").iterdir()
    with path.open("ab") as journal:
        journal.write(b'{"seat":0,"ac')
    async with serving(tmp_path) as server:
        await resume_all(server, bots)
        await play_all(bots)
        await the_game(server)


def test_a_closed_journal_does_not_write_to_a_file_that_reuses_its_descriptor(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "game.journal", lambda *_: None)
    journal.append({"seat": 0})
    number = journal._file
    journal.close()
    with (tmp_path / "other").open("wb") as other:
        os.dup2(other.fileno(), number)  # mostly the same, unless a lower one has become free, too
        journal.append({"seat": 1})
    assert (tmp_path / "other").read_bytes() == b""
    assert (tmp_path / "game.journal").read_bytes() == b'{"seat":0}\n'


@pytest.mark.slow
async def test_journals_that_cannot_be_read_are_renamed(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / "empty.journal").write_bytes(b"")  # of a game whose start nobody was sent
    (folder / "cut.journal").write_bytes(b'{"id":"x","room":')
    contents = [b"\n", b"nonsense\n", b"{}\n", b"[]\n", b'{"id":"x"}\n', b"7\n", b"\xff\xff\n", b"null\n"]
    for number, content in enumerate(contents):
        (folder / f"{number:032}.journal").write_bytes(content)
    async with serving(tmp_path) as server:
        assert not list(folder.glob("*.journal"))
        assert len(list(folder.glob("*.broken"))) == len(contents)
        await play_all([Bot(server, name) for name in "abc"])
        await the_game(server)


BAD_STARTS: list[tuple[tuple[str | int, ...], Any]] = [  # keys of a value in a journal's first line, another value
    (("id",), math.nan),
    (("id",), None),
    (("seed",), 1 << 200),
    (("layout",), "older"),
    (("started",), "0001-01-01T00:00:00+14:00"),
    (("players", 0, "house"), 99),
    (("players", 0, "name"), "a\nb"),
    (("players", 1, "secret_hash"), {}),
    (("players", 2, "unknown"), ""),
]
BAD_BANKS: list[Any] = [None, "1", {}, math.nan, math.inf, -1.0]
BAD_ENTRIES = [
    b"{}",
    b"3",
    b'{"seat":0,"action":114,"bank":1}',
    b'{"seat":7,"action":1,"bank":1}',
    b'{"seat":-1,"fault":"x"}',
    b'{"seat":0,"fault":{}}',
    b'{"seat":0,"action":null,"bank":1}',
    b'{"seat":0,"action":NaN,"bank":1}',
    b'{"seat":0,"action":1e3,"bank":1}',
    b'{"seat":0,"action":1267650600228229401496703205376,"bank":1}',
    b'{"seat":0,"house_bot":5,"error":""}',
    b"[" * 100_000,
]


def wrong_journals(journal: bytes) -> Iterator[bytes]:
    """Copies of a journal in which one thing is wrong each."""
    first, *others = journal.splitlines()
    at = next(number for number, line in enumerate(others) if b'"action"' in line)
    for (*keys, last), value in BAD_STARTS:
        start = json.loads(first)
        reduce(getitem, keys, start)[last] = value
        yield b"\n".join([json.dumps(start).encode(), *others, b""])
    for bank in BAD_BANKS:
        decision = json.dumps(json.loads(others[at]) | {"bank": bank}).encode()
        yield b"\n".join([first, *others[:at], decision, *others[at + 1 :], b""])
    for entry in BAD_ENTRIES:
        yield journal + entry + b"\n"


@pytest.mark.slow
async def test_journals_that_do_not_fit_their_game_are_renamed_and_leave_nothing_behind(tmp_path: Path) -> None:
    bots = await stop_in_mid_game(tmp_path, room="cup")
    (path,) = (tmp_path / "journal").iterdir()
    wrong = list(wrong_journals(path.read_bytes()))
    path.unlink()
    for number, journal in enumerate(wrong):
        path.with_stem(f"{number:032}").write_bytes(journal)
    async with serving(tmp_path) as server:
        names = [f"{number:032}.broken" for number in range(len(wrong))]
        assert sorted(found.name for found in path.parent.iterdir()) == names
        assert not server.lobby.games
        assert set(server.lobby.rooms) == {"default"}
        assert server.lobby.metrics.playing._value.get() == 0
        bots[0].move(server)
        await bots[0].play(resume=0)
        assert "no game" in bots[0].errors[-1]


@pytest.mark.slow
async def test_of_two_journals_of_one_game_one_is_restored(tmp_path: Path) -> None:
    await stop_in_mid_game(tmp_path, room="cup")
    (path,) = (tmp_path / "journal").iterdir()
    path.with_stem("f" * 33).write_bytes(path.read_bytes())
    async with serving(tmp_path) as server:
        assert sorted(found.suffix for found in path.parent.iterdir()) == [".broken", ".journal"]
        assert len(server.lobby.games) == server.lobby.rooms["cup"].playing == 1
