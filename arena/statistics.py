"""Counting rounds, and what the counts say about each bot.

Counts are integers by game and seat, `int32[games, seats, N_COUNTS]`; everything reported is computed from them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from arena.schedule import seating
from engine.compiling import kernel
from engine.rules import Rules
from engine.table import N_SEATS, TABLE

(ROUNDS, WINS, TSUMOS, DEAL_INS, RIICHIS, CALLS, DRAWS, NUKIDORAS, WIN_POINTS, DEAL_IN_POINTS, SCORE) = range(11)
N_COUNTS = 11
Z_95 = 1.96


@kernel
def count_rounds(raw: np.ndarray, ended: np.ndarray, counts: np.ndarray) -> None:
    """Add the rounds that have just ended on the tables `ended`, int64[m], to `counts`, int32[tables, 3, N_COUNTS]."""
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
    """A mean and the half-width of its 95 % interval (None where fewer than two walls were played)."""

    mean: float
    interval: float | None


@dataclass(frozen=True, slots=True)
class BotStatistics:
    """How one bot did. Rates with `_rate` are per round; a rate or mean of nothing is None."""

    bot: str
    games: int
    placement: Estimate
    first: float  # share of games
    second: float
    third: float
    final_points: Estimate  # uma and oka included, in thousands: `engine.rules.Rules.final_points`
    score: float  # mean score at the end of a game, in points
    busts: int  # games ended below zero
    rounds: int
    win_rate: float
    tsumo_rate: float  # rounds won by own draw
    deal_in_rate: float  # rounds in which somebody won on a tile of this bot; a double ron counts once
    riichi_rate: float  # rounds with an accepted riichi
    call_rate: float  # rounds with an open meld
    draw_rate: float  # rounds nobody won, aborted ones included; the same for all who played the same games
    win_points: float | None  # mean worth of a won hand, without honba and riichi sticks
    deal_in_points: float | None  # mean worth of what was won on a tile of this bot, a double ron added up
    nukidora: float  # norths laid per round


def statistics(bots: Sequence[str], walls: Sequence[int], counts: np.ndarray, rules: Rules) -> list[BotStatistics]:
    """Statistics of each bot, in the order of the schedule.

    `counts` int32[walls, rotations, seats, N_COUNTS] holds the games of `walls`, at least one. Games on the same wall
    are not independent, so intervals are paired by wall: the mean over a wall's rotations is one observation, and the
    half-width is 1.96 standard errors over walls (normal approximation).
    """
    scores = counts[..., SCORE]
    seat_of_bot = np.argsort(seating(walls), axis=2)  # [walls, rotations, bots]
    placements = np.take_along_axis(placements_of(scores, rules), seat_of_bot, axis=2)
    points = np.take_along_axis(final_points_of(scores, rules), seat_of_bot, axis=2)
    by_bot = np.take_along_axis(counts, seat_of_bot[..., np.newaxis], axis=2)
    return [
        bot_statistics(bot, by_bot[:, :, place], placements[:, :, place], points[:, :, place])
        for place, bot in enumerate(bots)
    ]


def placements_of(scores: np.ndarray, rules: Rules) -> np.ndarray:
    """Placement 1-3 of each seat, for scores of any shape [..., seats]."""
    return np.array([rules.ranks(game) for game in scores.reshape(-1, N_SEATS).tolist()]).reshape(scores.shape)


def final_points_of(scores: np.ndarray, rules: Rules) -> np.ndarray:
    """Final points of each seat, for scores of any shape [..., seats]."""
    return np.array([rules.final_points(game) for game in scores.reshape(-1, N_SEATS).tolist()]).reshape(scores.shape)


def bot_statistics(bot: str, counts: np.ndarray, placements: np.ndarray, points: np.ndarray) -> BotStatistics:
    """Statistics of one bot; all arrays are [walls, rotations, …]."""
    total = counts.sum(axis=(0, 1), dtype=np.int64).tolist()
    rounds = total[ROUNDS]
    return BotStatistics(
        bot=bot,
        games=placements.size,
        placement=estimate(placements),
        first=float(np.mean(placements == 1)),
        second=float(np.mean(placements == 2)),
        third=float(np.mean(placements == 3)),
        final_points=estimate(points),
        score=total[SCORE] / placements.size,
        busts=int(np.count_nonzero(counts[..., SCORE] < 0)),
        rounds=rounds,
        win_rate=total[WINS] / rounds,
        tsumo_rate=total[TSUMOS] / rounds,
        deal_in_rate=total[DEAL_INS] / rounds,
        riichi_rate=total[RIICHIS] / rounds,
        call_rate=total[CALLS] / rounds,
        draw_rate=total[DRAWS] / rounds,
        win_points=total[WIN_POINTS] / total[WINS] if total[WINS] else None,
        deal_in_points=total[DEAL_IN_POINTS] / total[DEAL_INS] if total[DEAL_INS] else None,
        nukidora=total[NUKIDORAS] / rounds,
    )


def estimate(observed: np.ndarray) -> Estimate:
    """Mean of values [walls, rotations] with its interval over walls."""
    by_wall = observed.mean(axis=1)
    n = len(by_wall)
    return Estimate(float(by_wall.mean()), Z_95 * float(by_wall.std(ddof=1)) / sqrt(n) if n > 1 else None)
