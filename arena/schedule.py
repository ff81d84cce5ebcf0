"""The schedule of a run: its settings, and the seed and seats of every game.

Every wall is played once in each rotation of the seats, so that every bot has every seat with the same tiles and luck
largely cancels (duplicate mahjong). All randomness is derived from `RunSettings.seed` and the index of a game: as long
as a bot's answers depend on its view and its seed alone, results do not depend on how games are shared among processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from agents.base import Agent
from agents.external.framing import TIMEOUT
from agents.external.specs import connects_to_us, is_external, make_agent
from arena.stopping import Sprt, Until
from engine.common.labels import labels
from engine.contests.seating import ROTATIONS, seating, wall_seed
from engine.rules import EVEN_SCORES, Rules, Scores, preset
from engine.seeds import derive_seed
from engine.tenhou_walls import TenhouWalls, further_seed

MAX_WALLS = 86  # of a chunk: enough for large batches of views, few enough to keep memory and lost work small


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of a run; its ``label`` is unique in the run."""

    label: str
    agent: Agent


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything that determines the results of a run. ``games`` is a multiple of ROTATIONS.

    ``stop``: when the run ends before ``games`` are played, if ever. ``control_variates``: luck is measured, and taken
    out of placements and final points (`arena.luck`). ``tenhou_seed``: of the game on Tenhou whose rounds are played on
    the first wall, and from which all other walls follow (`engine.tenhou_walls.further_seed`); ``""``: the walls are
    shuffled from ``seed``.
    """

    bots: tuple[str, ...]  # one for each seat, see `agents.external.specs`
    games: int
    seed: int
    rules: str
    length: Literal["east", "hanchan"]
    timeout: float = TIMEOUT  # seconds an external bot has for an answer
    scores: Scores = EVEN_SCORES  # what each of `bots` starts every game with
    stop: Sprt | Until | None = None
    control_variates: bool = True
    tenhou_seed: str = ""

    @property
    def n_walls(self) -> int:
        """The number of walls."""
        return self.games // ROTATIONS

    @property
    def has_external_bots(self) -> bool:
        """Whether an external bot plays."""
        return any(map(is_external, self.bots))

    @property
    def max_walls(self) -> int:
        """The largest number of walls in a chunk. External bots play one game after the other, and slowly."""
        return 1 if self.has_external_bots else MAX_WALLS

    @property
    def max_jobs(self) -> int | None:
        """The largest useful number of processes, None for no limit. A bot that connects to the arena plays in one."""
        return 1 if any(map(connects_to_us, self.bots)) else None

    def make_rules(self) -> Rules:
        """The rules of the games."""
        return preset(self.rules, self.length)

    def make_bots(self, given: Sequence[str | Agent] = ()) -> list[Bot]:
        """New bots, each with a seed derived from its index. Raises ValueError for a bad spec.

        ``given``: specs, or bots that are made already, in place of ``bots``.
        """
        agents = [
            make_agent(bot, derive_seed(self.seed, "bot", index), self.timeout) if isinstance(bot, str) else bot
            for index, bot in enumerate(given or self.bots)
        ]
        return [Bot(label, agent) for label, agent in zip(labels([agent.name for agent in agents]), agents)]

    def scores_of(self, games: Sequence[Game]) -> np.ndarray:
        """What the seats of ``games`` start with: int64[games, seats]. A bot keeps its score in all rotations."""
        return np.array(self.scores)[np.array([game.seats for game in games])]

    def wall_seeds(self, walls: Sequence[int]) -> list[int]:
        """The 64-bit seeds of the walls with these indices."""
        return [wall_seed(self.seed, wall) for wall in walls]

    def tenhou_walls(self, games: Sequence[Game]) -> list[TenhouWalls]:
        """Tenhou's walls of each of ``games``; none if they are shuffled from their seeds."""
        red_fives = self.make_rules().red_fives
        return [TenhouWalls(game.tenhou_seed, red_fives=red_fives) for game in games] if self.tenhou_seed else []


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the schedule: a wall in a rotation of the seats."""

    wall: int
    rotation: int
    seed: int
    seats: list[int]  # index of the bot on each seat
    first_tenhou_seed: str = ""  # of the first wall of the schedule, if the walls are Tenhou's

    @property
    def tenhou_seed(self) -> str:
        """Tenhou's seed of the wall, ``""`` if it is shuffled from `seed`."""
        return further_seed(self.first_tenhou_seed, self.wall) if self.first_tenhou_seed else ""

    @property
    def name(self) -> str:
        """Number, seed and rotation, for messages."""
        number = game_number(self.wall, self.rotation)
        return f"game {number} (wall seed {self.seed:016x}, rotation {self.rotation})"


def game_number(wall: int, rotation: int) -> int:
    """The index of a game in the schedule, from 0."""
    return wall * ROTATIONS + rotation


def games_of(settings: RunSettings, walls: Sequence[int]) -> list[Game]:
    """The games on ``walls``, wall by wall in all rotations."""
    return [
        Game(wall, rotation, seed, seats, settings.tenhou_seed)
        for wall, seed, rotations in zip(walls, settings.wall_seeds(walls), seating(walls).tolist())
        for rotation, seats in enumerate(rotations)
    ]


def round_up(games: int) -> int:
    """``games`` rounded up to a multiple of ROTATIONS."""
    return -(-games // ROTATIONS) * ROTATIONS


def split_walls(walls: Sequence[int], jobs: int, max_walls: int = MAX_WALLS) -> list[list[int]]:
    """Split ``walls`` into chunks of nearly equal size, at most ``max_walls``.

    The number of chunks is a multiple of ``jobs``, or that of the walls if they are fewer.
    """
    n = min(len(walls), -(-len(walls) // (max_walls * jobs)) * jobs)
    cuts = [len(walls) * chunk // n for chunk in range(n + 1)] if n else []
    return [list(walls[first:last]) for first, last in pairwise(cuts)]
