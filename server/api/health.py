"""Whether the server works."""

from __future__ import annotations

import asyncio

import structlog

from server.store import Store

ANSWER_WITHIN = 1.0  # seconds the database has
log = structlog.get_logger("server.health")


class Health:
    """Asks the database, once at a time however many want to know: one that hangs is not asked again and again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: asyncio.Task[bool] | None = None

    async def wrong(self) -> str:
        """What is wrong; "" where nothing is."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.create_task(self._store.has_token(""))
        asked = self._asked
        await asyncio.wait({asked}, timeout=ANSWER_WITHIN)
        if not asked.done():
            return f"the database has not answered within {ANSWER_WITHIN:g} s"
        error = asked.exception()
        if error is None:
            return ""
        log.error("database does not answer", error=str(error))
        return "the database does not answer; the server's log says why"
