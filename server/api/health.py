"""The health check of the database."""

from __future__ import annotations

import asyncio

import structlog

from server.store import Store

TIMEOUT = 1.0  # seconds within which the database has to answer
log = structlog.get_logger("server.health")


class Health:
    """Queries the database. Concurrent callers share one query, so that a hanging database gets no more of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._query: asyncio.Task[bool] | None = None

    async def problem(self) -> str:
        """What is wrong with the database; "" if nothing is."""
        if self._query is None or self._query.done():
            self._query = asyncio.create_task(self._store.has_token(""))
        query = self._query
        await asyncio.wait({query}, timeout=TIMEOUT)
        if not query.done():
            return f"the database has not answered within {TIMEOUT:g} s"
        error = query.exception()
        if error is None:
            return ""
        log.error("database does not answer", error=str(error))
        return "the database does not answer; see the server's log"
