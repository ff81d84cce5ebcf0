"""After a restart: games that are stored already, and journals that lost their end in a crash."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from server.game.game_log import STOPPED
from tests.support.running_server import live
from tests.support.server_bots import TIMEOUT, Bot, Clock, live_game, play_all, serving, stop_in_mid_game, until
from tests.support.stored_records import stored_games, the_game

RESUME_TIMEOUT = 20.0  # seconds; less than a decision may take, more than bots need to come back


@pytest.mark.slow
async def test_a_stored_game_is_not_shown_as_played_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await play_all([Bot(server, name, room="cup") for name in "abc"])
        (before,) = await stored_games(server)
    assert list((tmp_path / "journal").glob("*.journal"))
    async with live(tmp_path) as at:
        assert (await at.get("/api/games", status="playing"))["items"] == []
        assert (await at.get(f"/api/games/{before.id}"))["status"] == "finished"
        assert "nukidora_games_playing 0.0" in (await at.http.get("/metrics")).text
        assert (await at.get("/api/rooms/cup"))["playing"] == 0
        assert await stored_games(at.server) == [before]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "copy.journal"])
async def test_the_journal_of_a_stored_game_that_lost_its_end_is_deleted(tmp_path: Path, name: str) -> None:
    """The database is synced at once, a journal is not. An operator may have copied one back by another name."""
    async with serving(tmp_path) as server:
        await play_all([Bot(server, name, room="cup") for name in "abc"])
    (journal,) = (tmp_path / "journal").glob("*.journal")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:20]))
    journal.rename(journal.with_name(name or journal.name))
    async with serving(tmp_path) as server:
        await until(lambda: not list((tmp_path / "journal").iterdir()))
        assert not server.lobby.games
        assert set(server.lobby.rooms) == {"default"}
        assert len(await stored_games(server)) == 1


def lose_the_end(data: Path) -> None:
    """Leave of the journal what a power failure may leave: some lines less, and a part of one."""
    (journal,) = (data / "journal").glob("*.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[-1]) == STOPPED
    journal.write_bytes(b"".join(lines[:10]) + lines[10][:5])


@pytest.mark.slow
async def test_a_game_is_not_rated_for_bots_that_could_not_come_back(tmp_path: Path) -> None:
    """One bot forgets what it has seen, and comes back; the game counts for it alone, and for no house bot."""
    bots = await stop_in_mid_game(tmp_path, 60, resume_timeout=RESUME_TIMEOUT)
    lose_the_end(tmp_path)
    async with serving(tmp_path, timeout=2 * TIMEOUT) as server:
        clock = Clock()
        for bot in bots:
            bot.move(server)
        for bot in bots[:2]:
            await bot.play(resume=len(bot.game))
            assert "but the game has had" in bot.errors[-1]
        back = bots[2]
        back.games[-1] = []
        await back.connect(resume=0)
        await until(lambda: any(seat.connection is not None for seat in live_game(server).seats))
        clock.advance(RESUME_TIMEOUT)
        await back.play()
        game, _ = await the_game(server)
        assert {seat.name: seat.cut_off for seat in game.seats} == {"a": True, "b": True, "c": False}
        players = {player.name: player for player in (await server.lobby.store.players()).items}
        assert {name: player.rated_games for name, player in players.items()} == {"a": 0, "b": 0, "c": 1}
        assert {name: player.games for name, player in players.items()} == {"a": 1, "b": 1, "c": 1}


@pytest.mark.slow
async def test_a_cut_off_survives_another_restart(tmp_path: Path) -> None:
    bots = await stop_in_mid_game(tmp_path, 60, resume_timeout=RESUME_TIMEOUT)
    lose_the_end(tmp_path)
    async with serving(tmp_path) as server:
        bots[0].move(server)
        await bots[0].play(resume=len(bots[0].game))
    async with serving(tmp_path, timeout=2 * TIMEOUT) as server:
        Clock().advance(RESUME_TIMEOUT)
        await until(lambda: server.lobby.metrics.games._value.get() == 1)
        game, _ = await the_game(server)
        assert {seat.name: seat.cut_off for seat in game.seats} == {"a": True, "b": False, "c": False}


@pytest.mark.slow
async def test_a_bot_that_says_too_much_after_a_clean_stop_is_rated(tmp_path: Path) -> None:
    """Nothing was lost: a bot cannot escape its rating by a number that is too high."""
    bots = await stop_in_mid_game(tmp_path, 60, resume_timeout=RESUME_TIMEOUT)
    async with serving(tmp_path, timeout=2 * TIMEOUT) as server:
        clock = Clock()
        bots[0].move(server)
        await bots[0].play(resume=len(bots[0].game) + 1000)
        assert "but the game has had" in bots[0].errors[-1]
        clock.advance(RESUME_TIMEOUT)
        await until(lambda: server.lobby.metrics.games._value.get() == 1)
        game, _ = await the_game(server)
        assert [seat.cut_off for seat in game.seats] == [False] * 3
        assert all(player.rated_games == 1 for player in (await server.lobby.store.players()).items)


def wait_for_bots(data: Path) -> Path:
    """Let the game of the journal wait for its bots as long as a test may take."""
    (path,) = (data / "journal").glob("*.journal")
    path.write_text(path.read_text().replace('"resume_timeout":0.3', '"resume_timeout":3600'))
    return path


@pytest.mark.slow
async def test_a_journal_that_was_complete_once_may_have_lost_its_end_since(tmp_path: Path) -> None:
    bots = await stop_in_mid_game(tmp_path, 60, resume_timeout=0.3)
    path = wait_for_bots(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[-1], *lines[5:10]]))
    async with serving(tmp_path) as server:
        bots[0].move(server)
        await bots[0].play(resume=len(bots[0].game))
        assert "but the game has had" in bots[0].errors[-1]
        assert live_game(server).seats[bots[0].seat].cut_off


@pytest.mark.slow
async def test_a_bot_that_has_seen_one_message_more_is_refused(tmp_path: Path) -> None:
    bots = await stop_in_mid_game(tmp_path, 60, resume_timeout=0.3)
    wait_for_bots(tmp_path)
    async with serving(tmp_path) as server:
        bots[0].move(server)
        await bots[0].play(resume=live_game(server).history.count + 1)
        assert "but the game has had" in bots[0].errors[-1]


@pytest.mark.slow
async def test_time_banks_are_those_of_the_last_decisions(tmp_path: Path) -> None:
    await stop_in_mid_game(tmp_path, 60, resume_timeout=0.3)
    path = wait_for_bots(tmp_path)
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    banks = {}
    for number, entry in enumerate(entries):
        if "bank" in entry:
            banks[entry["seat"]] = entry["bank"] = number / 8
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    async with serving(tmp_path) as server:
        assert {seat.index: seat.clock.bank for seat in live_game(server).seats} == banks
    assert len(banks) == 3


@pytest.mark.slow
@pytest.mark.parametrize("where", ["settings", "player", "entry"])
async def test_a_journal_of_an_unknown_house_bot_leaves_no_descriptor_open(tmp_path: Path, where: str) -> None:
    await stop_in_mid_game(tmp_path, resume_timeout=0.3)
    (path,) = (tmp_path / "journal").glob("*.journal")
    first, *others = path.read_text().splitlines()
    start = json.loads(first)
    if where == "settings":
        start["settings"]["house_bot"] = "unknown"
    elif where == "player":
        start["players"][0]["house"] = "unknown"
    else:
        others.append('{"seat":0,"house_bot":"unknown","error":""}')
    path.write_text("\n".join([json.dumps(start), *others, ""]))
    async with serving(tmp_path):
        await asyncio.sleep(0)
        kept = len(list((tmp_path / "journal").glob("*.journal")))
        links = list(Path("/proc/self/fd").iterdir())
        open_journals = [link for link in links if link.exists() and ".journal" in str(link.readlink())]
        open_journals += [link for link in links if link.is_symlink() and ".broken" in str(link.readlink())]
        assert len(open_journals) == kept
