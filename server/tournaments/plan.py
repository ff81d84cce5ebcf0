"""What a tournament plays, and the schedule that follows from it and from nothing else."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from math import comb
from typing import Any

from pydantic import BaseModel, ConfigDict

from engine.common.error_text import error_text
from engine.contests.schedule import Schedule, walls_of_pairs
from engine.contests.seating import ROTATIONS, seating, wall_seed
from engine.mjai.connection import NAME_FORM, check_name
from engine.rules import EVEN_SCORES, N_SEATS
from server.names import HOUSE_BOT_SUFFIX, imitates_house_bot

MAX_ENTRANTS = 24  # every two of them are compared: the time for that grows with their number to the third
MAX_GAMES = 3000
MAX_WALLS = MAX_GAMES // ROTATIONS
# What a tournament may set of a room's settings; all others follow from the schedule.
SETTABLE = (
    "rules", "length", "rated", "decision_time", "bank_time", "house_bot", "max_faults",
    "resume_timeout", "fault_penalty", "spectator_delay", "pause",
)  # fmt: skip
# What those others are: bots are seated by the schedule, with even scores, without hints, and with no house bots but
# those named; they wait as long as it takes.
FIXED: dict[str, Any] = {
    "games": 0, "seats": "fixed", "seed": None, "fill": (), "scores": EVEN_SCORES, "hints": False,
    "wait_timeout": 0.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Due:
    """A game of the schedule: its number, its wall, and the names of those on seats 0 to 2."""

    number: int
    wall: int
    seats: tuple[str, str, str]


class Plan(BaseModel):
    """Who plays and how much. `walls` or `games` is 0, see `check`; `players`: all, once the tournament has begun."""

    model_config = ConfigDict(frozen=True)

    entrants: tuple[str, ...]
    house_bots: tuple[str, ...]
    places: int  # entrants in all, if there is open entry
    starts: datetime | None
    walls: int  # that every three play
    games: int  # about how many there are in all, of a balanced choice of threes
    seed: int
    players: tuple[str, ...] = ()

    @property
    def house(self) -> dict[str, str]:
        """The house bots by their names."""
        return {f"{bot}{HOUSE_BOT_SUFFIX}": bot for bot in self.house_bots}

    @property
    def open_places(self) -> int:
        """How many may enter that are not named."""
        return max(0, self.places - len(self.entrants) - len(self.house_bots))

    def check(self) -> None:
        """Raise ValueError, with the name of the field first, for a plan that cannot be played."""
        self._check_names()
        named = len(self.entrants) + len(self.house_bots)
        if self.places and self.places <= named:
            text = "places is {places}, and {n} are named: choose more, or leave it out"
            raise ValueError(error_text("places_named", text, places=self.places, n=named))
        if (most := max(self.places, named)) < N_SEATS:
            text = "entrants and house_bots name {n}: name at least three, or let others enter with places"
            raise ValueError(error_text("entrants_few", text, n=named))
        if most > MAX_ENTRANTS:
            text = "entrants and house_bots name {n}, more than {most}"
            raise ValueError(error_text("entrants_many", text, n=most, most=MAX_ENTRANTS))
        if bool(self.walls) == bool(self.games):
            text = "walls or games is needed, one of them: walls that every three play, or games in all"
            raise ValueError(error_text("walls_or_games", text))
        if (n := self.n_games(most)) > MAX_GAMES:
            field, value = ("walls", self.walls) if self.walls else ("games", self.games)
            text = "{field} is {value}: {n} games, more than {most}"
            raise ValueError(error_text("games_many", text, field=field, value=value, n=n, most=MAX_GAMES))

    def _check_names(self) -> None:
        for field, names in (("entrants", self.entrants), ("house_bots", self.house_bots)):
            if twice := [name for index, name in enumerate(names) if name in names[:index]]:
                text = "{field} has {name!r} twice; name each once"
                raise ValueError(error_text("entrant_twice", text, field=field, name=twice[0]))
        for index, name in enumerate(self.entrants):
            try:
                check_name(name)
            except ValueError as error:
                text = "entrants.{index}: {problem}"
                raise ValueError(error_text("entrant_name", text, index=index, problem=NAME_FORM)) from error
            if imitates_house_bot(name):
                text = "entrants.{index} is {name!r}: house bots are named in house_bots, as in rule"
                raise ValueError(error_text("entrant_house", text, index=index, name=name))

    def n_games(self, n_players: int) -> int:
        """The number of games that so many play."""
        if self.walls:  # which may be far too many to list
            return comb(n_players, N_SEATS) * self.walls * ROTATIONS
        return len(list(self._played([str(player) for player in range(n_players)]))) * ROTATIONS

    def _played(self, players: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Walls, each with three that play it: all threes, or a choice in which every two meet equally often."""
        if self.walls:
            yield from ((wall, three) for wall in range(self.walls) for three in combinations(players, N_SEATS))
        else:
            batches = Schedule(players, max_batch=1).batches(walls_of_pairs(self.games, len(players)))
            yield from sorted(((wall, batch.bots) for batch in batches for wall in batch.walls), key=lambda it: it[0])

    def schedule(self) -> list[Due]:
        """All games, in the order in which they are due: wall by wall, and each wall in all rotations."""
        played = list(self._played(self.players))
        seats = seating(range(max((wall for wall, _ in played), default=0) + 1)).tolist()
        in_order = sorted(
            (wall, rotation, index) for index, (wall, _) in enumerate(played) for rotation in range(ROTATIONS)
        )
        due = []
        for number, (wall, rotation, index) in enumerate(in_order):
            first, second, third = (played[index][1][player] for player in seats[wall][rotation])
            due.append(Due(number, wall, (first, second, third)))
        return due

    def wall_seed(self, wall: int) -> int:
        """The seed of the games on a wall, as in the arena's league of that seed."""
        return wall_seed(self.seed, wall)


def game_id(tournament_id: str, number: int) -> str:
    """The id of a game of the schedule: so its result is found again after a restart."""
    return uuid.uuid5(uuid.UUID(tournament_id), str(number)).hex
