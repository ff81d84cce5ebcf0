"""Games that the settings do not keep are deleted: the oldest first, and rated ones last."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, event
from sqlalchemy.dialects import sqlite

from server.cli import main
from server.limits import Limits
from server.retention import MIB, delete_not_kept, keep_of
from server.settings import Settings
from server.store import FinishedGame, Keep, Store, tables
from server.store.pruning import select_not_kept
from server.store.saving import insert_game
from tests.support.server_bots import Bot, play_all, serving, until
from tests.support.stored_games import (
    NOON,
    all_items,
    make_game,
    opened,
    plan_of,
    replace,
    seat_results,
)
from tests.support.stored_records import stored_games

TWICE = ("aki", "aki", "beni")  # a game that is not rated
RATED = [make_game(minute=minute, record=bytes(1000)) for minute in (0, 2, 4)]
OTHERS = [make_game(TWICE, minute=minute, record=bytes(1000)) for minute in (1, 3, 5)]
IN_ORDER = [game.id for game in [*OTHERS, *RATED]]  # of deletion


async def fill(store: Store) -> None:
    for game in sorted([*RATED, *OTHERS], key=lambda game: game.finished):
        assert game.rated == (game in RATED)
        await store.save_game(game)


async def left(store: Store) -> set[str]:
    return {game.id for game in (await store.games()).items}


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        (Keep(), []),
        (Keep(games=6, bytes=6000, since=NOON), []),
        (Keep(games=4), IN_ORDER[:2]),
        (Keep(games=1), IN_ORDER[:5]),
        (Keep(games=0), IN_ORDER),
        (Keep(bytes=3999), IN_ORDER[:3]),
        (Keep(bytes=0), IN_ORDER),
        (Keep(since=NOON + timedelta(minutes=3)), [RATED[0].id, OTHERS[0].id, RATED[1].id]),
        (Keep(since=NOON + timedelta(minutes=2), games=3), [RATED[0].id, *IN_ORDER[:2]]),
    ],
)
@pytest.mark.parametrize("batch", [2, 200])
async def test_what_is_deleted(database_url: str, keep: Keep, gone: list[str], batch: int) -> None:
    async with opened(database_url, Limits(prune_batch=batch)) as store:
        await fill(store)
        totals = await store.players()
        deleted = [n async for n in store.prune(keep)]
        assert sum(deleted) == len(gone)
        assert all(0 < n <= batch for n in deleted)
        assert await left(store) == set(IN_ORDER) - set(gone)
        for game_id in gone:
            assert (await store.game(game_id), await store.record(game_id)) == (None, None)
        assert await store.players() == totals, "totals and ratings stay"
        history = await all_items(lambda cursor: store.rating_history("aki", cursor=cursor))
        assert {point.game_id for point in history} == {game.id for game in RATED} - set(gone)
        assert await store.size() > 10_000


EVERY_LIMIT = Keep(NOON + timedelta(minutes=1), games=2, bytes=1500)


async def test_games_are_chosen_once_and_those_who_write_wait_for_small_deletions_only(sqlite_url: str) -> None:
    async with opened(sqlite_url, Limits(prune_batch=2)) as store:
        await fill(store)
        engine = store._connections._blocking_engine
        assert engine is not None
        statements: list[str] = []
        event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2].split(" ")[0]))
        assert [n async for n in store.prune(EVERY_LIMIT)] == [2, 2, 1]
    begin, choose, *others = statements
    assert (begin, choose) == ("BEGIN", "SELECT")
    assert others == ["BEGIN", *["DELETE"] * 4] * 3


@pytest.mark.parametrize("keep", [EVERY_LIMIT, Keep(since=NOON), Keep(games=2), Keep(bytes=1500)])
async def test_games_are_chosen_without_a_look_at_other_games(sqlite_url: str, keep: Keep) -> None:
    """Of the rating points and records, those of a game are found by an index."""
    sql = select_not_kept(keep).compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    plan = await plan_of(sqlite_url, str(sql))
    assert [step for step in plan if "CORRELATED" in step]
    assert [step for step in plan if step.startswith("SCAN") and step.split()[1] in ("ratings", "seats")] == []
    assert sum(step == "SCAN records" for step in plan) == (keep.bytes is not None), "to add up their sizes"
    if keep == Keep(since=NOON):
        assert [step for step in plan if step.startswith("SCAN games")] == []


@pytest.mark.parametrize("table", tables.metadata.sorted_tables, ids=str)
def test_what_belongs_to_a_deleted_row_is_found_by_an_index(table: Table) -> None:
    """Also by the database, which looks for rows that still refer to one that is deleted."""
    keys: list[Iterable[Any]] = [table.primary_key.columns, *(index.columns for index in table.indexes)]
    leading = {next(iter(key)).name for key in keys}
    assert {column.name for column in table.columns if column.foreign_keys} <= leading


async def test_the_numbers_of_games_stay(database_url: str) -> None:
    """Those of rooms with a seed: if they began again, walls that were published would come again."""
    async with opened(database_url) as store:
        for minute, (room, seeded) in enumerate([("cup", True), ("cup", False), ("cup", True), ("other", False)]):
            await store.save_game(make_game(minute=minute, room=room, seeded=seeded))
        await store.save_game(make_game(minute=9, room="third", seeded=True))
        assert [n async for n in store.prune(Keep(games=0))] == [5]
        assert [await store.next_in_series(room) for room in ("cup", "other", "third")] == [2, 0, 1]
        await store.save_game(make_game(minute=10, room="cup", seeded=True))
        assert await store.next_in_series("cup") == 3


async def test_the_games_of_a_room_are_counted_though_they_are_deleted(database_url: str) -> None:
    """Those that it has begun, and no earlier room of its name; until it is closed."""
    async with opened(database_url) as store:
        await store.save_room("cup", {"games": 9})
        (room,) = await store.rooms()
        for minute, (name, begun) in enumerate([("cup", -1), ("cup", 0), ("cup", 1), ("other", 1)]):
            started = room.opened + timedelta(minutes=begun)
            await store.save_game(make_game(minute=minute, room=name, started=started))
        assert [n async for n in store.prune(Keep(games=0))] == [4]
        game = make_game(minute=9, room="cup", started=room.opened + timedelta(minutes=2))
        assert [await store.save_game(game) for _ in range(2)] == [True, False]
        await store.save_room("cup", {"games": 8})
        assert [(found.name, found.games) for found in await store.rooms()] == [("cup", 3)]
        await store.close_room("cup")
        await store.save_room("cup", {})
        assert [found.games for found in await store.rooms()] == [0]


async def test_games_go_on_to_be_rated(database_url: str) -> None:
    async with opened(database_url) as store:
        await fill(store)
        assert [n async for n in store.prune(Keep(games=0))] == [6]
        await store.save_game(make_game(minute=9))
        player = await store.player("aki")
        assert player is not None
        assert (player.games, player.rated_games) == (10, 4)  # three of OTHERS have aki twice


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (Keep(since=NOON + timedelta(days=1)), Keep(games=0)),
        (Keep(games=1), Keep(bytes=0)),
        (Keep(bytes=20), Keep(since=NOON + timedelta(days=2))),
    ],
)
async def test_players_of_whom_nothing_is_stored_are_forgotten(database_url: str, first: Keep, then: Keep) -> None:
    """Those stay who have a token or a game."""
    async with opened(database_url, Limits(prune_batch=2)) as store:
        await store.save_game(make_game(("aki", "beni", "chika"), minute=1, casual=True))
        await store.save_game(make_game(("aki", "dai", "eri"), minute=2, casual=True))
        await store.save_game(make_game(("fumi", "fumi", "eri"), minute=60 * 24 + 1))
        await store.add_token("beni")

        async def names() -> set[str]:
            return {player.name for player in (await store.players()).items}

        await delete_not_kept(store, first, id)
        assert await names() == {"beni", "eri", "fumi"}
        await delete_not_kept(store, then, id)
        assert await names() == {"beni"}


async def test_players_with_stored_games_stay(database_url: str) -> None:
    async with opened(database_url) as store:
        await fill(store)
        assert await store.forget_players() == 0


async def test_players_whose_games_are_stored_meanwhile_stay(database_url: str) -> None:
    """Who is gone is chosen in one transaction, and deleted in another."""
    async with opened(database_url) as store:
        await store.save_game(make_game())
        assert [n async for n in store.prune(Keep(games=0))] == [1]
        async with store._connections.writing() as connection:
            assert await connection.run_sync(insert_game, make_game(minute=1))
            forgetting = asyncio.create_task(store.forget_players())
            await asyncio.sleep(0.5)
            assert not forgetting.done()
        assert await forgetting == 0
        assert len((await store.players()).items) == 3


async def test_games_that_no_bot_has_played_to_the_end_go_first(database_url: str) -> None:
    """Whether they are rated or not: otherwise whoever begins games and leaves them would drive out those of others."""

    def played(minute: int, *names: str, left: str = "", **changes: Any) -> FinishedGame:
        seats = (replace(seat, taken_over=seat.name in left) for seat in seat_results(names))
        return make_game(names, minute, seats=tuple(seats), **changes)

    house = "rule (house)"
    in_order = [
        played(7, "aki", house, house, left="aki"),
        played(8, "aki", "beni", house, left="aki beni", casual=True),
        played(9, "aki", "beni", "chiyo", left="aki beni chiyo"),
        played(3, "aki", "aki", "beni"),
        played(4, "aki", house, house, casual=True),
        played(5, house, house, house, casual=True),
        played(0, "aki", "beni", "chiyo", left="beni chiyo"),
        played(1, "aki", house, house),
        played(2, house, "random (house)", "bert (house)"),
    ]
    assert [game.rated for game in in_order] == [True, False, True, False, False, False, True, True, True]
    async with opened(database_url) as store:
        for game in in_order:
            await store.save_game(game)
        for n_left in range(len(in_order), -1, -1):
            await delete_not_kept(store, Keep(games=n_left), id)
            assert await left(store) == {game.id for game in in_order[len(in_order) - n_left :]}


def test_what_settings_keep() -> None:
    assert not keep_of(Settings(), NOON)
    settings = Settings(keep_days=2, keep_games=3, keep_mib=4)
    assert keep_of(settings, NOON) == Keep(NOON - timedelta(days=2), 3, 4 * MIB)


async def test_a_server_deletes_what_it_does_not_keep(tmp_path: Path) -> None:
    async with opened(Settings(data=tmp_path).database_url) as store:
        await fill(store)
    async with serving(tmp_path, keep_games=2) as server:
        await until(lambda: server.lobby.metrics.database_bytes._value.get() > 0)
        assert {game.id for game in await stored_games(server)} == set(IN_ORDER[4:])


async def test_a_game_that_has_its_journal_stays(tmp_path: Path) -> None:
    """For bots that come back for its end. Deleted, it would be stored and rated again at the next start."""
    async with serving(tmp_path) as server:
        await play_all([Bot(server, name, games=2) for name in "abc"])
    for _ in range(2):
        async with serving(tmp_path, keep_games=1) as server:
            await until(lambda: server.lobby.metrics.database_bytes._value.get() > 0)
            assert len(await stored_games(server)) == 2
            players = (await server.lobby.store.players()).items
            assert [(player.games, player.rated_games) for player in players] == [(2, 2)] * 3


async def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with opened(Settings(data=tmp_path).database_url) as store:
        await fill(store)

    (tmp_path / "nukidora.toml").write_text("[storage]\nkeep_games = 5\n")
    kept = ["--settings", str(tmp_path / "nukidora.toml")]
    assert await asyncio.to_thread(main, ["prune", "--data", str(tmp_path), *kept]) == 0
    assert "deleted 1 games" in capsys.readouterr().out
    async with opened(Settings(data=tmp_path).database_url) as store:
        assert await left(store) == set(IN_ORDER[1:])
    with pytest.raises(SystemExit):
        await asyncio.to_thread(main, ["prune", "--data", str(tmp_path)])
    assert "keep_days" in capsys.readouterr().err
