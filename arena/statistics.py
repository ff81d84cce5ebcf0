"""Counts of what happens in games, and the games of a bot, from which its statistics are computed.

Counts are integers for each game and seat, int32[games, seats, N_COUNTS]. All statistics (`arena.columns`) are computed
from them alone. To add a count: name it here, add to it in `count_rounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from arena.schedule import seating
from engine.compiling import kernel
from engine.rules import Rules
from engine.table import N_SEATS, TABLE

(ROUNDS, WINS, TSUMOS, DEAL_INS, RIICHIS, CALLS, DRAWS, NUKIDORAS, WIN_POINTS, DEAL_IN_POINTS, SCORE) = range(11)
N_COUNTS = 11
Z_95 = 1.96


@kernel("uint8[::1], int64[::1], int32[:, :, ::1]")
def count_rounds(raw: np.ndarray, ended: np.ndarray, counts: np.ndarray) -> None:
    """Add the rounds that have just ended on the tables ``ended``, int64[m], to ``counts``, int32[tables, 3, N_COUNTS].

    ``raw``: all tables, uint8[tables * TABLE.itemsize].
    """
    tables = raw.view(TABLE)
    for k in range(len(ended)):
        i = ended[k]
        t = tables[i]
        for seat in range(N_SEATS):
            p = t.seat[seat]
            counts[i, seat, ROUNDS] += 1
            counts[i, seat, RIICHIS] += 1 if p.riichi != 0 else 0
            counts[i, seat, CALLS] += 1 if p.open != 0 else 0
            counts[i, seat, DRAWS] += 1 if t.n_wins == 0 else 0
            counts[i, seat, NUKIDORAS] += p.nukidora
        for number in range(t.n_wins):
            win = t.win[number]
            counts[i, win.winner, WINS] += 1
            counts[i, win.winner, WIN_POINTS] += win.points
            if win.winner == win.target:
                counts[i, win.winner, TSUMOS] += 1
            else:
                counts[i, win.target, DEAL_INS] += 1 if number == 0 else 0
                counts[i, win.target, DEAL_IN_POINTS] += win.points


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and the half-width of its 95 % confidence interval (None for fewer than two walls)."""

    mean: float
    interval: float | None


@dataclass(frozen=True)
class BotGames:
    """The games of one bot.

    ``counts``: int32[walls, rotations, N_COUNTS]. ``placements`` (1 to 3) and ``final_points``
    (`engine.rules.Rules.final_points`): [walls, rotations].
    """

    bot: str
    counts: np.ndarray
    placements: np.ndarray
    final_points: np.ndarray

    @cached_property
    def totals(self) -> list[int]:
        """The sum of each count over all games."""
        return self.counts.sum(axis=(0, 1), dtype=np.int64).tolist()

    @property
    def n_games(self) -> int:
        """The number of games."""
        return self.placements.size

    def mean(self, count: int, per: int) -> float | None:
        """The total of ``count`` over the total of ``per``, both of them counts; None if the latter is 0."""
        return self.totals[count] / self.totals[per] if self.totals[per] else None


def by_bot(bots: Sequence[str], walls: Sequence[int], counts: np.ndarray, rules: Rules) -> list[BotGames]:
    """The games of each bot, in the order of the schedule.

    ``counts``: int32[walls, rotations, seats, N_COUNTS], the games of ``walls``, at least one.
    """
    scores = counts[..., SCORE]
    seat_of_bot = np.argsort(seating(walls), axis=2)  # [walls, rotations, bots]
    placements = np.take_along_axis(placements_of(scores, rules), seat_of_bot, axis=2)
    points = np.take_along_axis(final_points_of(scores, rules), seat_of_bot, axis=2)
    of_bots = np.take_along_axis(counts, seat_of_bot[..., np.newaxis], axis=2)
    return [
        BotGames(bot, of_bots[:, :, index], placements[:, :, index], points[:, :, index])
        for index, bot in enumerate(bots)
    ]


def placements_of(scores: np.ndarray, rules: Rules) -> np.ndarray:
    """Placement 1 to 3 of each seat, for scores of any shape [..., seats]."""
    return np.array([rules.ranks(game) for game in scores.reshape(-1, N_SEATS).tolist()]).reshape(scores.shape)


def final_points_of(scores: np.ndarray, rules: Rules) -> np.ndarray:
    """Final points of each seat, for scores of any shape [..., seats]."""
    return np.array([rules.final_points(game) for game in scores.reshape(-1, N_SEATS).tolist()]).reshape(scores.shape)


def estimate(values: np.ndarray) -> Estimate:
    """The mean of ``values``, [walls, rotations], with its interval.

    Games on the same wall are not independent, so the mean over a wall's rotations is one observation. The half-width
    is 1.96 standard errors over walls (normal approximation).
    """
    by_wall = values.mean(axis=1)
    n = len(by_wall)
    return Estimate(float(by_wall.mean()), Z_95 * float(by_wall.std(ddof=1)) / sqrt(n) if n > 1 else None)
