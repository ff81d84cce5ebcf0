"""Storing and reading games, players, ratings, rooms and tokens, on SQLite and PostgreSQL."""

from __future__ import annotations

import base64
import json
import random
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql, sqlite

from server.limits import Limits
from server.store import Store, StoreError
from server.store.database import make_engine, read_url
from server.store.lists import PlayerOrder, select_players
from tests.support.stored_games import NAMES, NOON, all_items, check_ratings, make_game, opened, replace, seat_results

SET = {"sqlite": "", "postgresql": "SET LOCAL enable_seqscan = off"}  # which costs less in a table without rows


async def execute(url: str, statement: str, before: str = "") -> list[str]:
    """Run a statement directly on the database, perhaps after another one; returns its rows as text."""
    engine = make_engine(read_url(url))
    async with engine.begin() as connection:
        if before:
            await connection.execute(text(before))
        result = await connection.execute(text(statement))
        rows = [str(row) for row in result] if result.returns_rows else []
    await engine.dispose()
    return rows


async def test_a_game_is_read_as_it_was_saved(database_url: str) -> None:
    tokyo = timezone(timedelta(hours=9))
    first, second, third = seat_results(("雀士", "rule (house)", "b" * 64), (60_100, 45_000, -100))
    seats = (replace(first, faults=3, penalty=20.5), replace(second, house_bot=True), replace(third, taken_over=True))
    started = datetime(2025, 6, 1, 23, 30, 0, 123456, tzinfo=tokyo)
    game = make_game(seats=seats, room="solo+rule", rules="majsoul", length="east", started=started, record=b"\x00\xff")
    async with opened(database_url) as store:
        assert await store.save_game(game)
    async with opened(database_url) as store:
        stored = await store.game(game.id)
        assert stored is not None
        for field in ("id", "room", "rules", "length", "started", "finished", "rounds", "decisions", "seats"):
            assert getattr(stored, field) == getattr(game, field)
        assert stored.rated
        assert stored.started.isoformat() == "2025-06-01T14:30:00.123456+00:00"
        assert stored.finished.tzinfo is UTC
        assert (await store.games()).items == [stored]
        assert await store.record(game.id) == b"\x00\xff"


async def test_unknown_ids_and_names_are_not_found(database_url: str) -> None:
    async with opened(database_url) as store:
        for unknown in ("0" * 32, "", "a\0b", "\ud800"):
            assert await store.game(unknown) is None
            assert await store.record(unknown) is None
            assert await store.player(unknown) is None
            assert (await store.rating_history(unknown)).items == []
            assert (await store.games(player=unknown)).items == []
            assert not await store.close_room(unknown)
            assert not await store.revoke_token(unknown)
            assert await store.token_owner(unknown) is None


async def test_a_game_saved_again_changes_nothing(database_url: str) -> None:
    game = make_game()
    async with opened(database_url) as store:
        assert await store.save_game(game)
        players = await store.players()
        assert not await store.save_game(replace(game, seats=seat_results(NAMES[1:]), record=b"other"))
        assert await store.players() == players
        assert await store.record(game.id) == game.record


@pytest.mark.slow
@pytest.mark.parametrize("table", ["seats", "records", "ratings"])
async def test_a_failed_save_stores_nothing(database_url: str, table: str) -> None:
    game = make_game()
    async with opened(database_url) as store:
        await execute(database_url, f"ALTER TABLE {table} RENAME TO away")
        with pytest.raises(StoreError) as error:
            await store.save_game(game)
        assert table in str(error.value)
        assert "\n" not in str(error.value)
        await execute(database_url, f"ALTER TABLE away RENAME TO {table}")
        assert await store.game(game.id) is None
        assert (await store.players()).items == []
        assert await store.save_game(game)
        await check_ratings(store)


async def test_times_need_a_time_zone(database_url: str) -> None:
    naive = datetime(2025, 6, 1, 12)
    async with opened(database_url) as store:
        with pytest.raises(ValueError, match="2025-06-01T12:00:00 has no time zone"):
            await store.save_game(make_game(finished=naive))
        with pytest.raises(ValueError, match="2025-06-01T12:00:00 has no time zone"):
            await store.games(since=naive)
        assert (await store.games()).items == []


def test_names_must_be_printable() -> None:
    with pytest.raises(ValueError, match=r"name 'a\\x00' is not printable"):
        make_game(("a\0", "b", "c"))


async def test_players_are_counted(database_url: str) -> None:
    first, second, third = seat_results(("aki", "beni", "house"), (50_000, 30_000, 25_000))
    async with opened(database_url) as store:
        await store.save_game(make_game(seats=(replace(first, faults=2, penalty=20.0), second, third), minute=10))
        seats = seat_results(("beni", "aki", "house"), (10_000, 30_000, 65_000))
        await store.save_game(make_game(seats=(*seats[:2], replace(seats[2], house_bot=True)), minute=30))
        await store.save_game(make_game(("beni", "aki", "chiyo"), minute=20))
        aki = await store.player("aki")
        assert aki is not None
        assert (aki.games, aki.rated_games, aki.firsts, aki.seconds, aki.thirds, aki.faults) == (3, 3, 1, 2, 0, 2)
        assert aki.mean_rank == pytest.approx(5 / 3)
        # 50,000 -> 10 + 20 uma + 15 oka; 30,000 in second place -> -10, twice
        assert aki.mean_points == pytest.approx((45 - 20 - 10 - 10) / 3)
        assert aki.first_seen == NOON + timedelta(minutes=5)
        assert aki.last_seen == NOON + timedelta(minutes=30)
        assert not aki.house_bot


async def test_games_are_filtered(database_url: str) -> None:
    games = [
        make_game(("aki", "beni", "chiyo"), minute=0),
        make_game(("aki", "beni", "daigo"), minute=1, room="club"),
        make_game(("aki", "chiyo", "daigo"), minute=2, rules="majsoul"),
        make_game(("beni", "chiyo", "daigo"), minute=3, room="club", rules="majsoul"),
    ]
    minutes = [NOON + timedelta(minutes=minute) for minute in range(5)]
    tests: tuple[tuple[dict[str, Any], list[int]], ...] = (
        ({}, [3, 2, 1, 0]),
        ({"player": "aki"}, [2, 1, 0]),
        ({"room": "club"}, [3, 1]),
        ({"rules": "majsoul"}, [3, 2]),
        ({"since": minutes[1]}, [3, 2, 1]),
        ({"until": minutes[1]}, [0]),
        ({"since": minutes[1], "until": minutes[3]}, [2, 1]),
        ({"player": "beni", "room": "club", "rules": "majsoul", "since": minutes[3], "until": minutes[4]}, [3]),
        ({"player": "aki", "room": "club", "since": minutes[2]}, []),
        ({"player": "nobody"}, []),
        ({"player": ""}, []),
    )
    async with opened(database_url) as store:
        for game in games:
            await store.save_game(game)
        for filters, expected in tests:
            for limit in (1, 2, 50):
                found = await all_items(lambda cursor: store.games(**filters, cursor=cursor, limit=limit))  # noqa: B023
                assert [game.id for game in found] == [games[i].id for i in expected], filters


async def test_filters_without_an_index_search_the_latest_games(database_url: str) -> None:
    """Else a request for rules that are never played would read all games there are."""
    async with opened(database_url, Limits(most_searched=3)) as store:
        games = []
        for minute in range(8):
            rules, room = ("majsoul", "club") if minute % 4 == 0 else ("tenhou", "default")
            games.append(make_game(("aki", "aki", "beni"), minute, rules=rules, room=room))
            await store.save_game(games[-1])
        filters: tuple[dict[str, Any], ...]
        filters = ({"rules": "majsoul"}, {"rules": "majsoul", "player": "beni"}, {"room": "club", "player": "beni"})
        for given in filters:
            assert [game.id for game in (await store.games(**given)).items] == []  # 7, 6 and 5
            found = await store.games(**given, until=NOON + timedelta(minutes=7))
            assert [game.id for game in found.items] == [games[4].id]
            cursor = (await store.games(limit=2)).next_cursor
            assert [game.id for game in (await store.games(**given, cursor=cursor)).items] == [games[4].id]
            since = NOON + timedelta(minutes=5)
            assert (await store.games(**given, cursor=cursor, since=since)).items == []
        assert [game.id for game in (await store.games(room="club")).items] == [games[4].id, games[0].id]
        assert len((await store.games(player="beni")).items) == 8


@pytest.mark.parametrize("player", [None, "aki"])
async def test_pages_list_every_game_once_while_games_are_stored(database_url: str, player: str | None) -> None:
    chance = random.Random(2)

    def arriving() -> int:
        return chance.randrange(-3, 8)  # minutes: many games finish at the same time, some before those listed

    async with opened(database_url) as store:
        there = [make_game(chance.choice((("aki", "b", "c"), ("aki", "aki", "c"))), arriving()) for _ in range(25)]
        for game in there:
            await store.save_game(game)
        listed, cursor = [], None
        while True:
            page = await store.games(player=player, cursor=cursor, limit=4)
            listed += page.items
            if (cursor := page.next_cursor) is None:
                break
            await store.save_game(make_game(minute=arriving()))
            await store.save_game(make_game(minute=60))
    keys = [(game.finished, game.id) for game in listed]
    assert keys == sorted(set(keys), reverse=True)
    assert {game.id for game in there} <= {game.id for game in listed}


async def test_players_are_listed_in_each_order(database_url: str) -> None:
    # Sorted by code point everywhere, whatever the database's locale: upper case first.
    names = ["Zoe", "aki", "beni", "émile", "雀士"]
    async with opened(database_url) as store:
        for trio in (("aki", "Zoe", "雀士"), ("aki", "émile", "Zoe"), ("beni", "émile", "aki")):
            await store.save_game(make_game(trio))
        for limit in (1, 2, 50):
            by_name = await all_items(lambda cursor: store.players(cursor, limit, "name"))  # noqa: B023
            assert [player.name for player in by_name] == names
            by_games = await all_items(lambda cursor: store.players(cursor, limit, "games"))  # noqa: B023
            assert [player.name for player in by_games] == ["aki", "Zoe", "émile", "beni", "雀士"]
            by_rating = await all_items(lambda cursor: store.players(cursor, limit))  # noqa: B023
            assert sorted(player.name for player in by_rating) == sorted(names)
            ordinals = [player.rating.ordinal for player in by_rating]
            assert ordinals == sorted(ordinals, reverse=True)


EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}


@pytest.mark.parametrize("order", ["rating", "games", "name"])
async def test_pages_of_players_are_read_in_order_without_sorting(database_url: str, order: PlayerOrder) -> None:
    """From the first player to be listed on, by an index of the order."""
    async with opened(database_url) as store:
        await store.save_game(make_game())
        cursor = (await store.players(limit=1, order=order)).next_cursor
        assert cursor is not None
    backend = database_url.partition(":")[0]
    dialect = {"sqlite": sqlite, "postgresql": postgresql}[backend].dialect()
    sorting, whole = {"sqlite": ("TEMP B-TREE", "SCAN"), "postgresql": ("Sort", "Seq Scan")}[backend]
    for given in (None, cursor):
        for found in select_players(order, "", given):
            sql = str(found.limit(26).compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
            plan = "\n".join(await execute(database_url, EXPLAIN[backend] + sql.replace(":", "\\:"), SET[backend]))
            assert sorting not in plan
            assert "Index Scan" in plan or "USING INDEX" in plan
            assert given is None or whole not in plan


async def test_players_without_a_rated_game_come_last_in_the_order_of_ratings(database_url: str) -> None:
    """Whoever loses has an ordinal below that of a new player, 0."""
    async with opened(database_url) as store:
        for minute in range(3):
            await store.save_game(make_game(("aki", "beni", "chiyo"), minute))
        await store.save_game(make_game(("daigo", "rule@-300 (house)", "rule (house)")))
        for limit in (1, 2, 50):
            found = await all_items(lambda cursor: store.players(cursor, limit))  # noqa: B023
            names = [player.name for player in found]
            assert names == ["aki", "beni", "chiyo", "daigo", "rule (house)", "rule@-300 (house)"]
        assert found[2].rating.ordinal < found[3].rating.ordinal == 0


def forged(*values: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


BAD_CURSORS = [
    "",
    "x",
    "é",
    "\ud800",
    "a" * 1001,
    forged(),
    forged("games"),
    forged("games", "2025-06-01", "0" * 32),
    forged("games", "2025-06-01T00:00:00Z", "0" * 32, 1),
    forged("games", 5, "0" * 32),
    forged("games", "0001-01-01T00:00:00+14:00", ""),
    forged("rating", {}, "aki"),
    forged("most games", 1 << 31, "aki"),
    forged("most games", "1", "aki"),
    forged("ratings", 1e999),
    base64.urlsafe_b64encode(b"[" * 100_000).decode().rstrip("="),
    base64.urlsafe_b64encode(b"\xff").decode().rstrip("="),
]


@pytest.mark.slow
@pytest.mark.parametrize("cursor", BAD_CURSORS, ids=range(len(BAD_CURSORS)))
async def test_bad_cursors_are_refused(sqlite_url: str, cursor: str) -> None:
    async with opened(sqlite_url) as store:
        for ask in (
            lambda: store.games(cursor=cursor),
            lambda: store.players(cursor, order="rating"),
            lambda: store.players(cursor, order="games"),
            lambda: store.players(cursor, order="name"),
            lambda: store.rating_history("aki", cursor),
        ):
            with pytest.raises(ValueError, match=r"^invalid cursor: [^\n]+$"):
                await ask()


async def test_a_cursor_belongs_to_its_list(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.save_game(make_game())
        cursor = (await store.players(limit=1, order="rating")).next_cursor
        assert cursor is not None
        assert (await store.players(cursor, order="rating")).items
        with pytest.raises(ValueError, match="invalid cursor"):
            await store.players(cursor, order="games")


async def test_cursors_with_extreme_values_are_accepted(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.save_game(make_game())
        for number in (float("nan"), float("-inf"), 10**300):
            await store.players(forged("rating", number, "a\0\ud800"))
        assert (await store.games(cursor=forged("games", "9999-12-31T00:00:00Z", "\0"))).items


@pytest.mark.parametrize("limit", [-1, 0, 501])
async def test_bad_limits_are_refused(sqlite_url: str, limit: int) -> None:
    async with opened(sqlite_url) as store:
        for ask in (store.games, store.players):
            with pytest.raises(ValueError, match=f"limit {limit}: choose 1 to 500"):
                await ask(limit=limit)
        with pytest.raises(ValueError, match=f"limit {limit}: choose 1 to 500"):
            await store.rating_history("aki", limit=limit)


async def test_rooms_are_stored_until_closed(database_url: str) -> None:
    settings = {"rules": "majsoul", "fill": ["rule", "random"], "fill_delay": 2.5, "seed": None}
    async with opened(database_url) as store:
        await store.save_room("club", settings)
        await store.save_room("abc", {})
    async with opened(database_url) as store:
        rooms = await store.rooms()
        assert [(room.name, room.settings) for room in rooms] == [("abc", {}), ("club", settings)]
        assert abs(datetime.now(UTC) - rooms[0].opened) < timedelta(minutes=1)
        await store.save_room("abc", {"games": 3})
        assert await store.close_room("club")
        assert not await store.close_room("club")
        assert [(room.name, room.settings, room.opened) for room in await store.rooms()] == [
            ("abc", {"games": 3}, rooms[0].opened)
        ]


async def owner(store: Store, secret: str) -> tuple[str, bool]:
    """Name and admin flag of the token with that secret."""
    token = await store.token_owner(secret)
    assert token is not None
    return token.name, token.admin


async def test_tokens_are_added_and_revoked(database_url: str) -> None:
    async with opened(database_url) as store:
        aki = await store.add_token("aki")
        root = await store.add_token("root", admin=True)
        assert len({aki, root}) == 2
        assert await owner(store, aki) == ("aki", False)
        assert await owner(store, root) == ("root", True)
        for wrong in (aki[:-1], aki + "a", aki.swapcase(), "aki", "\ud800"):
            assert await store.token_owner(wrong) is None
        with pytest.raises(ValueError, match="'aki' already has a token: revoke it first"):
            await store.add_token("aki", admin=True)
        assert await owner(store, aki) == ("aki", False)
        assert [(token.name, token.admin) for token in await store.tokens()] == [("aki", False), ("root", True)]
        assert await store.revoke_token("aki")
        assert not await store.revoke_token("aki")
        assert await store.token_owner(aki) is None
        again = await store.add_token("aki")
        assert again != aki
        assert await store.token_owner(again) is not None


async def test_no_secret_is_stored(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url) as store:
        secret = await store.add_token("aki")
        (row,) = await execute(database_url, "SELECT * FROM tokens")
        assert "aki" in row
        files = b"".join(path.read_bytes() for path in tmp_path.glob("nukidora.db*"))  # the database, its log
        assert database_url.startswith("postgresql") or b"aki" in files
        for hidden in (secret, secret[:20], secret[-20:]):
            assert hidden not in row
            assert hidden.encode() not in files
