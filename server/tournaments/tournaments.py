"""The tournaments of a server: they are created, restored after a restart, cancelled, and stored when they are over."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog
from pydantic import ValidationError

from engine.common.error_text import error_text
from engine.contests.ratings import SAMPLES
from engine.rules import N_SEATS
from server.access import AccessError, ServerFullError
from server.background_tasks import BackgroundTasks
from server.limits import Limits
from server.loop_clock import Timer, loop_clock
from server.open_rooms import OpenRooms
from server.rooms import Room
from server.settings import RoomSettings
from server.store import Store, StoredTournament, StoreError
from server.stored_settings import restore_settings
from server.tournaments.document import LIVE_SAMPLES, document
from server.tournaments.plan import Plan
from server.tournaments.tournament import Result, Tournament, tournament_over

log = structlog.get_logger("server.tournaments")


class Tournaments:
    """Those that are not over are rooms of the lobby; of the others, what is stored."""

    def __init__(self, store: Store, limits: Limits, rooms: OpenRooms, on_due: Callable[[Room], object]) -> None:
        """`on_due` is called with a tournament when games of it may have become due."""
        self.current: dict[str, Tournament] = {}
        self.over: dict[str, StoredTournament] = {}
        self._store = store
        self._limits = limits
        self._rooms = rooms
        self._on_due = on_due
        self._timers: dict[str, Timer] = {}  # of those that begin at a time
        self._ending: set[Tournament] = set()
        self._tasks = BackgroundTasks()
        self._saving = asyncio.Lock()
        self._computing = asyncio.Lock()
        self._live: dict[str, tuple[int, float, dict[str, Any]]] = {}  # games, loop time, standings

    # Starting and stopping --------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the rooms of those that are not over; their games in play are not restored yet. Raises StoreError."""
        for stored in await self._store.tournaments():
            cancelled = stored.status == "cancelled"
            if stored.status == "finished" or (cancelled and await self._store.tournament_result(stored.name)):
                self.over[stored.name] = stored
                continue
            games = await self._store.room_games(stored.name, stored.created)
            try:
                tournament = self._make(stored)
                tournament.restore({game: result_of(seats) for game, seats in games.items()})
            except ValueError as error:  # of another version, or with a house bot that no longer exists
                what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
                log.error("tournament cannot go on", name=stored.name, error=what)
                # Not in the database: it goes on where a later start finds what it needs.
                self.over[stored.name] = stored.model_copy(update={"status": "cancelled"})
                continue
            self.current[stored.name] = tournament
            self._rooms.add(tournament)

    def _make(self, stored: StoredTournament) -> Tournament:
        plan, settings = Plan.model_validate(stored.plan), restore_settings(stored.settings)
        status: Any = stored.status
        return Tournament(stored.name, stored.id, settings, plan, status, stored.created, self._on_due)

    def go_on(self) -> None:
        """The games in play are restored: go on."""
        for tournament in list(self.current.values()):
            tournament.go_on()
            self._wait_for_start(tournament, tournament.settings.resume_timeout)  # nobody can be back earlier
            self._on_due(tournament)

    def close(self) -> None:
        """Stop; all go on at the next start."""
        for timer in self._timers.values():
            timer.cancel()
        self._tasks.cancel()

    # One tournament ---------------------------------------------------------------------------------------------------

    def taken(self, name: str) -> bool:
        """Whether a tournament has that name."""
        return name in self.current or name in self.over

    def check_free(self, name: str) -> None:
        """Raise AccessError if a bot may not open a room of that name, because a tournament had it."""
        if self.taken(name):
            raise AccessError(tournament_over(name))

    async def create(self, name: str, settings: RoomSettings, plan: Plan) -> Tournament:
        """Create a tournament, whose name must be free. Raises ServerFullError and StoreError."""
        if len(self.current) >= self._limits.max_tournaments:
            text = "{n} tournaments are not over, and no more are allowed; cancel one"
            raise ServerFullError(error_text("all_tournaments", text, n=len(self.current)))
        if len(self.current) + len(self.over) >= self._limits.kept_tournaments:
            text = "{n} tournaments are kept; delete one that is over"
            raise ServerFullError(error_text("kept_tournaments", text, n=self._limits.kept_tournaments))
        now = datetime.now(UTC)
        tournament = Tournament(name, uuid.uuid4().hex, settings, plan, "open", now, self._on_due)
        self.current[name] = tournament
        try:
            await self._store.save_tournament(stored_of(tournament))
        except StoreError:
            del self.current[name]
            raise
        self._rooms.add(tournament)
        log.info("tournament created", name=name)
        self._wait_for_start(tournament, 0.0)
        self._on_due(tournament)
        return tournament

    def _wait_for_start(self, tournament: Tournament, at_least: float) -> None:
        if tournament.status == "open" and tournament.plan.starts is not None:
            seconds = max(at_least, (tournament.plan.starts - datetime.now(UTC)).total_seconds())
            self._timers[tournament.name] = loop_clock().call_later(seconds, self._time_has_come, tournament)

    def _time_has_come(self, tournament: Tournament) -> None:
        if tournament.status != "open" or tournament.plan.players:
            return
        if len(tournament.entrants) < N_SEATS:
            log.warning("tournament cancelled: fewer than three have entered", name=tournament.name)
            self._tasks.start(self.cancel(tournament))
        else:
            self._begin(tournament)

    def look_at(self, room: Room) -> None:
        """Something has changed in a room: a tournament may begin, or may be over."""
        tournament = self.current.get(room.name)
        if tournament is None or tournament is not room:
            return
        if tournament.status == "open" and not tournament.plan.players and tournament.complete:
            self._begin(tournament)
        elif tournament.over and tournament not in self._ending:
            self._ending.add(tournament)
            self._tasks.start(self._end(tournament))

    def _begin(self, tournament: Tournament) -> None:
        """Nobody else enters: begin once that is stored, so that a restart leads to the same schedule."""
        tournament.plan = tournament.plan.model_copy(update={"players": tuple(tournament.entrants)})
        self._tasks.start(self._store_and_begin(tournament))

    async def _store_and_begin(self, tournament: Tournament) -> None:
        schedule = await asyncio.to_thread(tournament.plan.schedule)
        if tournament.status != "open":  # it was cancelled meanwhile, and that is stored
            return
        stored = stored_of(tournament).model_copy(update={"status": "running", "games": len(schedule)})
        await self._saved(stored)
        if tournament.status == "open":  # else it was cancelled meanwhile
            tournament.begin(schedule)
            log.info("tournament begins", name=tournament.name, games=len(tournament.schedule))
            self._on_due(tournament)

    async def cancel(self, tournament: Tournament) -> None:
        """Start no more games; those in play are finished, and count. One that is over or ends already stays so."""
        if tournament.status == "cancelled" or tournament in self._ending:
            return
        tournament.cancel()
        self._rooms.close(tournament)
        await self._saved(stored_of(tournament))
        self.look_at(tournament)

    async def delete(self, name: str) -> None:
        """Forget one that is over; its games stay. Raises StoreError."""
        await self._store.delete_tournament(name)
        self.over.pop(name, None)

    async def _end(self, tournament: Tournament) -> None:
        """All games have ended: store the result. A tournament is finished only when that is done."""
        self._rooms.close(tournament)
        result = await asyncio.to_thread(computation(tournament))
        stored = stored_of(tournament)
        if tournament.status == "running":
            stored = stored.model_copy(update={"status": "finished"})
        await self._saved(stored, result)
        del self.current[tournament.name]
        self._ending.discard(tournament)
        self._live.pop(tournament.name, None)
        self.over[tournament.name] = stored
        log.info("tournament over", name=tournament.name, status=stored.status, games=stored.played)

    async def _saved(self, stored: StoredTournament, result: dict[str, Any] | None = None) -> None:
        """Store, however often that fails; one after the other, so that the last one stays."""
        async with self._saving:
            while True:
                try:
                    return await self._store.save_tournament(stored, result)
                except StoreError as error:
                    log.error("tournament cannot be stored, trying again", name=stored.name, error=str(error))
                    await asyncio.sleep(self._limits.store_retry)

    # Standings --------------------------------------------------------------------------------------------------------

    async def standings_of(self, tournament: Tournament) -> dict[str, Any]:
        """`games`, `bots` and `pairs` of the document of a tournament that is not over, some seconds old at most."""
        name, loop = tournament.name, asyncio.get_running_loop()
        async with self._computing:  # one at a time; those who wait take what the first has computed
            n_games, until, found = self._live.get(name, (-1, 0.0, {}))
            if n_games != len(tournament.results) and loop.time() >= until:
                n_games, start = len(tournament.results), loop.time()
                computed = await asyncio.to_thread(computation(tournament, LIVE_SAMPLES))
                found = {key: computed[key] for key in ("games", "bots", "pairs")}
                took = loop.time() - start
                until = loop.time() + max(self._limits.standings_hold, took / self._limits.standings_share)
                if self.current.get(name) is tournament:  # else it has ended meanwhile
                    self._live[name] = n_games, until, found
            return found


def computation(tournament: Tournament, samples: int = SAMPLES) -> Callable[[], dict[str, Any]]:
    """What computes the document of a tournament as it is now, in a thread."""
    parts = tournament.id, tournament.settings, tournament.plan, tournament.schedule, dict(tournament.results)
    return partial(document, *parts, samples)


def stored_of(tournament: Tournament) -> StoredTournament:
    """A tournament as it is stored."""
    return StoredTournament(
        name=tournament.name,
        id=tournament.id,
        settings=asdict(tournament.settings),
        plan=tournament.plan.model_dump(mode="json"),
        status=tournament.status,
        created=tournament.created,
        games=len(tournament.schedule),
        played=len(tournament.results),
    )


def result_of(seats: list[tuple[Any, Any]]) -> Result:
    """A stored game."""
    first, second, third = (seat for seat, _ in seats)
    return Result((first, second, third), tuple(play for _, play in seats))
