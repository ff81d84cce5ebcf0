"""Opening a database: URLs, migrations and error messages."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from server.migrations import FOLDER, configuration
from server.migrations.__main__ import write_migration
from server.store import Store, StoreError
from server.store.database import IMMEDIATE, MIGRATION_LOCK, make_engine, read_url
from server.store.tables import metadata
from tests.support.postgres import PASSWORD, Cluster, free_port
from tests.support.server_program import REPOSITORY
from tests.support.stored_games import check_ratings, make_game, opened

RULES_OF_RUFF = REPOSITORY / "pyproject.toml"
NEWEST = max(path.name[:4] for path in (FOLDER / "versions").glob("0*.py"))  # version of the tables


async def on_connection(url: str, work: Callable[[Connection], Any]) -> Any:
    """The result of `work`, run in one transaction."""
    engine = make_engine(read_url(url), migrating=True)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def refusal(url: str) -> str:
    """The one-line error for a URL that cannot be opened."""
    with pytest.raises(StoreError) as error:
        await Store.open(url)
    assert "\n" not in str(error.value)
    return str(error.value)


async def test_migrations_create_the_tables_of_the_models(database_url: str) -> None:
    def differences(connection: Connection) -> Any:
        options = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with opened(database_url):
        assert await on_connection(database_url, differences) == []


@pytest.mark.slow
async def test_migrations_run_down_and_up(database_url: str) -> None:
    def downgrade(connection: Connection) -> list[str]:
        command.downgrade(configuration(connection), "base")
        return inspect(connection).get_table_names()

    async with opened(database_url) as store:
        await store.save_game(make_game())
    assert await on_connection(database_url, downgrade) == ["alembic_version"]
    async with opened(database_url) as store:
        assert (await store.games()).items == []
        assert await store.save_game(make_game())
        await check_ratings(store)


def downgrade_to(version: str) -> Callable[[Connection], None]:
    """A step back to the tables of an earlier version, with what is stored in them."""
    return lambda connection: command.downgrade(configuration(connection), version)


def index_names(connection: Connection, *of_tables: str) -> set[str]:
    """The names of the indexes of some tables, on expressions too, which SQLAlchemy does not see on SQLite."""
    sql = {
        "sqlite": "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'",
        "postgresql": "SELECT tablename, indexname FROM pg_indexes",
    }
    return {name for table, name in connection.execute(text(sql[connection.dialect.name])) if table in of_tables}


async def test_a_database_of_an_earlier_version_is_migrated_with_what_is_stored(database_url: str) -> None:
    """It has the indexes; series of walls go on after the games that are stored."""
    async with opened(database_url) as store:
        for minute, room in enumerate(["cup", "other", "cup", "cup"]):
            await store.save_game(make_game(minute=minute, room=room))
    await on_connection(database_url, downgrade_to("0007"))
    async with opened(database_url) as store:
        indexes = await on_connection(database_url, lambda connection: index_names(connection, "players", "ratings"))
        assert indexes >= {"ix_players_rating", "ix_players_games", "ix_ratings_game_id"}
        assert [await store.next_in_series(room) for room in ("cup", "other", "third")] == [3, 1, 0]
        await store.save_game(make_game(minute=9, room="cup", seeded=True))
        assert await store.next_in_series("cup") == 4
        assert [player.games for player in (await store.players(order="games")).items] == [5, 5, 5]
        await check_ratings(store)


async def test_rooms_of_an_earlier_version_go_on_after_their_games_that_are_stored(database_url: str) -> None:
    async with opened(database_url) as store:
        for name in ("cup", "empty"):
            await store.save_room(name, {"games": 9})
        cup, _ = await store.rooms()
        for minute, room in ((-1, "cup"), (0, "cup"), (1, "cup"), (1, "other")):
            await store.save_game(make_game(room=room, started=cup.opened + timedelta(minutes=minute)))
        before = await store.rooms()
    await on_connection(database_url, downgrade_to("0010"))
    async with opened(database_url) as store:
        assert await store.rooms() == before
        assert [(room.name, room.games) for room in before] == [("cup", 2), ("empty", 0)]


async def test_the_file_is_private(tmp_path: Path) -> None:
    """It holds hashes of tokens: also a file that was made by hand or by an earlier version, in an open folder."""
    path = tmp_path / "games.sqlite"
    for _ in range(2):
        async with opened(f"sqlite:///{path}") as store:
            await store.save_game(make_game())
            modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
            assert modes == dict.fromkeys(["games.sqlite", "games.sqlite-wal", "games.sqlite-shm"], 0o600)
        path.chmod(0o644)
    path.with_name("games.sqlite-wal").touch(0o644)
    async with opened(f"sqlite:///{path}"):
        assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())


async def test_a_newer_database_is_refused(database_url: str) -> None:
    await (await Store.open(database_url)).close()
    newer = text("UPDATE alembic_version SET version_num = '9999'")
    await on_connection(database_url, lambda connection: connection.execute(newer))
    message = await refusal(database_url)
    assert f"has version 9999, this program supports versions up to {NEWEST}: install a newer nukidora" in message
    assert PASSWORD not in message


@pytest.mark.slow
async def test_opening_waits_for_another_process_that_migrates(database_url: str) -> None:
    postgresql = database_url.startswith("postgresql")
    engine = make_engine(read_url(database_url)).execution_options(**IMMEDIATE)
    async with engine.connect() as other:
        await other.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})" if postgresql else "SELECT 1"))
        opening = asyncio.create_task(Store.open(database_url))
        _, waiting = await asyncio.wait([opening], timeout=0.5)
        assert waiting
        await other.execute(text("CREATE TABLE other (x INTEGER)"))  # what was read before would be out of date
        await other.commit()
    await (await opening).close()
    await engine.dispose()


@pytest.mark.slow
async def test_different_databases_are_opened_at_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(Store.open(f"sqlite:///{tmp_path}/{number}.db") for number in range(8)))
    for store in stores:
        assert await store.save_game(make_game())
        await store.close()


async def test_sqlite_uses_wal_full_sync_and_foreign_keys(sqlite_url: str) -> None:
    await (await Store.open(sqlite_url)).close()
    engine = make_engine(read_url(sqlite_url))
    async with engine.connect() as connection:
        pragmas = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
        assert {name: await connection.scalar(text(f"PRAGMA {name}")) for name in pragmas} == pragmas
    await engine.dispose()


@pytest.mark.slow
async def test_many_open_an_empty_database_at_once(database_url: str) -> None:
    stores = await asyncio.gather(*(Store.open(database_url) for _ in range(6)))
    assert await stores[0].save_game(make_game())
    assert [len((await store.games()).items) for store in stores] == [1] * 6
    for store in stores:
        await store.close()


def test_a_migration_is_written_from_the_tables(tmp_path: Path) -> None:
    # The tables are as the last version left them: the new one has nothing to do.
    folder = tmp_path / "100% migrations"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = write_migration("Nothing new", folder)
    assert path.name == f"{int(NEWEST) + 1:04}_nothing_new.py"
    script = path.read_text()
    assert f'down_revision = "{NEWEST}"' in script
    assert "op." not in script
    compile(script, path, "exec")
    if find_spec("ruff"):  # of the extra `dev`
        for order in (["check"], ["format", "--check"]):
            subprocess.run([sys.executable, "-m", "ruff", *order, "--config", RULES_OF_RUFF, path], check=True)


@pytest.mark.parametrize(
    ("written", "driver", "shown_path"),
    [
        ("sqlite:///games.db", "sqlite+aiosqlite", "games.db"),
        ("sqlite:////var/lib/games.db", "sqlite+aiosqlite", "/var/lib/games.db"),
        ("sqlite+aiosqlite:///games.db", "sqlite+aiosqlite", "games.db"),
        ("postgres://u:p@host/games", "postgresql+asyncpg", "games"),
        ("postgresql://u:p@host:5433/games", "postgresql+asyncpg", "games"),
        ("postgresql+asyncpg://u@host/games", "postgresql+asyncpg", "games"),
    ],
)
def test_urls_get_their_driver(written: str, driver: str, shown_path: str) -> None:
    url = read_url(written)
    assert (url.drivername, url.database) == (driver, shown_path)


def test_url_parameters_are_those_of_the_driver_and_sslmode() -> None:
    url = read_url("postgresql://u:p@host/games?sslmode=require&application_name=x")
    assert dict(url.query) == {"ssl": "require", "application_name": "x"}


async def test_sslmode_works_as_in_libpq(postgres_url: str) -> None:
    async with opened(f"{postgres_url}?sslmode=prefer"):
        pass
    assert "rejected SSL upgrade" in await refusal(f"{postgres_url}?sslmode=require")  # the cluster has no certificate


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE games (title TEXT)")
    assert "table games already exists" in await refusal(f"sqlite:///{path}")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("games",)]


async def test_an_unreachable_server() -> None:
    port = free_port()
    message = await refusal(f"postgresql://aki:secret@127.0.0.1:{port}/games?password=secret")
    assert message.startswith(f"database postgresql://aki:***@127.0.0.1:{port}/games: ")
    assert message.endswith("; check that the database server runs there, and the user, password and database name")
    assert "secret" not in message


async def test_errors_of_the_database_server(postgres_cluster: Cluster) -> None:
    url = postgres_cluster.url()
    tests = (
        (url.replace(PASSWORD, "wrong"), "password authentication failed"),
        (postgres_cluster.url("nothing"), 'database "nothing" does not exist'),
        (f"{url}?colour=blue", "colour"),
    )
    for wrong, said in tests:
        message = await refusal(wrong)
        assert message.startswith("database postgresql://nukidora:***@127.0.0.1:")
        assert said in message
        assert "wrong" not in message
        assert PASSWORD not in message


@pytest.mark.parametrize("url", ["postgresql://u:{}@127.0.0.1:65536/x", "sqlite://u:{}@host/x.db"])
async def test_a_url_that_no_driver_takes_is_one_line(url: str) -> None:
    assert await refusal(url.format(PASSWORD)) == "invalid database URL: write sqlite:///PATH or postgresql://HOST/NAME"
