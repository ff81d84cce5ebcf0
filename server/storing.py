"""Storage of finished games, and checks that it works: while it does not, no new games start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from pathlib import Path

import structlog

from server.fairness import FairLock
from server.limits import Limits
from server.loop_clock import loop_clock
from server.metrics import Metrics
from server.store import FinishedGame, Store, StoreError
from server.threads import run_on_core

PROBE = "writable"  # a file that a check writes next to the journals, and deletes
PROBE_BYTES = 4096
log = structlog.get_logger("server.storing")


class Storing:
    """Saves finished games, retrying until it succeeds, and checks that the database and journals can be written.

    A check writes, since reading also works on a full disk and in a read-only database. Concurrent requests share one
    check. Nothing is written while nobody plays and no check is requested; a failed check is repeated until it
    succeeds.
    """

    def __init__(
        self, store: Store, metrics: Metrics, journals: Path, on_recovery: Callable[[], None], limits: Limits
    ) -> None:
        """`journals`: their folder. `on_recovery` is called when storing works again."""
        self._store = store
        self._metrics = metrics
        self._journals = journals
        self._on_recovery = on_recovery
        self._limits = limits
        self._lock = FairLock()
        self._unstored: set[str] = set()  # ids of the games that could not be stored yet
        self._problem = ""  # reported by the last check, or by a game that could not write its journal
        self._check: asyncio.Task[None] | None = None
        self._answered = asyncio.Event()  # set when the last check has a result or takes too long
        self._answered.set()
        self._checked_at = -inf  # loop time at the end of the last check
        self._failing = False  # whether it was logged that storing fails
        self._retry: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def problem(self) -> str:
        """The known reason why nothing can be stored now; "" if there is none."""
        waiting = len(self._unstored)
        return self._problem or (f"{waiting} finished games could not be stored yet" if waiting else "")

    async def check_at_start(self) -> None:
        """Write once. Raises StoreError, and OSError if journals cannot be written."""
        await self._store.check_writable()
        await asyncio.to_thread(write_probe, self._journals)

    async def checked_problem(self) -> str:
        """Return `problem`, after a new check, limited in time, if the last one is no longer valid."""
        self.check()
        if not self._problem:
            await self._answered.wait()
        return self.problem

    def check(self) -> None:
        """Start a check, unless one is running or the last one is still valid."""
        running = self._check is not None and not self._check.done()
        fresh = asyncio.get_running_loop().time() < self._checked_at + self._limits.check_holds
        if not running and not fresh and not self._closed:
            self._answered.clear()
            self._check = asyncio.create_task(self._run_check())

    async def _run_check(self) -> None:
        loop, timeout = asyncio.get_running_loop(), self._limits.check_timeout
        text = f"the database has not answered within {timeout:g} s"
        late = loop_clock().call_later(timeout, self._found, text)  # a halt of this process is not the database's fault
        problem = ""
        try:
            await self._store.check_writable()
            await asyncio.to_thread(write_probe, self._journals)
        except Exception as error:  # whatever it is, the check is repeated
            problem = str(error) or repr(error)
        finally:
            late.cancel()
        self._checked_at = loop.time()
        self._found(problem)

    def journal_failed(self, path: Path, reason: str) -> None:
        """Report a journal that cannot be written: its game would not survive a restart."""
        self._checked_at = asyncio.get_running_loop().time()
        self._found(f"journal {path}: {reason}")

    def _found(self, problem: str) -> None:
        """Record the result of a check, or the failure of a journal."""
        self._problem = problem
        self._answered.set()
        if self._retry is not None:
            self._retry.cancel()
        if problem and not self._closed:
            self._retry = asyncio.get_running_loop().call_later(self._limits.store_retry, self._check_again)
        self._report()

    def _check_again(self) -> None:
        self._checked_at = -inf
        self.check()

    async def save(self, party: str, make_game: Callable[[], FinishedGame]) -> FinishedGame:
        """Store the game that `make_game` returns in a thread, retrying until it succeeds, and return it.

        Parties take turns (see `server.fairness`), so that nobody waits for a hundred games of another party that end
        at once. Raises ValueError for a game that the database cannot hold, and what `make_game` raises.
        """
        game: FinishedGame | None = None
        self._metrics.waiting_to_be_stored.inc()
        try:
            while True:
                async with self._lock.held_by(party):
                    if game is None:
                        game = await run_on_core(make_game)
                    if await self._saved(game):
                        return game
                await asyncio.sleep(self._limits.store_retry)
        finally:
            self._metrics.waiting_to_be_stored.dec()
            if game is not None:
                self._unstored.discard(game.id)
            self._report()

    async def _saved(self, game: FinishedGame) -> bool:
        try:
            await self._store.save_game(game)
            return True
        except StoreError as error:
            self._unstored.add(game.id)
            self._report(str(error))
            return False

    def _report(self, reason: str = "") -> None:
        """Log when storing begins to fail and when it works again, but not every try or game."""
        failing = bool(self.problem)
        if failing == self._failing or self._closed:
            return
        self._failing = failing
        if failing:
            log.error("nothing can be stored, no new games start until it works again", error=reason or self.problem)
        else:
            log.info("storing works again")
            self._on_recovery()

    def close(self) -> None:
        """Stop checking and reporting."""
        self._closed = True
        self._answered.set()
        if self._retry is not None:
            self._retry.cancel()
        if self._check is not None:
            self._check.cancel()


def write_probe(folder: Path) -> None:
    """Write a file the way a new journal is written, and delete it. Raises OSError."""
    path = folder / PROBE
    try:
        path.write_bytes(bytes(PROBE_BYTES))
    finally:
        path.unlink(missing_ok=True)
