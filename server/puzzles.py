"""The puzzles of the latest days: each is made when somebody first asks for it, in the worker process of reviews.

They come from games that were finished on this server, or from the operator's records (setting `puzzle_records`).
One is made at a time, and each once, so that whoever asks, and however often, costs one piece of work a day.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

import structlog

from server.house_bots import ADVISER, HouseBots
from server.limits import Limits
from server.puzzle_work import NO_PUZZLE, puzzle, puzzle_of_files
from server.reviews import MAX_BYTES
from server.store import Store, StoreError
from server.worker import Worker, WorkerError

DAYS = 30  # before today, whose puzzles there are
GAMES = 20  # the newest before a day, which its puzzle is made from
BOTS = 2
TIMEOUT = 60.0  # seconds of work on one
RETRY = 600.0  # seconds after a failure
log = structlog.get_logger("server.puzzles")


class PuzzleFailedError(Exception):
    """A puzzle could not be made, and may be tried again after a while."""


class Puzzles:
    """All puzzles of a server."""

    def __init__(self, store: Store, worker: Worker, house_bots: HouseBots, limits: Limits, records: str = "") -> None:
        """`records`: the folder, file or archive that puzzles come from; "": games of the store."""
        self._records = records
        self._store = store
        self._worker = worker
        self._house_bots = house_bots
        self._clock = limits.clock
        self._made: dict[date, bytes] = {}  # gzipped JSON, some KB each
        self._retry: dict[date, float] = {}  # when one that has failed may be tried again
        self._working: asyncio.Task[None] | None = None

    def find(self, day: date) -> bytes | None:
        """The puzzle of a day that `DAYS` allow, b"": there is none. None: it, or another one, is being made.

        Raises PuzzleFailedError.
        """
        if day in self._made:
            return self._made[day]
        if self._clock() < self._retry.get(day, 0.0):
            raise PuzzleFailedError
        if self._working is None:
            self._forget_old()
            self._working = asyncio.create_task(self._make(day))
        return None

    def has_none(self, day: date) -> bool:
        """Whether it is already known that there is none of a day."""
        return self._made.get(day) == NO_PUZZLE

    async def close(self) -> None:
        """Make none any more."""
        if self._working is not None:
            self._working.cancel()
            with suppress(asyncio.CancelledError):
                await self._working

    def _forget_old(self) -> None:
        first = datetime.now(UTC).date() - timedelta(days=DAYS)
        self._made = {day: made for day, made in self._made.items() if day >= first}
        self._retry = {day: when for day, when in self._retry.items() if day >= first}

    async def _make(self, day: date) -> None:
        try:
            self._made[day] = await self._work(day)
        except (WorkerError, StoreError) as error:
            log.warning("no puzzle made", date=str(day), error=str(error))
        except Exception:
            log.exception("no puzzle made", date=str(day))
        finally:
            if day not in self._made:
                self._retry[day] = self._clock() + RETRY
            self._working = None

    async def _work(self, day: date) -> bytes:
        bots = tuple(self._house_bots.reviewers()[:BOTS]) or (ADVISER,)
        if self._records:
            work = partial(puzzle_of_files, path=self._records, bots=bots, day=day)
            return await self._worker.run(work, TIMEOUT)
        games = await self._store.games(until=datetime.combine(day, time(), UTC), limit=GAMES)
        records: list[tuple[str, bytes]] = []
        for game in games.items:
            record = await self._store.record(game.id)
            if record is not None and sum(len(data) for _, data in records) + len(record) <= MAX_BYTES:
                records.append((game.id, record))
        if not records:
            return NO_PUZZLE
        return await self._worker.run(partial(puzzle, records=records, bots=bots, day=day), TIMEOUT)
