"""Student's t distribution: the probabilities behind intervals from few observations, such as walls of the arena.

Observations that are equal by chance have a variance of 0, as if the mean were known. But from n that are all alike
follows only that others are rarer than about one in n / 3 (J. Hanley and A. Lippman-Hand, "If nothing goes wrong, is
everything all right?", JAMA 249, 1983). So the standard error of n counts as at least that of n of which one is off
(`least_error`); with hundreds of them the measured one is larger, and stays what it is.

The distribution function is an incomplete beta function (Abramowitz and Stegun, 26.7.1), which is computed as a
continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22) by Lentz's method.
"""

from __future__ import annotations

from functools import cache
from math import exp, lgamma, log, log1p, sqrt
from typing import TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)

CONFIDENCE = 0.95
NORMAL = 1.96  # the quantile of the normal distribution: of very many observations, and below those of fewer
TINY = 1e-300  # in place of a zero in Lentz's method
PRECISION = 1e-15
MAX_TERMS = 100_000  # far more than a million degrees of freedom need


def cdf(t: float, freedom: int) -> float:
    """The probability of a value below `t`, for `freedom` >= 1 degrees of freedom."""
    upper = _incomplete_beta(freedom / (freedom + t * t), t * t / (freedom + t * t), freedom / 2, 0.5) / 2
    return 1 - upper if t > 0 else upper


@cache
def quantile(probability: float, freedom: int) -> float:
    """The value below which `probability`, 0.5 … 1, of the distribution lies."""
    low, high = 0.0, 1.0
    while cdf(high, freedom) < probability:
        high *= 2
    for _ in range(100):  # bisection, down to neighbouring numbers
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle, freedom) < probability else (low, middle)
    return high


def least_error(n: Number, off: float) -> Number:
    """The least standard error of a mean of n: that of values which are alike but for one, which is ``off`` by that."""
    return off / n


def standard_error(values: np.ndarray, off: float) -> float:
    """The standard error of the mean of ``values``, [n], at least two; not below `least_error`."""
    return max(float(values.std(ddof=1)) / sqrt(len(values)), least_error(len(values), off))


def half_width(values: np.ndarray, off: float) -> float | None:
    """The half-width of the 95 % confidence interval of the mean of ``values``, [n]; None for fewer than two.

    ``off``: see `standard_error`.
    """
    return None if len(values) < 2 else of_error(standard_error(values, off), len(values))


def half_width_of_ratio(counts: np.ndarray, totals: np.ndarray, off: float) -> float | None:
    """The half-width of the 95 % confidence interval of ``counts.sum() / totals.sum()``; None for fewer than two.

    Both are [n], of n independent parts such as games or walls: a ratio of means (delta method). ``off``: by how much
    the count of a part that is off differs.
    """
    ratio, mean = counts.sum() / totals.sum(), totals.mean()
    return half_width((counts - ratio * totals) / mean, off / mean)


def interval_of_share(right: np.ndarray, games: np.ndarray) -> float | None:
    """The half-width of the 95 % confidence interval of the mean of `right` bool[n] > 0; None if all are of one game.

    `games` int[n] says which game each is of: those of one game are not independent.
    """
    of_game = np.unique(games, return_inverse=True)[1]
    return half_width_of_ratio(np.bincount(of_game, right), np.bincount(of_game).astype(float), off=1.0)


def of_error(error: float, n: int) -> float:
    """The half-width of the 95 % confidence interval of a mean of n, at least two, from its standard error."""
    return quantile((1 + CONFIDENCE) / 2, n - 1) * error


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b), for `rest` = 1 - x (DLMF 8.17.2)."""
    if x == 0 or rest == 0:
        return float(rest == 0)
    if x > (a + 1) / (a + b + 2):  # the continued fraction converges quickly on the other side alone
        return 1 - _incomplete_beta(rest, x, b, a)
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * _log(x, rest) + b * _log(rest, x)
    return exp(log_front) / (a * _fraction(x, a, b))


def _log(x: float, rest: float) -> float:
    """The logarithm of `x` = 1 - `rest`, exact near 0 and near 1."""
    return log(x) if x < 0.5 else log1p(-rest)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction 1 + d1 / (1 + d2 / (1 + …)) of DLMF 8.17.22, by the modified method of Lentz."""
    value = numerator = 1.0
    denominator = 0.0
    for term in range(1, MAX_TERMS):
        m = term // 2
        if term % 2 == 0:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator = 1 / (1 + d * denominator or TINY)
        numerator = 1 + d / numerator or TINY
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < PRECISION:
            break
    return value
