"""Deletion of stored games beyond the retention settings: hourly while the server runs, and by ``server prune``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from engine.common.progress import Progress
from server.game.journal import SUFFIX
from server.metrics import Metrics
from server.settings import Settings
from server.store import Keep, Store, StoreError

EVERY = 3600.0  # seconds
MIB = 1 << 20
log = structlog.get_logger("server.retention")


def keep_of(settings: Settings, now: datetime) -> Keep:
    """Return the retention limits from the settings, and the games that have their journals.

    From its journal, a game that is over and not in the database is stored at the next start: a deleted one, again.
    """
    journals = (settings.data / "journal").glob("*" + SUFFIX)
    spared = frozenset(path.name.removesuffix(SUFFIX) for path in journals)
    since = now - timedelta(days=settings.keep_days) if settings.keep_days else None
    return Keep(since, settings.keep_games or None, settings.keep_mib * MIB or None, spared)


async def delete_not_kept(store: Store, keep: Keep, advance: Callable[[int], object]) -> None:
    """Delete games that are not kept, calling `advance` with the size of each batch, then players without any.

    Raises StoreError.
    """
    async for n in store.prune(keep):
        advance(n)
    await store.forget_players()


async def keep_pruned(store: Store, settings: Settings, metrics: Metrics) -> None:
    """Periodically delete games that are not kept, and measure the size of the database."""
    while True:
        deleted: list[int] = []  # games, by batch
        try:
            if keep := keep_of(settings, datetime.now(UTC)):
                await delete_not_kept(store, keep, deleted.append)
            metrics.database_bytes.set(await store.size())
        except StoreError as error:
            log.error("games that are not kept stay", error=str(error))
        if deleted:
            log.info("games deleted that are not kept", games=sum(deleted))
        await asyncio.sleep(EVERY)


async def prune(settings: Settings) -> None:
    """Delete games that are not kept, showing progress, and print how many were deleted.

    Raises StoreError, and ValueError if all are kept. May be interrupted at any time, and run while the server runs.
    """
    keep = keep_of(settings, datetime.now(UTC))
    if not keep:
        raise ValueError("prune: say which games are kept, by the settings keep_days, keep_games or keep_mib")
    store = await Store.open(settings.database_url)
    try:
        with Progress("games deleted", None) as progress:
            await delete_not_kept(store, keep, progress.advance)
        print(f"deleted {progress.done:,.0f} games; the database takes {await store.size() / MIB:,.0f} MiB")
    finally:
        await store.close()
