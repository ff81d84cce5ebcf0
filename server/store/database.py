"""Opening a database: its URL, its engine, its migration to the newest version."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from time import monotonic, sleep
from typing import Any

from alembic import command
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError, StatementError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from server.migrations import configuration

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
HOW_TO_MEND = {
    "sqlite": "see that it is a database of this program, in a folder it may write to, with room on the disk",
    "postgresql": "see that the database server runs there and that it knows this user, password and database",
}
LOCK_TIMEOUT = 30.0  # seconds one process waits for another that writes to the same SQLite file
CONNECT_TIMEOUT = 10.0  # seconds PostgreSQL has to answer
COMMAND_TIMEOUT = 10.0  # seconds it has for each command, the wait for a lock included
MIGRATION_LOCK = 0x6E756B69  # key of the advisory lock on PostgreSQL: "nuki"
IMMEDIATE = {"sqlite_begin": "BEGIN IMMEDIATE"}  # execution option of a transaction that will write

# What Alembic's migrations use is global to the process.
_one_migration = threading.Lock()


class StoreError(Exception):
    """The database can't be opened or does not answer; the message says which and how to mend it, in one line."""


def read_url(url: str) -> URL:
    """The URL with its driver: ``sqlite:///PATH`` or ``postgresql://USER:PASSWORD@HOST/NAME``. Raises StoreError."""
    # The URL is not repeated where it can't be told what in it is a password.
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError("database URL not understood: write sqlite:///PATH or postgresql://HOST/NAME") from None
    if parsed.drivername not in DRIVERS:
        raise StoreError(f"no database of type {parsed.drivername!r}: choose sqlite:///PATH or postgresql://HOST/NAME")
    parsed = parsed.set(drivername=DRIVERS[parsed.drivername])
    if parsed.get_backend_name() == "sqlite" and (parsed.database or ":memory:").startswith((":memory:", "file:")):
        raise StoreError("SQLite needs a file to keep games in: write sqlite:///PATH")
    if "sslmode" in parsed.query:  # as libpq, and hosts of databases, call it
        parsed = parsed.set(query={"ssl" if key == "sslmode" else key: said for key, said in parsed.query.items()})
    return parsed


def shown(url: URL) -> str:
    """The URL as a user writes it, without secrets."""
    return url.set(drivername=url.get_backend_name(), query={}).render_as_string(hide_password=True)


def make_engine(url: URL, *, migrating: bool = False) -> AsyncEngine:
    """An engine for `url` (of read_url). Connects to nothing yet.

    One for a migration has all the time it needs, and no foreign keys: to alter a table on SQLite is to copy it and
    drop the original.

    On SQLite a transaction with the execution options IMMEDIATE waits for its turn to write before it reads; others
    see the database as it was when they began (WAL, which migrate has set). Commits reach the disk.
    """
    if url.get_backend_name() == "postgresql":
        timeouts = {"timeout": CONNECT_TIMEOUT, "command_timeout": None if migrating else COMMAND_TIMEOUT}
        return create_async_engine(url, connect_args=timeouts, pool_pre_ping=True, hide_parameters=True)
    # isolation_level=None: sqlite3 begins no transaction of its own accord, SQLAlchemy's event below does.
    engine = create_async_engine(
        url, connect_args={"timeout": LOCK_TIMEOUT, "isolation_level": None}, hide_parameters=True
    )

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute(f"PRAGMA foreign_keys = {int(not migrating)}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("sqlite_begin", "BEGIN"))

    return engine


def failure(url: URL, error: Exception) -> StoreError:
    """What went wrong with the database at `url`, in one line."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    lines = str(cause).strip().splitlines()
    what = lines[0] if lines else type(cause).__name__
    return StoreError(f"database {shown(url)}: {what}; {HOW_TO_MEND[url.get_backend_name()]}")


@contextmanager
def failures(url: URL) -> Iterator[None]:
    """Raises StoreError for what goes wrong with the database, ValueError for a value that it can't take."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        if isinstance(error, StatementError) and isinstance(error.orig, ValueError):
            raise error.orig from None
        raise failure(url, error) from error


async def migrate(url: URL) -> None:
    """Bring the database at `url` to this program's version, in one transaction. Raises StoreError.

    Any number of processes may do so at the same time: one migrates, the others wait and find it done.
    """
    await asyncio.to_thread(_migrate_alone, url)


def _migrate_alone(url: URL) -> None:
    with _one_migration:
        if url.get_backend_name() == "sqlite":
            _use_write_ahead_log(url)
        asyncio.run(_migrate(url))


def _use_write_ahead_log(url: URL) -> None:
    """Set the file to WAL for good. SQLite does not wait for another process that does the same, so we do."""
    deadline = monotonic() + LOCK_TIMEOUT
    while True:
        try:
            with closing(sqlite3.connect(str(url.database), timeout=LOCK_TIMEOUT)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise failure(url, error) from error
        sleep(0.01)


async def _migrate(url: URL) -> None:
    engine = make_engine(url, migrating=True)
    try:
        async with engine.execution_options(**IMMEDIATE).begin() as connection:
            if url.get_backend_name() == "postgresql":
                await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            await connection.run_sync(_upgrade, url)
    except (SQLAlchemyError, OSError, TypeError) as error:  # TypeError: unknown parameters after the URL's "?"
        raise failure(url, error) from error
    finally:
        await engine.dispose()


def _upgrade(connection: Connection, url: URL) -> None:
    settings = configuration(connection)
    known = {script.revision for script in ScriptDirectory.from_config(settings).walk_revisions()}
    version = MigrationContext.configure(connection).get_current_revision()
    if version is not None and version not in known:
        raise StoreError(
            f"database {shown(url)} has version {version}, this program knows versions up to {max(known)}: "
            "install a newer nukidora, or name another database"
        )
    command.upgrade(settings, "head")
