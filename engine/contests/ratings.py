"""Ratings of many bots from games of three, all games of all bots at once.

The model is that of Plackett and Luce: each bot has a strength s = exp(θ), and a finishing order comes about by drawing
the first place with probabilities in proportion to the strengths, then the second among those that are left (R. Luce,
"Individual Choice Behavior", 1959; R. Plackett, "The analysis of permutations", 1975). So the odds that one bot
finishes ahead of another are s / s', whoever the third is. That is a model: with luck shared as it is in mahjong, the
odds that are measured depend somewhat on the third.

θ is fitted to all orders at once by maximum likelihood. The likelihood is concave; D. Hunter, "MM algorithms for
generalized Bradley-Terry models" (Annals of Statistics, 2004) gives the conditions for a maximum and two algorithms.
Newton's method is used here: it needs few steps for this number of bots. `tests/arena/test_ratings.py` compares with
the library choix, which fits the same model game by game; here all draws from the same bots are one term, so that
hundreds of samples of the games can be fitted at once.

A prior keeps bots that always win or lose finite: each rating is normal with a standard deviation of `PRIOR` points. In
a thousand games it moves a rating of ±500 points by less than one.

Intervals come from the bootstrap by walls: walls are drawn from those that were played, with replacement and with all
their games, and the ratings of each such sample are fitted (B. Efron and R. Tibshirani, "An Introduction to the
Bootstrap", 1993). The prior's centre is drawn anew for each sample, so that the interval of a bot that always lost is
wide, not zero. Where few walls give like results, variances count as at least a part of those that the model itself
expects of so many games: the part that one wall which is a place off (`engine.contests.observations`) is of
independent games.

Ratings are in points as Elo has them: 400 points are a factor of 10 in the odds. The server rates its players by the
same model, but game by game, with each player's strength uncertain and changing (OpenSkill): its ratings follow players
who change, need no games of the others, depend on the order of the games, and are on another scale (mu 25, sigma 25/3).
Bots do not change, so here every game counts alike, and intervals follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from engine.common import student
from engine.contests.estimates import Estimate
from engine.contests.observations import PLACE
from engine.table import N_SEATS

POINTS = 400 / log(10)  # of a factor e in the odds
PRIOR = 1000.0  # points; standard deviation of a rating before any game
STEPS = 100  # of Newton's method at most; ten are many
INVERSE_PRIOR = (POINTS / PRIOR) ** 2  # the inverse of its variance, in units of θ
PLACE_VARIANCE = 2 / 3  # of the placement of one of three equal bots in a game
PRECISION = 1e-9  # of θ
SAMPLES, AT_ONCE = 400, 50  # of the bootstrap; the standard error of an interval is 1 / sqrt(2 * SAMPLES) of it, 4 %


@dataclass(frozen=True)
class Ratings:
    """Ratings in points; their mean is 0, only differences have a meaning.

    ``points`` float64[bots], ``covariance`` float64[bots, bots] in points squared; ``least``: alike, of the least
    variances (see above); ``walls``: how many there were.
    """

    points: np.ndarray
    covariance: np.ndarray
    least: np.ndarray
    walls: int

    def difference(self, bot: int, against: int) -> Estimate:
        """The rating of one bot minus that of another, with its 95 % confidence interval."""
        weights = np.zeros(len(self.points))
        weights[bot] += 1
        weights[against] -= 1
        return self._estimate(weights)

    def rating(self, bot: int) -> Estimate:
        """The rating of one bot relative to the mean of all, with its 95 % confidence interval."""
        return self._estimate(np.eye(len(self.points))[bot])

    def _estimate(self, weights: np.ndarray) -> Estimate:
        """A sum of ratings with ``weights``, float64[bots]."""
        mean = float(weights @ self.points)
        if self.walls < 2:
            return Estimate(mean, None)
        variance = max(float(weights @ matrix @ weights) for matrix in (self.covariance, self.least))
        return Estimate(mean, student.of_error(sqrt(max(variance, 0.0)), self.walls))


def rate(n_bots: int, orders: np.ndarray, walls: np.ndarray, samples: int = SAMPLES) -> Ratings:
    """Rate bots by their finishing orders.

    ``orders``: int[games, 3], the bots of each game from first to third, as numbers below ``n_bots``; the bots of a
    game are distinct. ``walls``: int[games], the wall of each game: all games on one wall, in whatever match, are one
    observation. ``samples``: of the bootstrap; 0: the ratings alone, without intervals. Bots that no chain of games
    connects are held together by the prior alone, which their intervals show. Raises ValueError without games.
    """
    if len(orders) == 0:
        raise ValueError("no games to rate")
    sets, drawn, times = _draws(n_bots, orders, walls)
    centred = np.eye(n_bots) - 1 / n_bots
    theta = _fit(sets, drawn.sum(axis=0)[np.newaxis], times.sum(axis=0)[np.newaxis], np.zeros((1, n_bots)))[0]
    n_walls = len(times)
    if n_walls < 2 or samples == 0:
        unknown = np.zeros((n_bots, n_bots))
        return Ratings(POINTS * centred @ theta, unknown, unknown, 0)
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
    expected = np.linalg.inv(_information(sets, times.sum(axis=0)[np.newaxis], theta[np.newaxis])[1][0])
    part = student.least_error(n_walls, PLACE) ** 2 / (PLACE_VARIANCE / len(orders))
    return Ratings(POINTS * centred @ theta, covariance, part * POINTS**2 * centred @ expected @ centred, n_walls)


def _draws(n_bots: int, orders: np.ndarray, walls: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count what the likelihood depends on: how often each bot was drawn on each wall, and from which bots.

    Returns the distinct sets of bots that were drawn from, float64[sets, bots] of 0 and 1; how often each bot was
    drawn from such a set, float64[walls, bots]; how often each set was drawn from, float64[walls, sets]. The last place
    of a game is not a draw.
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
    """Return the θ of maximum posterior density of each sample, by Newton's method; steps that overshoot are halved.

    ``sets``: as `_draws` gives them; ``drawn`` float64[samples, bots] and ``times`` float64[samples, sets]: of each
    sample. ``centres``: float64[samples, bots], of the prior. Returns float64[samples, bots].
    """

    def log_density(theta: np.ndarray) -> np.ndarray:
        likelihood = (drawn * theta).sum(axis=1) - (times * np.log(np.exp(theta) @ sets.T)).sum(axis=1)
        density: np.ndarray = likelihood - INVERSE_PRIOR / 2 * ((theta - centres) ** 2).sum(axis=1)
        return density

    theta = np.zeros_like(centres) if start is None else np.tile(start, (len(centres), 1))
    density = log_density(theta)
    for _ in range(STEPS):
        expected, information = _information(sets, times, theta)
        gradient = drawn - expected - INVERSE_PRIOR * (theta - centres)
        step = np.linalg.solve(information, gradient[:, :, np.newaxis])[:, :, 0]
        while ((new := log_density(theta + step)) < density).any() and np.abs(step).max() > PRECISION:
            step[new < density] /= 2
        theta, density = theta + step, new
        if np.abs(step).max() <= PRECISION:
            break
    return theta


def _information(sets: np.ndarray, times: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often each bot is expected to be drawn, [samples, bots], and the information, [samples, bots, bots].

    The information is the negative second derivative of the logarithm of the posterior density by θ.
    """
    strengths = np.exp(theta)[:, np.newaxis] * sets
    chances = strengths / strengths.sum(axis=2, keepdims=True)  # [samples, sets, bots]
    by_set = times[:, :, np.newaxis] * chances
    expected, bots = by_set.sum(axis=1), range(sets.shape[1])
    information = -by_set.transpose(0, 2, 1) @ chances
    information[:, bots, bots] += expected + INVERSE_PRIOR
    return expected, information
