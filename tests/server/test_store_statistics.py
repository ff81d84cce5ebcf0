"""Statistics of players: counted from records, stored with a game or afterwards, read and sent by the API."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from alembic import command
from sqlalchemy import text

from agents.built_in import BUILT_IN
from arena import bot_games
from arena.chunk import play_chunk
from arena.recorder import file_name
from arena.schedule import RunSettings, games_of
from engine.mjai.messages import Message
from engine.rules import TENHOU
from server.counting import COUNTED, count_stored_games, plays_of
from server.limits import LIMITS, Limits
from server.migrations import configuration
from server.store import FinishedGame, Opponent, Play, PlayerStatistics, Store, StoreError
from server.store.database import make_engine, read_url
from tests.support.arena_runs import last_update
from tests.support.built_in_bots import quick
from tests.support.plain_plays import count_messages
from tests.support.running_server import TABLE, live
from tests.support.server_bots import Bot
from tests.support.stored_games import NOON, all_items, make_game, opened, seat_results

BOTS = [quick(name) for name in BUILT_IN]
TABLES = [tuple(BOTS[(first + offset) % len(BOTS)] for offset in range(3)) for first in range(0, len(BOTS), 3)]
# What the arena counts as well, from tables: Play's name -> index
ARENA = {name: index for name, index in bot_games.COUNT_INDEX.items() if name in Play.model_fields}


@dataclass(frozen=True, eq=False)
class Played:
    """A game of the arena: who had the seats, the record (.mjson.gz), and the arena's counts of each seat."""

    names: tuple[str, ...]
    record: bytes
    counts: np.ndarray


def play(bots: Sequence[str], walls: int, rules: str = "tenhou", seed: int = 5) -> Iterator[Played]:
    """Games of three bots, each wall in all rotations."""
    settings = RunSettings(tuple(bots), 3 * walls, seed, rules, "hanchan")
    with TemporaryDirectory() as folder:
        result = last_update(play_chunk(settings, settings.make_bots(), list(range(walls)), Path(folder)))
        counts = result.counts.reshape(-1, 3, bot_games.N_COUNTS)
        for game, of_game in zip(games_of(settings, range(walls)), counts, strict=True):
            names = tuple(bots[index] for index in game.seats)
            yield Played(names, (Path(folder) / file_name(game)).read_bytes(), of_game)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["tenhou", "majsoul"])
@pytest.mark.parametrize("bots", TABLES, ids="+".join)
def test_counts_are_those_of_the_messages_and_of_the_arena(bots: Sequence[str], rules: str) -> None:
    n = 0
    for game in play(bots, 2 if "bert" in bots or "search:n=4" in bots else 10, rules):
        plays = plays_of(game.record)
        assert plays == count_messages(messages_of(game.record))
        for play_of_seat, counts in zip(plays, game.counts.tolist(), strict=True):
            assert {key: getattr(play_of_seat, key) for key in ARENA} == {
                key: counts[index] for key, index in ARENA.items()
            }
            n += play_of_seat.rounds
    assert n


def messages_of(record: bytes) -> list[Message]:
    return [json.loads(line) for line in gzip.decompress(record).splitlines()]


def test_a_record_that_differs_from_the_rules_is_not_counted() -> None:
    messages = messages_of(played()[0].record)
    won = next(message for message in messages if message["type"] == "hora")
    won["hora_points"] += 100
    with pytest.raises(ValueError, match=f"{won['hora_points']}"):
        plays_of(gzip.compress("\n".join(map(json.dumps, messages)).encode()))


# In the store ---------------------------------------------------------------------------------------------------------


@cache
def played() -> list[Played]:
    """Games to store: of three bots, and of one that has two seats."""
    return [*play(("rule", "efficiency", "random"), 4), *play(("rule", "rule", "tsumogiri"), 2)]


def finished(game: Played, number: int, **changes: Any) -> FinishedGame:
    """The game as it is stored; every second one in another room and under other rules."""
    scores = game.counts[:, bot_games.SCORE].tolist()
    room, rules = (("default", "tenhou"), ("cup+rule", "majsoul"))[number % 2]
    fields = {
        "plays": plays_of(game.record),
        "record": game.record,
        "room": room,
        "rules": rules,
        "id": f"{number:032}",
    }
    return make_game(minute=number, seats=seat_results(game.names, scores), **(fields | changes))


def expected_statistics(name: str, games: Sequence[Played]) -> dict[str, Any]:
    """Statistics counted from the messages of the games themselves, with the rates of the arena."""
    found: list[tuple[int, int, Play]] = []  # rank, score and counts of each seat of the player
    for game in games:
        scores = game.counts[:, bot_games.SCORE].tolist()
        for seat, (rank, play) in enumerate(zip(TENHOU.ranks(scores), plays_of_messages(game), strict=True)):
            if game.names[seat] == name:
                found.append((rank, scores[seat], play))
    ranks = Counter(rank for rank, _, _ in found)
    score = sum(score for _, score, _ in found)
    play = Play(**{count: sum(getattr(play, count) for _, _, play in found) for count in Play.model_fields})
    return {
        "name": name,
        "games": len(found),
        "firsts": ranks[1],
        "seconds": ranks[2],
        "thirds": ranks[3],
        "busts": sum(score < 0 for _, score, _ in found),
        "score": score,
        "play": play.model_dump(),
        "mean_rank": ratio(sum(rank for rank, _, _ in found), len(found)),
        "mean_score": ratio(score, len(found)),
        "win_rate": ratio(play.wins, play.rounds),
        "tsumo_share": ratio(play.tsumos, play.wins),
        "mean_win_points": ratio(play.win_points, play.wins),
        "mean_win_turn": ratio(play.win_turns, play.wins),
        "deal_in_rate": ratio(play.deal_ins, play.rounds),
        "mean_deal_in_points": ratio(play.deal_in_points, play.deal_ins),
        "riichi_rate": ratio(play.riichis, play.rounds),
        "call_rate": ratio(play.calls, play.rounds),
        "draw_rate": ratio(play.draws, play.rounds),
        "draw_tenpai_rate": ratio(play.draws_tenpai, play.exhaustive_draws),
        "nukidora_per_round": ratio(play.nukidora, play.rounds),
    }


@cache
def plays_of_messages(game: Played) -> tuple[Play, ...]:
    return count_messages(messages_of(game.record))


def ratio(total: int, number: int) -> float | None:
    return total / number if number else None


def check(found: PlayerStatistics | dict[str, Any], games: Sequence[Played]) -> None:
    values = dict(found) if isinstance(found, dict) else found.model_dump()
    expected = expected_statistics(values["name"], games)
    assert values.keys() == expected.keys(), "compute a new statistic in `expected_statistics` too"
    assert values.pop("play") == expected.pop("play")
    assert values == pytest.approx(expected)


def test_a_round_adds_to_every_count() -> None:
    assert COUNTED.keys() == Play.model_fields.keys(), "a field of `Play` has a row of COUNTED (server/counting.py)"


@pytest.mark.slow
async def test_statistics_are_those_of_the_stored_games(database_url: str) -> None:
    games = played()
    async with opened(database_url) as store:
        for number, game in enumerate(games):
            await store.save_game(finished(game, number))
        for name in ("rule", "efficiency", "random", "tsumogiri"):
            check(await store.statistics(name), games)
        check(await store.statistics("rule", room="cup+rule"), games[1::2])
        check(await store.statistics("rule", rules="tenhou"), games[::2])
        since, until = NOON + timedelta(minutes=3), NOON + timedelta(minutes=15)
        check(await store.statistics("rule", since=since, until=until), games[3:15])
        check(await store.statistics("rule", "default", "tenhou", since, until), games[4:15:2])
        for nothing in (store.statistics("nobody"), store.statistics("rule", room="nowhere")):
            none = await nothing
            assert (none.games, none.play, none.mean_rank, none.win_rate) == (0, Play(), None, None)


async def test_a_score_of_zero_is_no_bust(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.save_game(make_game(seats=seat_results("abc", (105_100, 0, -100))))
        assert [(await store.statistics(name)).busts for name in "abc"] == [0, 0, 1]


async def test_statistics_are_of_the_latest_games(database_url: str) -> None:
    games = played()
    async with opened(database_url, Limits(most_seats=5)) as store:
        for number, game in enumerate(games[:12]):
            await store.save_game(finished(game, number))
        check(await store.statistics("efficiency"), games[7:12])
        check(await store.statistics("efficiency", room="default"), games[2:12:2])
        assert [opponent.games for opponent in (await store.opponents("efficiency")).items] == [5, 5]
    async with opened(database_url, Limits(most_seats=5, most_searched=6)) as store:  # however few are of the room
        check(await store.statistics("efficiency", room="default"), games[6:12:2])


@pytest.mark.slow
async def test_opponents_are_those_of_the_stored_games(database_url: str) -> None:
    games = played()
    async with opened(database_url) as store:
        for number, game in enumerate(games):
            await store.save_game(finished(game, number))
        for name in ("rule", "efficiency", "random"):
            expected: dict[str, list[int]] = {}
            for game in games:
                ranks = TENHOU.ranks(game.counts[:, bot_games.SCORE].tolist())
                for own, opponent in ((own, other) for own in range(3) for other in range(3)):
                    if game.names[own] == name != game.names[opponent]:
                        expected.setdefault(game.names[opponent], []).append(ranks[own] - ranks[opponent])
            found = await all_items(partial(store.opponents, name, limit=1))
            assert found == (await store.opponents(name)).items
            assert found == [
                Opponent(
                    name=opponent,
                    house_bot=False,
                    games=len(differences),
                    better=sum(difference < 0 for difference in differences),
                    rank_difference=sum(differences),
                )
                for opponent, differences in sorted(expected.items(), key=lambda item: (-len(item[1]), item[0]))
            ]
        with pytest.raises(ValueError, match="invalid cursor"):
            await store.opponents("rule", cursor="x")


@pytest.mark.slow
async def test_stored_games_are_counted_after_an_update(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where that is interrupted, one record is garbled, and new games are stored meanwhile."""
    games = played()[:12]
    async with opened(database_url) as store:
        for number, game in enumerate(games[:11]):
            await store.save_game(finished(game, number, plays=None))
        await store.save_game(make_game(("x", "y", "z"), minute=30, id="0" * 31 + "a", record=b"garbled"))
    await downgrade(database_url, "0002")
    async with opened(database_url) as store:
        before = await store.statistics("rule")
        assert (before.games, before.play, before.win_rate) == (11, Play(), None)
        await interrupt_after(store, 2, monkeypatch)
        assert (
            0 < (await store.statistics("rule")).play.rounds < sum(game.counts[0, bot_games.ROUNDS] for game in games)
        )
        await store.save_game(finished(games[11], 11))
        await count_stored_games(store, LIMITS)
        for name in ("rule", "efficiency", "random"):
            check(await store.statistics(name), games)
        assert [*await store.uncounted("", 9)] == ["0" * 31 + "a"]
    assert "record cannot be read for statistics" in caplog.text


async def downgrade(url: str, version: str) -> None:
    engine = make_engine(read_url(url), migrating=True)
    async with engine.begin() as connection:
        await connection.run_sync(lambda sync: command.downgrade(configuration(sync), version))
        row = (await connection.execute(text("SELECT * FROM seats"))).mappings().first()
        assert row is not None
        assert "rounds" not in row
    await engine.dispose()


async def interrupt_after(store: Store, batches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count stored games, and cancel that once some batches are written."""
    written = asyncio.Event()
    calls = iter(range(batches))
    add = store.add_plays

    async def counted(plays: Any) -> None:
        await add(plays)
        if next(calls, None) is None:
            written.set()
            await asyncio.sleep(60)

    with monkeypatch.context() as patch:
        patch.setattr(store, "add_plays", counted)
        task = asyncio.create_task(count_stored_games(store, Limits(count_batch=2, count_pause=0)))
        await written.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_counting_goes_on_when_the_database_answers_again(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(sqlite_url) as store:
        await store.save_game(finished(played()[0], 0, plays=None))
        add, failures = store.add_plays, iter([StoreError("full"), StoreError("full")])

        async def sometimes(plays: Any) -> None:
            if error := next(failures, None):
                raise error
            await add(plays)

        monkeypatch.setattr(store, "add_plays", sometimes)
        await count_stored_games(store, Limits(count_retry=0))
        check(await store.statistics("rule"), played()[:1])


async def test_every_nth_rating_is_read(database_url: str) -> None:
    async with opened(database_url) as store:
        for minute in range(23):
            await store.save_game(make_game(minute=minute))
        every = await all_items(partial(store.rating_history, "aki"))
        assert [point.number for point in every] == list(range(1, 24))
        for step in (2, 5, 23, 24):
            found = await all_items(partial(store.rating_history, "aki", limit=2, step=step))
            assert found == every[step - 1 :: step]


@pytest.mark.slow
async def test_players_are_found_by_the_beginning_of_their_names(database_url: str) -> None:
    names = ("a", "ab", "abc", "a%", "Ab", "雀", "雀士", "b")
    async with opened(database_url) as store:
        for minute, name in enumerate(names):
            await store.save_game(make_game((name, "other", "x_"), minute))
        for prefix in ("", "a", "ab", "abc", "abcd", "a%", "雀", "x", "%", "_", "\U0010ffff"):
            for order in ("rating", "games", "name"):
                found = await all_items(partial(store.players, limit=2, order=order, prefix=prefix))
                assert sorted(player.name for player in found) == sorted(
                    name for name in (*names, "other", "x_") if name.startswith(prefix)
                )


# In the API -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_api_sends_statistics_and_opponents(tmp_path: Path) -> None:
    games = played()
    async with live(tmp_path) as at:
        for number, game in enumerate(games):
            await at.server.lobby.store.save_game(finished(game, number))
        sent = await at.get("/api/players/rule/statistics")
        check(sent, games)
        assert sent == (await at.server.lobby.store.statistics("rule")).model_dump()
        for query, selected in {
            "room=cup+rule": games[1::2],
            "rules=tenhou": games[::2],
            "since=2025-06-01T12:03:00Z": games[3:],
            "until=2025-06-01T21:03:00%2B09:00": games[:3],
        }.items():
            check(await at.get(f"/api/players/rule/statistics?{query}"), selected)
        opponents = await at.page_through("/api/players/rule/opponents", limit=1)
        assert opponents == [
            opponent.model_dump() for opponent in (await at.server.lobby.store.opponents("rule")).items
        ]
        assert [player["name"] for player in await at.page_through("/api/players", prefix="r", limit=1)] == [
            player["name"] for player in await at.page_through("/api/players", limit=9) if player["name"][0] == "r"
        ]
        numbers = [point["number"] for point in await at.page_through("/api/players/rule/ratings", step=3, limit=2)]
        assert numbers == [3, 6, 9, 12]  # a game with two seats of one name is not rated


@pytest.mark.slow
async def test_a_game_played_on_the_server_is_counted(tmp_path: Path) -> None:
    async with live(tmp_path, length="east") as at:
        await Bot(at.server, "a", room=TABLE).play()
        (game,) = await all_items(lambda cursor: at.server.lobby.store.games("a", cursor=cursor))
        record = await at.server.lobby.store.record(game.id)
        assert record is not None
        assert (await at.server.lobby.store.statistics("a")).play == count_messages(messages_of(record))[
            game.seats.index(next(seat for seat in game.seats if seat.name == "a"))
        ]
        assert await at.server.lobby.store.uncounted("", 1) == {}
