"""Who plays whom on which wall: settings, seeds, seats, and the chunks the work is cut into.

Every wall seed is played once in each rotation of the seats, so that every bot gets every seat with the same tiles and
luck largely cancels. All randomness comes from `Settings.seed` and a game's place in the schedule: as long as bots
answer from their view and their seed alone, nothing depends on the process that plays a game or the games beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from agents.base import Agent
from agents.external.specs import connects_to_us, is_external, make_agent
from engine.rules import Rules, preset
from engine.seeds import derived_seed
from engine.table import N_SEATS

ROTATIONS = N_SEATS
# Tables of a chunk are played in lock step: enough for large batches, few enough to keep memory and lost work small.
MAX_WALLS = 86
MAX_WALLS_EXTERNAL = 1  # foreign bots play one game after the other, and slowly


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of a run; `label` tells it from the others."""

    label: str
    agent: Agent


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the result of a run. `games` is a multiple of ROTATIONS."""

    bots: tuple[str, ...]  # one for each seat, see `agents.external.specs`
    games: int
    seed: int
    rules: str
    length: Literal["east", "hanchan"]
    timeout: float = 30.0  # seconds that a foreign bot has for an answer

    @property
    def n_walls(self) -> int:
        """How many wall seeds are played."""
        return self.games // ROTATIONS

    @property
    def foreign(self) -> bool:
        """Whether a foreign bot plays."""
        return any(map(is_external, self.bots))

    @property
    def max_jobs(self) -> int | None:
        """How many processes can share the work; None: any number. A bot that connects to us plays in one."""
        return 1 if any(map(connects_to_us, self.bots)) else None

    def make_rules(self) -> Rules:
        """The rules played by."""
        return preset(self.rules, self.length)

    def make_bots(self) -> list[Bot]:
        """New bots, each with the seed of its position. Raises ValueError for a spec that cannot be."""
        agents = [self._make_agent(spec, place) for place, spec in enumerate(self.bots)]
        return [Bot(label, agent) for label, agent in zip(labels([agent.name for agent in agents]), agents)]

    def _make_agent(self, spec: str, place: int) -> Agent:
        return make_agent(spec, derived_seed(self.seed, "bot", place), self.timeout)

    def wall_seeds(self, walls: Sequence[int]) -> list[int]:
        """The 64-bit seeds of those walls."""
        return [derived_seed(self.seed, "wall", wall) for wall in walls]


@dataclass(frozen=True, slots=True)
class Game:
    """One game of the schedule."""

    wall: int
    rotation: int
    seed: int
    seats: list[int]  # which bot sits where, by its place in the schedule

    @property
    def name(self) -> str:
        """What to call it in messages."""
        number = game_number(self.wall, self.rotation)
        return f"game {number} (wall seed {self.seed:016x}, rotation {self.rotation})"


def game_number(wall: int, rotation: int) -> int:
    """The place of a game in the schedule, from 0."""
    return wall * ROTATIONS + rotation


def games_of(settings: Settings, walls: Sequence[int]) -> list[Game]:
    """The games on those walls, all rotations of one after the other."""
    return [
        Game(wall, rotation, seed, seats)
        for wall, seed, rotations in zip(walls, settings.wall_seeds(walls), seating(walls).tolist())
        for rotation, seats in enumerate(rotations)
    ]


def round_up(games: int) -> int:
    """The next number of games at which every wall is played in all rotations."""
    return -(-games // ROTATIONS) * ROTATIONS


def labels(names: Sequence[str]) -> list[str]:
    """Names to tell the bots apart by: the second ``random`` is ``random#2``."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def seating(walls: Sequence[int]) -> np.ndarray:
    """Which bot sits where: int8[walls, ROTATIONS, seats].

    Over the three rotations of a wall every bot has every seat once. Cyclic rotations alone would leave each bot the
    same right-hand neighbour throughout, so odd walls go round the other way: two walls see all six orders once.
    """
    wall, rotation, seat = np.ix_(np.asarray(walls), np.arange(ROTATIONS), np.arange(N_SEATS))
    direction = np.where(wall % 2 == 0, 1, -1)
    return ((rotation + direction * seat) % N_SEATS).astype(np.int8)


def chunks(walls: Sequence[int], jobs: int, max_walls: int = MAX_WALLS) -> list[list[int]]:
    """The walls cut into even pieces of `max_walls` at most, as many for each job where there are walls enough."""
    n = min(len(walls), -(-len(walls) // (max_walls * jobs)) * jobs)
    cuts = [len(walls) * piece // n for piece in range(n + 1)] if n else []
    return [list(walls[first:last]) for first, last in pairwise(cuts)]
