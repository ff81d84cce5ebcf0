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
from agents.registry import make
from engine.rules import Rules, preset
from engine.seeds import derived_seed
from engine.table import N_SEATS

ROTATIONS = N_SEATS
# Tables of a chunk are played in lock step: enough for large batches, few enough to keep memory and lost work small.
MAX_WALLS = 86


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of a run; `label` tells it from the others."""

    label: str
    agent: Agent


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the result of a run. `games` is a multiple of ROTATIONS."""

    bots: tuple[str, ...]  # one for each seat, as `agents.registry.make` takes them
    games: int
    seed: int
    rules: str
    length: Literal["east", "hanchan"]

    @property
    def n_walls(self) -> int:
        """How many wall seeds are played."""
        return self.games // ROTATIONS

    def make_rules(self) -> Rules:
        """The rules played by."""
        return preset(self.rules, self.length)

    def make_bots(self) -> list[Bot]:
        """New bots, each with the seed of its position. Raises what `agents.registry.make` raises."""
        agents = [make(spec, seed=derived_seed(self.seed, "bot", place)) for place, spec in enumerate(self.bots)]
        return [Bot(label, agent) for label, agent in zip(labels([agent.name for agent in agents]), agents)]

    def wall_seeds(self, walls: Sequence[int]) -> list[int]:
        """The 64-bit seeds of those walls."""
        return [derived_seed(self.seed, "wall", wall) for wall in walls]


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


def chunks(walls: Sequence[int], jobs: int) -> list[list[int]]:
    """The walls cut into even pieces of MAX_WALLS at most, as many for each job where there are walls enough."""
    n = min(len(walls), -(-len(walls) // (MAX_WALLS * jobs)) * jobs)
    cuts = [len(walls) * piece // n for piece in range(n + 1)] if n else []
    return [list(walls[first:last]) for first, last in pairwise(cuts)]
