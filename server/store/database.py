"""Opening a database: its URL, its engine, its migration to the newest version, and its errors."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from alembic import command
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from server.limits import LIMITS, Limits
from server.migrations import configuration

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
HINTS = {
    "sqlite": "check that it is a database of this program, in a writable folder, on a disk with free space",
    "postgresql": "check that the database server runs there, and the user, password and database name",
}
MIGRATION_TIMEOUT = 30.0  # seconds to wait for one that migrates it
CONNECT_TIMEOUT = 10.0  # seconds to wait for a connection to PostgreSQL
CONNECTIONS = 15  # open ones to PostgreSQL at most
MIGRATION_LOCK = 0x6E756B69  # key of the PostgreSQL advisory lock: "nuki" in ASCII
MAX_PORT = 65_535
PRIVATE = 0o600  # permissions of a SQLite file
IMMEDIATE = {"sqlite_begin": "BEGIN IMMEDIATE"}  # execution option for transactions that write

_alembic_lock = threading.Lock()  # Alembic keeps the current migration in global variables


class StoreError(Exception):
    """The database cannot be opened or does not answer. The message is one line: which, why, what to do."""


def read_url(url: str) -> URL:
    """Parse ``sqlite:///PATH`` or ``postgresql://USER:PASSWORD@HOST/NAME`` and add the driver. Raises StoreError."""
    # The message does not quote the URL: without parsing it, the password in it cannot be hidden.
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or (parsed.port or 0) > MAX_PORT or (parsed.get_backend_name() == "sqlite" and parsed.host):
        raise StoreError("invalid database URL: write sqlite:///PATH or postgresql://HOST/NAME")
    if parsed.drivername not in DRIVERS:
        raise StoreError(f"unsupported database {parsed.drivername!r}: choose sqlite:///PATH or postgresql://HOST/NAME")
    parsed = parsed.set(drivername=DRIVERS[parsed.drivername])
    if parsed.get_backend_name() == "sqlite" and (parsed.database or ":memory:").startswith((":memory:", "file:")):
        raise StoreError("SQLite in memory is not supported: write sqlite:///PATH")
    if "sslmode" in parsed.query:  # the name that libpq and hosting services use
        parsed = parsed.set(query={"ssl" if key == "sslmode" else key: value for key, value in parsed.query.items()})
    return parsed


def display_url(url: URL) -> str:
    """The URL for messages, without driver and secrets."""
    return url.set(drivername=url.get_backend_name(), query={}).render_as_string(hide_password=True)


def make_engine(url: URL, limits: Limits = LIMITS, *, migrating: bool = False) -> AsyncEngine:
    """Create an engine for a URL of `read_url`, without connecting.

    With `migrating`, commands have no time limit and foreign keys are off, because Alembic alters a SQLite table by
    copying it and dropping the original.

    On SQLite, a transaction with the execution options IMMEDIATE takes the write lock before it reads. Other
    transactions read a snapshot of the database from their start (WAL mode, which `migrate` sets). Commits are synced
    to disk.
    """
    if url.get_backend_name() == "postgresql":
        timeouts = {"timeout": CONNECT_TIMEOUT, "command_timeout": None if migrating else limits.command_timeout}
        # Without overflow, whose connections are closed at once: that takes long while the database hangs.
        pool = {"pool_pre_ping": True, "pool_size": CONNECTIONS, "max_overflow": 0}
        return create_async_engine(url, connect_args=timeouts, hide_parameters=True, **pool)
    timeout = MIGRATION_TIMEOUT if migrating else limits.lock_timeout
    engine = create_async_engine(url, connect_args=sqlite_arguments(timeout), hide_parameters=True)
    set_up_sqlite(engine.sync_engine, migrating)
    return engine


def make_blocking_engine(url: URL, limits: Limits) -> Engine | None:
    """An engine for threads, as `make_engine` makes them; None for PostgreSQL, whose asyncio driver needs no thread.

    The asyncio driver of SQLite changes threads for each statement, and so takes long while the event loop is busy.
    """
    if url.get_backend_name() != "sqlite":
        return None
    blocking = url.set(drivername="sqlite")
    engine = create_engine(blocking, connect_args=sqlite_arguments(limits.lock_timeout), hide_parameters=True)
    set_up_sqlite(engine, migrating=False)
    return engine


def sqlite_arguments(timeout: float) -> dict[str, Any]:
    """Arguments of the sqlite3 module's `connect`; `timeout`: seconds to wait for another process that writes."""
    # isolation_level=None: transactions are begun by the SQLAlchemy event below, not by the sqlite3 module.
    return {"timeout": timeout, "isolation_level": None}


def set_up_sqlite(engine: Engine, migrating: bool) -> None:
    """Set what `make_engine` says for each connection and transaction."""

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute(f"PRAGMA foreign_keys = {int(not migrating)}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("sqlite_begin", "BEGIN"))


def failure(url: URL, error: Exception) -> StoreError:
    """A StoreError that describes `error` in one line."""
    return StoreError(f"database {display_url(url)}: {reason(error)}; {HINTS[url.get_backend_name()]}")


def reason(error: Exception) -> str:
    """The first line of an error."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__


@contextmanager
def failures(url: URL) -> Iterator[None]:
    """Turn the database's errors into StoreError, and those about invalid values into ValueError."""
    try:
        yield
    except (DataError, IntegrityError) as error:
        raise ValueError(reason(error)) from error
    except (SQLAlchemyError, OSError) as error:
        if isinstance(error, StatementError) and isinstance(error.orig, ValueError):
            raise error.orig from None
        raise failure(url, error) from error


async def migrate(url: URL) -> None:
    """Migrate the database at `url` to this program's version in one transaction. Raises StoreError.

    Concurrent processes are safe: one migrates, the others wait for it.
    """
    await asyncio.to_thread(_migrate_locked, url)


def _migrate_locked(url: URL) -> None:
    with _alembic_lock:
        if url.get_backend_name() == "sqlite":
            _make_private(url)
            _use_write_ahead_log(url)
        asyncio.run(_migrate(url))


def _make_private(url: URL) -> None:
    """Let this user alone read the file, which holds hashes of tokens, and what SQLite writes beside it.

    SQLite gives new files beside it the permissions of the file itself. Raises StoreError.
    """
    path = Path(str(url.database))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT, PRIVATE))
    except OSError as error:
        raise StoreError(f"database {display_url(url)}: {error.strerror}; {HINTS['sqlite']}") from error
    for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
        try:
            file.chmod(PRIVATE)
        except FileNotFoundError:
            continue
        except OSError as error:
            if file.stat().st_mode & ~PRIVATE & 0o777:
                raise StoreError(
                    f"database {file}: other users of this machine may read it, and it cannot be changed "
                    f"({error.strerror}): let its owner run chmod 600 on it, or choose another database"
                ) from error


def _use_write_ahead_log(url: URL) -> None:
    """Switch the file to WAL mode. SQLite does not wait for another process that does the same, so this retries."""
    deadline = monotonic() + MIGRATION_TIMEOUT
    while True:
        try:
            with closing(sqlite3.connect(str(url.database), timeout=MIGRATION_TIMEOUT)) as connection:
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
    except (SQLAlchemyError, OSError, TypeError) as error:  # TypeError: unknown parameters in the URL
        raise failure(url, error) from error
    finally:
        await engine.dispose()


def _upgrade(connection: Connection, url: URL) -> None:
    settings = configuration(connection)
    known = {script.revision for script in ScriptDirectory.from_config(settings).walk_revisions()}
    version = MigrationContext.configure(connection).get_current_revision()
    if version is not None and version not in known:
        raise StoreError(
            f"database {display_url(url)} has version {version}, this program supports versions up to {max(known)}: "
            "install a newer nukidora, or choose another database"
        )
    command.upgrade(settings, "head")
