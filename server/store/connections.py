"""The connections to an open database: how many transactions write at once, and how those that are begun are ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import structlog
from sqlalchemy import URL, Connection, Engine, RowMapping
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from server.limits import Limits
from server.store.database import IMMEDIATE, failures, make_blocking_engine, make_engine
from server.threads import run_on_core

# Concurrent write transactions of this process. SQLite allows one, and waiting ones would use up the connections
# that readers need.
MAX_WRITERS = {"sqlite": 1, "postgresql": 8}
CLOSE_TIMEOUT = 5.0  # seconds until connections of a database that hangs are given up
log = structlog.get_logger("server.store")

T = TypeVar("T")


class Connections:
    """Reads and writes in transactions. Errors of the database are StoreError, those about values ValueError."""

    def __init__(self, url: URL, limits: Limits) -> None:
        """Connect to a migrated database once it is used; `url` is one of `read_url`."""
        self._url = url
        self._engine = make_engine(url, limits)
        self._blocking_engine = make_blocking_engine(url, limits)
        self._write_engine = self._engine.execution_options(**IMMEDIATE)
        self._writers = asyncio.Semaphore(MAX_WRITERS[url.get_backend_name()])
        self._pending: set[asyncio.Task[Any]] = set()

    async def complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that runs to completion even if the caller is cancelled; `close` waits for it.

        A connection closed in the middle of a statement would hold SQLite's only write lock until Python's garbage
        collector finds the statement.
        """
        task = asyncio.create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._pending.discard(task)
        if not task.cancelled():
            task.exception()  # seen: if its caller was cancelled, nobody else would look

    async def close(self) -> None:
        """Close all connections after pending writes have finished; of a database that hangs, after CLOSE_TIMEOUT."""
        await asyncio.gather(*self._pending, return_exceptions=True)
        pool_log = logging.getLogger("sqlalchemy.pool")
        level = pool_log.level
        pool_log.setLevel(logging.CRITICAL)  # or it logs an error for each connection that is given up
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._engine.dispose()
            if self._blocking_engine is not None:
                self._blocking_engine.dispose()
        except (TimeoutError, SQLAlchemyError, OSError) as error:
            log.warning("database not closed", error=repr(error))
        finally:
            pool_log.setLevel(level)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection to read with."""
        with failures(self._url):
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed at the end of the block."""
        with failures(self._url):
            async with self._writers, self._write_engine.begin() as connection:
                yield connection

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Call `work` in a transaction, which is committed at its end; in a thread, where the database blocks."""
        if self._blocking_engine is None:
            async with self.writing() as connection:
                return await connection.run_sync(work)
        with failures(self._url):
            async with self._writers:
                return await run_on_core(in_transaction, self._blocking_engine.execution_options(**IMMEDIATE), work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Call `work`, which may take seconds, in a transaction that reads; in a thread, where the database blocks."""
        if self._blocking_engine is None:
            async with self.reading() as connection:
                return await connection.run_sync(work)
        with failures(self._url):
            return await asyncio.to_thread(in_transaction, self._blocking_engine, work)

    async def rows(self, statement: Any) -> list[RowMapping]:
        """The rows that a statement selects."""
        async with self.reading() as connection:
            return list((await connection.execute(statement)).mappings())


def in_transaction(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Call `work` in a transaction, which is committed at its end."""
    with engine.begin() as connection:
        return work(connection)
