"""Ratings of many bots from games of three, all games of all bots at once.

The model is that of Plackett and Luce: each bot has a strength s = exp(θ), and a finishing order comes about by drawing
the first place with probabilities in proportion to the strengths, then the second among those that are left (R. Luce,
"Individual Choice Behavior", 1959; R. Plackett, "The analysis of permutations", 1975). So the odds that one bot
finishes ahead of another are s / s', whoever the third is. That is a model: with luck shared as it is in mahjong, the
odds that are measured depend somewhat on the third.

θ is fitted to all orders at once by maximum likelihood. The likelihood is concave; D. Hunter, "MM algorithms for
generalized Bradley-Terry models" (Annals of Statistics, 2004) gives the conditions for a maximum and two ways to it. Of
these Newton's is taken here: it needs a few steps for as many bots as there are. `tests/arena/test_ratings.py` compares
with the library choix, which fits the same model game by game; here a draw from the same bots is one term however often
it has come, so that hundreds of samples of the games are fitted at once.

A prior keeps bots that always win or lose finite: each rating is normal with a standard deviation of `PRIOR` points. In
a thousand games it moves a rating of ±500 points by less than one.

Intervals come from the bootstrap by walls: walls are drawn from those that were played, with replacement and with all
their games, and the ratings of each such sample are fitted (B. Efron and R. Tibshirani, "An Introduction to the
Bootstrap", 1993). The prior's centre is drawn anew for each sample, so that the interval of a bot that always lost is
wide, not zero.

Ratings are in points as Elo has them: 400 points are a factor of 10 in the odds. The server rates its players by the
same model, but one game after the other and each player's strength as uncertain and moving (OpenSkill): its ratings
follow players who change, need no games of the others, depend on the order of the games, and have a unit of their own
(mu 25, sigma 25/3). Bots do not change, so here every game counts alike, and intervals follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from engine.contests import student
from engine.contests.estimates import Estimate
from engine.table import N_SEATS

POINTS = 400 / log(10)  # of a factor e in the odds
PRIOR = 1000.0  # points; standard deviation of a rating before any game
STEPS = 100  # of Newton's method at most; ten are many
PRECISION = 1e-9  # of θ
SAMPLES, AT_ONCE = 400, 50  # of the bootstrap; the standard error of an interval is 1 / sqrt(2 * SAMPLES) of it, 4 %


@dataclass(frozen=True)
class Ratings:
    """Ratings in points; their mean is 0, only differences have a meaning.

    ``points`` float64[bots], ``covariance`` float64[bots, bots] in points squared, ``walls``: how many there were.
    """

    points: np.ndarray
    covariance: np.ndarray
    walls: int

    def difference(self, bot: int, against: int) -> Estimate:
        """The rating of one bot minus that of another, with its 95 % confidence interval."""
        c = self.covariance
        variance = c[bot, bot] + c[against, against] - 2 * c[bot, against]
        return self._estimate(self.points[bot] - self.points[against], variance)

    def rating(self, bot: int) -> Estimate:
        """The rating of one bot relative to the mean of all, with its 95 % confidence interval."""
        return self._estimate(self.points[bot], self.covariance[bot, bot])

    def _estimate(self, mean: float, variance: float) -> Estimate:
        if self.walls < 2:
            return Estimate(float(mean), None)
        t = student.quantile((1 + student.CONFIDENCE) / 2, self.walls - 1)
        return Estimate(float(mean), t * sqrt(max(float(variance), 0.0)))


def rate(n_bots: int, orders: np.ndarray, walls: np.ndarray, samples: int = SAMPLES) -> Ratings:
    """Rate bots by the orders in which they have finished.

    ``orders``: int[games, 3], the bots of each game from first to third, as numbers below ``n_bots``; the bots of a
    game are different ones. ``walls``: int[games], the wall of each game: all games on one wall, in whatever match, are
    one observation. ``samples``: of the bootstrap; 0: the ratings alone, without intervals. Bots that no chain of games
    connects are held together by the prior alone, which their intervals show. Raises ValueError without games.
    """
    if len(orders) == 0:
        raise ValueError("no games to rate")
    sets, drawn, times = _draws(n_bots, orders, walls)
    centred = np.eye(n_bots) - 1 / n_bots
    theta = _fit(sets, drawn.sum(axis=0)[np.newaxis], times.sum(axis=0)[np.newaxis], np.zeros((1, n_bots)))[0]
    n_walls = len(times)
    if n_walls < 2 or samples == 0:
        return Ratings(POINTS * centred @ theta, np.zeros((n_bots, n_bots)), 0)
    rng = np.random.default_rng(0)
    fitted = []
    for first in range(0, samples, AT_ONCE):
        n = min(AT_ONCE, samples - first)
        chosen = np.array(
            [np.bincount(rng.integers(n_walls, size=n_walls), minlength=n_walls) for _ in range(n)], float
        )
        centres = rng.normal(scale=PRIOR / POINTS, size=(n, n_bots))
        fitted.append(_fit(sets, chosen @ drawn, chosen @ times, centres, theta))
    unbiased = n_walls / (n_walls - 1)
    covariance = POINTS**2 * unbiased * np.cov(np.concatenate(fitted) @ centred, rowvar=False)
    return Ratings(POINTS * centred @ theta, covariance, n_walls)


def _draws(n_bots: int, orders: np.ndarray, walls: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the likelihood depends on: who was drawn how often on each wall, and from which bots.

    Returns the different sets of bots that were drawn from, float64[sets, bots] of 0 and 1; how often each bot was
    drawn from such a set, float64[walls, bots]; how often each set was drawn from, float64[walls, sets]. The last of a
    game is no draw.
    """
    index, number = np.unique(walls, return_inverse=True)
    drawn = np.zeros((len(index), n_bots))
    np.add.at(drawn, (number[:, np.newaxis], orders[:, : N_SEATS - 1]), 1)
    sets, times = [], []
    for draw in range(N_SEATS - 1):
        left = np.sort(orders[:, draw:], axis=1)
        codes, first, which = np.unique(
            np.ravel_multi_index(tuple(left.T), (n_bots,) * left.shape[1]), return_index=True, return_inverse=True
        )
        member, of_walls = np.zeros((len(codes), n_bots)), np.zeros((len(index), len(codes)))
        np.put_along_axis(member, left[first], 1, axis=1)
        np.add.at(of_walls, (number, which), 1)
        sets.append(member)
        times.append(of_walls)
    return np.concatenate(sets), drawn, np.concatenate(times, axis=1)


def _fit(
    sets: np.ndarray, drawn: np.ndarray, times: np.ndarray, centres: np.ndarray, start: np.ndarray | None = None
) -> np.ndarray:
    """The θ of the highest posterior density of each sample, by Newton's method with halved steps where one is too far.

    ``sets``: as `_draws` gives them; ``drawn`` float64[samples, bots] and ``times`` float64[samples, sets]: of each
    sample. ``centres``: float64[samples, bots], of the prior. Returns float64[samples, bots].
    """
    prior = (POINTS / PRIOR) ** 2
    n_bots = sets.shape[1]

    def log_density(theta: np.ndarray) -> np.ndarray:
        likelihood = (drawn * theta).sum(axis=1) - (times * np.log(np.exp(theta) @ sets.T)).sum(axis=1)
        density: np.ndarray = likelihood - prior / 2 * ((theta - centres) ** 2).sum(axis=1)
        return density

    theta = np.zeros_like(centres) if start is None else np.tile(start, (len(centres), 1))
    density = log_density(theta)
    for _ in range(STEPS):
        strengths = np.exp(theta)[:, np.newaxis] * sets
        chances = strengths / strengths.sum(axis=2, keepdims=True)  # [samples, sets, bots]
        expected = times[:, :, np.newaxis] * chances
        gradient = drawn - expected.sum(axis=1) - prior * (theta - centres)
        hessian = -expected.transpose(0, 2, 1) @ chances
        hessian[:, range(n_bots), range(n_bots)] += expected.sum(axis=1) + prior
        step = np.linalg.solve(hessian, gradient[:, :, np.newaxis])[:, :, 0]
        while ((new := log_density(theta + step)) < density).any() and np.abs(step).max() > PRECISION:
            step[new < density] /= 2
        theta, density = theta + step, new
        if np.abs(step).max() <= PRECISION:
            break
    return theta
