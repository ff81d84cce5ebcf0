"""Ratings of many bots from games of three, all games of all bots at once.

The model is that of Plackett and Luce: each bot has a strength s = exp(θ), and a finishing order comes about by drawing
the first place with probabilities in proportion to the strengths, then the second among those that are left (R. Luce,
"Individual Choice Behavior", 1959; R. Plackett, "The analysis of permutations", 1975). So the odds that one bot
finishes ahead of another are s / s', whoever the third is. That is a model: with luck shared as it is in mahjong, the
odds that are measured depend somewhat on the third.

θ is fitted to all orders at once by maximum likelihood. The likelihood is concave; D. Hunter, "MM algorithms for
generalized Bradley-Terry models" (Annals of Statistics, 2004) gives the conditions for a maximum and two ways to it. Of
these Newton's is taken here: it needs a few steps for as many bots as there are.

A prior keeps bots that always win or lose finite: each rating is normal with a standard deviation of `PRIOR` points. In
a thousand games it moves a rating of ±500 points by less than one.

Ratings are in points as Elo has them: 400 points are a factor of 10 in the odds. The server rates its players by the
same model, but one game after the other and each player's strength as uncertain and moving (OpenSkill): its ratings
follow players who change, need no games of the others, depend on the order of the games, and have a unit of their own
(mu 25, sigma 25/3). Bots do not change, so here every game counts alike, and intervals follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from arena import student
from arena.statistics import BotGames, Estimate
from engine.table import N_SEATS

POINTS = 400 / log(10)  # of a factor e in the odds
PRIOR = 1000.0  # points; standard deviation of a rating before any game
STEPS = 100  # of Newton's method at most; ten are many
PRECISION = 1e-9  # of θ


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


def rate(n_bots: int, orders: np.ndarray, walls: np.ndarray) -> Ratings:
    """Rate bots by the orders in which they have finished.

    ``orders``: int[games, 3], the bots of each game from first to third, as numbers below ``n_bots``; the bots of a
    game are different ones. ``walls``: int[games], the wall of each game: all games on one wall, in whatever match, are
    one observation (the covariance is the sandwich estimate of Huber and White, clustered by wall). The prior adds an
    observation of its own, so that the interval of a bot that always lost is wide, not zero. Bots that no chain of
    games connects are held together by the prior alone, which their intervals show. Raises ValueError without games.
    """
    if len(orders) == 0:
        raise ValueError("no games to rate")
    prior = (POINTS / PRIOR) ** 2
    kinds, counts = np.unique(orders, axis=0, return_counts=True)
    theta = _fit(n_bots, kinds, counts, prior)
    _, hessian = _derivatives(theta, kinds, counts, prior)
    index, number = np.unique(walls, return_inverse=True)
    scores = np.zeros((len(index), n_bots))
    np.add.at(scores, (number[:, np.newaxis], orders), _score(theta, orders))
    of_walls = scores.T @ scores * len(index) / max(len(index) - 1, 1)
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ (of_walls + prior * np.eye(n_bots)) @ inverse
    centred = np.eye(n_bots) - 1 / n_bots
    return Ratings(POINTS * centred @ theta, POINTS**2 * centred @ covariance @ centred, len(index))


def _fit(n_bots: int, orders: np.ndarray, counts: np.ndarray, prior: float) -> np.ndarray:
    """The θ of the highest posterior density, float64[bots], by Newton's method with halved steps where one is too far.

    ``orders``: int[kinds, 3], different ones, which have come ``counts`` int[kinds] times.
    """
    theta = np.zeros(n_bots)
    density = _log_density(theta, orders, counts, prior)
    for _ in range(STEPS):
        gradient, hessian = _derivatives(theta, orders, counts, prior)
        step = np.linalg.solve(hessian, gradient)
        while (new := _log_density(theta + step, orders, counts, prior)) < density and np.abs(step).max() > PRECISION:
            step /= 2
        theta, density = theta + step, new
        if np.abs(step).max() <= PRECISION:
            break
    return theta


def _log_density(theta: np.ndarray, orders: np.ndarray, counts: np.ndarray, prior: float) -> float:
    """The logarithm of likelihood times prior, up to a constant."""
    drawn = theta[orders]
    left = np.logaddexp.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]  # log of the strengths of those not drawn yet
    return float(counts @ (drawn - left).sum(axis=1) - prior / 2 * theta @ theta)


def _draws(theta: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The probability of each bot of an order at each draw: float64[orders, draw, place]; 0 for those drawn before."""
    strengths = np.exp(theta[orders] - theta[orders].max(axis=1, keepdims=True))
    left = strengths[:, np.newaxis] * np.triu(np.ones((N_SEATS, N_SEATS)))
    chances: np.ndarray = left / np.maximum(left.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    return chances


def _score(theta: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The derivative of the log likelihood of each order by the θ of its bots: float64[orders, place]."""
    score: np.ndarray = 1.0 - _draws(theta, orders).sum(axis=1)
    return score


def _derivatives(
    theta: np.ndarray, orders: np.ndarray, counts: np.ndarray, prior: float
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of `_log_density`, float64[bots], and its negative Hessian, float64[bots, bots]."""
    gradient, hessian = -prior * theta, prior * np.eye(len(theta))
    chances = _draws(theta, orders)
    np.add.at(gradient, orders, counts[:, np.newaxis] * _score(theta, orders))
    of_order = np.einsum("odp,pq->opq", chances, np.eye(N_SEATS)) - np.einsum("odp,odq->opq", chances, chances)
    rows, columns = orders[:, :, np.newaxis], orders[:, np.newaxis, :]
    np.add.at(hessian, (rows, columns), counts[:, np.newaxis, np.newaxis] * of_order)
    return gradient, hessian


def finishing_orders(numbers: Sequence[int], games: Sequence[BotGames]) -> np.ndarray:
    """The orders in which the three bots of a match finished, for `rate`: int64[games, 3], wall by wall.

    ``numbers``: of the bots, ``games``: theirs, both in the order of the match (see `arena.results.Results.by_bot`).
    """
    placements = np.stack([each.placements for each in games], axis=-1).reshape(-1, N_SEATS)
    return np.asarray(numbers, dtype=np.int64)[placements.argsort(axis=1)]
