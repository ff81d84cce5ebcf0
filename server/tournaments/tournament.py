"""A tournament that is not over: a room, where a game starts as soon as its three entrants are free.

An entrant that is not there when a game of its is due is waited for as long as for a lost connection
(`resume_timeout`). Then the game starts, and the room's house bot plays the seat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from engine.common.error_text import ErrorText, error_text
from engine.rules import N_SEATS
from server.access import AccessError
from server.connection.bot_connection import BotConnection
from server.loop_clock import Timer, loop_clock
from server.rooms import Absent, NewGame, Room
from server.settings import RoomSettings
from server.store import FinishedGame, Play, SeatResult
from server.tournaments.plan import FIXED, Due, Plan, game_id

Status = Literal["open", "running", "finished", "cancelled"]


@dataclass(frozen=True, slots=True)
class Result:
    """A finished game: its seats, and what was counted of them."""

    seats: tuple[SeatResult, SeatResult, SeatResult]
    plays: tuple[Play, ...]


def tournament_over(name: str) -> ErrorText:
    """Why nobody may join the room of a tournament any more."""
    return error_text("tournament_over", "tournament {name} is over; join another room", name=name)


class Tournament(Room):
    """A tournament as a room of the lobby. It begins when all entrants are there, or when its time has come."""

    tournament = True

    def __init__(
        self,
        name: str,
        tournament_id: str,
        settings: RoomSettings,
        plan: Plan,
        status: Status,
        created: datetime,
        on_due: Callable[[Room], object],
    ) -> None:
        """`on_due` is called with the tournament when games of it may have become due."""
        super().__init__(name, replace(settings, **FIXED), True, on_due)
        self.id, self.plan, self.status, self.created = tournament_id, plan, status, created
        self.schedule = plan.schedule() if plan.players else []
        self.results: dict[int, Result] = {}
        self.in_play: dict[str, Due] = {}  # by the ids of the games
        self._pending = {due.number: due for due in self.schedule} if status == "running" else {}
        self._on_due = on_due
        self._given_up: dict[str, bool] = {}  # entrants that are missing -> whether they are waited for no longer
        self._timers: dict[str, Timer] = {}

    # Entry ------------------------------------------------------------------------------------------------------------

    @property
    def present(self) -> list[str]:
        """The names of the bots that wait here."""
        return [bot.join.name for bot in self.waiting]

    @property
    def entrants(self) -> list[str]:
        """All entrants; before the beginning, those that are named and those that have come."""
        named = [*self.plan.entrants, *self.plan.house]
        return [*self.plan.players] or [*named, *(name for name in self.present if name not in named)]

    @property
    def here(self) -> set[str]:
        """Those who wait or play, house bots included."""
        return {*self.present, *self.plan.house} | self._busy

    @property
    def complete(self) -> bool:
        """Whether it can begin: all that are named are there, and as many others as may enter."""
        others = set(self.present) - set(self.plan.entrants)
        return set(self.present) >= set(self.plan.entrants) and len(others) >= self.plan.open_places

    def enter(self, bot: BotConnection) -> None:
        """A bot enters, or is back. A connection that has waited here under its name is closed."""
        name = bot.join.name
        if self.closed or self.finished:
            raise AccessError(self._why_closed())
        others = set(self.present) - {*self.plan.entrants, name}
        if self.plan.players and name not in self.plan.players:
            text = "tournament {tournament} has begun, without {name!r}; join another room"
            raise AccessError(error_text("tournament_begun", text, tournament=self.name, name=name))
        if not self.plan.players and name not in self.plan.entrants and len(others) >= self.plan.open_places:
            text = "tournament {tournament} has no place for {name!r}; join another room"
            raise AccessError(error_text("tournament_full", text, tournament=self.name, name=name))
        for earlier in [each for each in self.waiting if each.join.name == name]:
            text = "another connection has joined under this name"
            earlier.close_with_error(error_text("joined_elsewhere", text))
        super().enter(bot)
        self._found(name)

    def leave(self, bot: BotConnection) -> None:
        """A bot that waited is gone."""
        super().leave(bot)
        self._miss(bot.join.name)

    def _why_closed(self) -> ErrorText:
        if self.status == "cancelled":
            return error_text(
                "tournament_cancelled", "tournament {name} is cancelled; join another room", name=self.name
            )
        return tournament_over(self.name)

    def close(self) -> None:
        """Accept no more bots, and disconnect those that wait; games in play are finished."""
        for name in list(self._timers):
            self._timers.pop(name).cancel()
        super().close()

    # The schedule -----------------------------------------------------------------------------------------------------

    def begin(self, schedule: list[Due]) -> None:
        """Begin with the schedule of the plan."""
        self.status, self.schedule = "running", schedule
        self._pending = {due.number: due for due in self.schedule}
        for name in self.plan.players:
            self._miss(name)

    def go_on(self) -> None:
        """After a restart, all that is known being `restored`: wait for the entrants."""
        for name in self.plan.players:
            self._miss(name)

    def cancel(self) -> None:
        """Start no more games."""
        self.status = "cancelled"
        self._pending.clear()

    def _miss(self, name: str) -> None:
        """Wait for an entrant that is not there, at most `resume_timeout` seconds; not while it plays."""
        if self.status != "running" or name in self.plan.house or name in self._given_up or name in self.present:
            return
        if name in self.plan.players and name not in self._busy:
            self._given_up[name] = False
            self._timers[name] = loop_clock().call_later(self.settings.resume_timeout, self._give_up, name)

    def _found(self, name: str) -> None:
        self._given_up.pop(name, None)
        if name in self._timers:
            self._timers.pop(name).cancel()

    def _give_up(self, name: str) -> None:
        self._timers.pop(name, None)
        self._given_up[name] = True
        self._on_due(self)

    @property
    def _busy(self) -> set[str]:
        """Those who play."""
        return {name for due in self.in_play.values() for name in due.seats}

    def _next(self) -> Due | None:
        """The first game whose entrants are free, and there or waited for no longer."""
        away = {name for name, given_up in self._given_up.items() if given_up}
        free = ({*self.present, *self.plan.house} | away) - self._busy
        if len(free) < N_SEATS:
            return None
        return next((due for due in self._pending.values() if free.issuperset(due.seats)), None)

    @property
    def full(self) -> bool:
        """Whether a game can start."""
        return self.status == "running" and self._next() is not None

    @property
    def finished(self) -> bool:
        """Whether all games that were to be played here have started."""
        return self.status != "open" and not self._pending

    @property
    def over(self) -> bool:
        """Whether all games that were to be played here have ended."""
        return self.finished and not self.in_play

    def next_id(self) -> str:
        """The id of the next game; one must be due."""
        due = self._next()
        assert due is not None
        return game_id(self.id, due.number)

    def start_game(self, fill: Sequence[str] = ()) -> NewGame:
        """Take the next game from the schedule, which has its house bots; one must be due."""
        due = self._next()
        assert due is not None
        del self._pending[due.number]
        here = {bot.join.name: bot for bot in self.waiting}
        players = [here.get(name) or self.plan.house.get(name) or Absent(name) for name in due.seats]
        for bot in [here[name] for name in due.seats if name in here]:
            super().leave(bot)
        self.in_play[game_id(self.id, due.number)] = due
        self.started += 1
        self.playing += 1
        return NewGame(list(zip(players, self.settings.scores, strict=True)), self.plan.wall_seed(due.wall))

    def restore(self, results: dict[str, Result]) -> None:
        """After a restart: these games are finished, by id. Raises ValueError if they are of another schedule."""
        for due in self.schedule:
            if result := results.get(game_id(self.id, due.number)):
                if tuple(seat.name for seat in result.seats) != due.seats:
                    raise ValueError(f"game {due.number} was played by others than the schedule of this version says")
                self.results[due.number] = result
                self._pending.pop(due.number, None)

    def game_restored(self, game: str) -> None:
        """A game is in play again after a restart."""
        due = next((due for due in self.schedule if game_id(self.id, due.number) == game), None)
        if due is not None:
            self.in_play[game] = due
            self._pending.pop(due.number, None)

    def game_over(self, game: str, result: FinishedGame | None) -> None:
        """A game has ended, and those of its bots that stay wait here again; None: it cannot be stored."""
        due = self.in_play.pop(game, None)
        if due is None:
            return
        if result is not None:
            self.results[due.number] = Result(result.seats, result.plays or ())
        for name in due.seats:
            self._miss(name)
