"""Counts of what happens in games, and the games of a bot, from which its statistics are computed.

Counts are integers for each game and seat, int32[games, seats, N_COUNTS]: those of `engine.statistics.counts`, and the
score. All statistics (`arena.columns`) are computed from them, and from what `arena.tallies` counts besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil, floor, log10

import numpy as np

from arena.luck import adjust_for_luck
from arena.tallies.counts import HISTOGRAMS, INDEX, block, sums
from engine.common import student
from engine.contests.estimates import Estimate
from engine.contests.observations import DIFFERENCE, PLACE, POINTS
from engine.contests.seating import ROTATIONS, seating
from engine.rules import Rules
from engine.statistics.counts import COUNTS as OF_ROUNDS
from engine.table import N_SEATS

# What they count, by their names; all but the score, that at the end of the game, are sums over rounds.
COUNTS: dict[str, str] = {name: count.text for name, count in OF_ROUNDS.items()} | {
    "score": "score at the end of a game"
}
COUNT_INDEX = {name: index for index, name in enumerate(COUNTS)}
ROUNDS, WINS, DEAL_INS, SCORE = (COUNT_INDEX[name] for name in ("rounds", "wins", "deal_ins", "score"))
N_COUNTS = len(COUNTS)
MAX_MORE_GAMES = 1_000_000  # an estimate beyond it would say nothing


def count_rounds(rows: np.ndarray, games: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the counts of whole games, int32[games, seats, N_COUNTS].

    ``rows``: ROUND[rounds, seats] (`engine.statistics.rounds`). ``games``: the game of each round, int[rounds].
    ``scores``: at the end of the games, [games, seats].
    """
    counted = np.zeros((*scores.shape, N_COUNTS), dtype=np.int32)
    owners = N_SEATS * games[:, None] + np.arange(N_SEATS)
    for index, count in enumerate(OF_ROUNDS.values()):
        counted[..., index] = sums(count.of(rows), owners, scores.size).reshape(scores.shape)
    counted[..., SCORE] = scores
    return counted


@dataclass(frozen=True)
class BotGames:
    """The games of one bot, wall by wall in the order of the schedule.

    ``counts``: int32[walls, rotations, N_COUNTS]. ``placements`` (1 to 3) and ``final_points``
    (`engine.rules.Rules.final_points`): [walls, rotations]. ``luck``: what the walls changed in both of them,
    float[walls, rotations, 2] (`arena.luck`); None if that was not measured. ``seats``: where the bot sat, int8[walls,
    rotations]. ``tallies``: all that is counted besides, over all games, int64[N_TALLIES] (`arena.tallies.counts`).
    Both are None where they are not asked for.
    """

    bot: str
    counts: np.ndarray
    placements: np.ndarray
    final_points: np.ndarray
    luck: np.ndarray | None = None
    seats: np.ndarray | None = None
    tallies: np.ndarray | None = None

    @cached_property
    def totals(self) -> list[int]:
        """The sum of each count over all games."""
        return self.counts.sum(axis=(0, 1), dtype=np.int64).tolist()

    @cached_property
    def fair_placements(self) -> np.ndarray:
        """The mean placement on each wall, without luck if it was measured: float64[walls]."""
        return fair(self.placements, self.luck, 0)

    @cached_property
    def fair_points(self) -> np.ndarray:
        """The mean final points on each wall, without luck if it was measured: float64[walls]."""
        return fair(self.final_points, self.luck, 1)

    @property
    def luck_ratio(self) -> float | None:
        """How wide the interval of the placement is without luck, as a share of its width as played."""
        played, fairly = estimate(self.placements, PLACE).interval, self.placement.interval
        return None if self.luck is None or not played or not fairly else fairly / played

    @property
    def placement(self) -> Estimate:
        """The mean placement, without luck if it was measured."""
        return estimate(self.fair_placements, PLACE)

    @property
    def points(self) -> Estimate:
        """The mean final points, without luck if it was measured."""
        return estimate(self.fair_points, POINTS)

    @property
    def busts(self) -> int:
        """The number of games finished with a score below zero."""
        return int(np.count_nonzero(self.counts[..., SCORE] < 0))

    @property
    def n_games(self) -> int:
        """The number of games."""
        return self.placements.size

    @property
    def tallied(self) -> np.ndarray:
        """The tallies, which must have been asked for: int64[N_TALLIES]."""
        assert self.tallies is not None
        return self.tallies

    def total(self, name: str) -> int:
        """A count over all games: ``games``, one of `COUNTS` or one of `arena.tallies.counts.INDEX`."""
        if name == "games":
            return self.n_games
        return self.totals[COUNT_INDEX[name]] if name in COUNT_INDEX else int(self.tallied[INDEX[name]])

    def distribution(self, histogram: str) -> tuple[np.ndarray, np.ndarray]:
        """The values of a histogram of `arena.tallies.counts`, and how often each occurred; both int64[bins]."""
        return HISTOGRAMS[histogram], block(self.tallied, histogram)

    @property
    def distributions(self) -> dict[str, list[list[int]]]:
        """The histograms: for each the values that occurred, ascending, with their numbers, ``[[8000, 12], …]``.

        Values of points from 12,000 on are rounded down to whole thousands, and 96,000 stands for more as well.
        """
        found: dict[str, list[list[int]]] = {}
        for name in HISTOGRAMS:
            values, counted = self.distribution(name)
            found[name] = [[int(values[at]), int(counted[at])] for at in np.flatnonzero(counted)]
        return found

    def at_seat(self, seat: int) -> BotGames:
        """The games in which the bot had this seat, at most one on each wall; ``seats`` must be known."""
        there = self.seats == seat
        return BotGames(
            self.bot, self.counts[there][:, None], self.placements[there][:, None], self.final_points[there][:, None]
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two bots of a run, compared by their placements.

    ``difference``: the mean placement of ``bot`` minus that of ``against``, paired by walls; below zero, ``bot`` is
    the better one. ``superiority``: the likelihood of superiority, the probability that the true difference is below
    zero, from Student's t distribution; None for fewer than two walls.
    """

    bot: str
    against: str
    n_games: int
    difference: Estimate
    superiority: float | None

    @property
    def significant(self) -> bool:
        """Whether the interval of the difference does not contain zero."""
        return self.difference.differs_from_zero

    @property
    def more_games(self) -> int | None:
        """About how many more games it takes to a significant difference, if mean and variance stay what they are.

        Rounded up to one digit that counts: the difference is known no better. None if it is significant, if there
        are fewer than two walls, and beyond `MAX_MORE_GAMES`.
        """
        if self.significant or self.difference.interval is None or self.difference.mean == 0:
            return None
        ratio = self.difference.interval / self.difference.mean
        more = max(self.n_games * (ratio * ratio - 1), float(ROTATIONS))  # an interval shrinks as 1 / sqrt(games)
        if more > MAX_MORE_GAMES:
            return None
        unit = 10 ** floor(log10(more))
        return ceil(more / unit) * unit


def compare(first: BotGames, second: BotGames) -> Comparison:
    """Compare two bots that have played on the same walls."""
    luck = None if first.luck is None or second.luck is None else first.luck - second.luck
    by_wall = fair(first.placements - second.placements, luck, 0)
    return Comparison(first.bot, second.bot, first.n_games, estimate(by_wall, DIFFERENCE), superiority(by_wall))


def fair(values: np.ndarray, luck: np.ndarray | None, index: int) -> np.ndarray:
    """The mean of ``values``, [walls, rotations], on each wall, without the ``luck`` of that index: float64[walls]."""
    by_wall: np.ndarray = values.mean(axis=1)
    return by_wall if luck is None else adjust_for_luck(by_wall, luck[..., index].mean(axis=1))


def compare_all(bots: Sequence[BotGames]) -> list[Comparison]:
    """Every two bots of a run."""
    return [compare(first, second) for first, second in combinations(bots, 2)]


def superiority(differences: np.ndarray) -> float | None:
    """The probability that the mean of what ``differences``, [walls], are drawn from is below zero.

    ``differences``: of placements. None for fewer than two walls.
    """
    n = len(differences)
    if n < 2:
        return None
    return student.cdf(-float(differences.mean()) / student.standard_error(differences, DIFFERENCE), n - 1)


def by_bot(
    bots: Sequence[str],
    walls: Sequence[int],
    counts: np.ndarray,
    rules: Rules,
    luck: np.ndarray | None = None,
    tallies: np.ndarray | None = None,
) -> list[BotGames]:
    """The games of each bot, in the order of the schedule.

    ``counts``: int32[walls, rotations, seats, N_COUNTS], the games of ``walls``, at least one; ``luck``: float[walls,
    rotations, seats, 2], if it was measured; ``tallies``: int64[bots, N_TALLIES], if they are asked for.
    """
    scores = counts[..., SCORE]
    placements = of_bots(walls, placements_of(scores))
    points = of_bots(walls, final_points_of(scores, rules))
    counts = of_bots(walls, counts)
    lucks = [None] * N_SEATS if luck is None else np.moveaxis(of_bots(walls, luck), 2, 0)
    tallied = [None] * N_SEATS if tallies is None else tallies
    seats = np.argsort(seating(walls), axis=2)
    per_bot = [(counts[:, :, at], placements[:, :, at], points[:, :, at]) for at in range(len(bots))]
    return [BotGames(bot, *per_bot[at], lucks[at], seats[:, :, at], tallied[at]) for at, bot in enumerate(bots)]


def of_bots(walls: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Values of the seats, [walls, rotations, seats, ...], as those of the bots, [walls, rotations, bots, ...]."""
    seat_of_bot = np.argsort(seating(walls), axis=2)
    return np.take_along_axis(values, seat_of_bot.reshape(*seat_of_bot.shape, *[1] * (values.ndim - 3)), axis=2)


def placements_of(scores: np.ndarray) -> np.ndarray:
    """Placement 1 to 3 of each seat, for scores of any shape [..., seats]; ties as in `engine.rules.Rules.ranks`."""
    best_first = np.argsort(-scores, axis=-1, kind="stable")
    return np.argsort(best_first, axis=-1) + 1


def final_points_of(scores: np.ndarray, rules: Rules) -> np.ndarray:
    """Final points of each seat, for scores of any shape [..., seats]."""
    return np.array([rules.final_points(game) for game in scores.reshape(-1, N_SEATS).tolist()]).reshape(scores.shape)


def estimate(values: np.ndarray, off: float) -> Estimate:
    """The mean of ``values``, [walls] or [walls, rotations], with its 95 % confidence interval.

    Games on the same wall are not independent, so the mean over a wall's rotations is one observation. The half-width
    is the standard error over walls, which counts as at least that of walls of which one is ``off`` by so much, times
    the quantile of Student's t distribution (`engine.common.student`).
    """
    by_wall = values.reshape(len(values), -1).mean(axis=1)
    return Estimate(float(by_wall.mean()), student.half_width(by_wall, off))


def finishing_orders(numbers: Sequence[int], games: Sequence[BotGames]) -> np.ndarray:
    """The orders in which the three bots of a match finished, for `rate`: int64[games, 3], wall by wall.

    ``numbers``: of the bots, ``games``: theirs, both in the order of the match (see `arena.results.Results.by_bot`).
    """
    placements = np.stack([each.placements for each in games], axis=-1).reshape(-1, N_SEATS)
    return np.asarray(numbers, dtype=np.int64)[placements.argsort(axis=1)]
