"""Means with their confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from engine.common import student


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and the half-width of its confidence interval (None for fewer than two walls)."""

    mean: float
    interval: float | None

    @property
    def differs_from_zero(self) -> bool:
        """Whether the interval does not contain zero."""
        return self.interval is not None and abs(self.mean) > self.interval


def mean_by_walls(values: np.ndarray, walls: np.ndarray, off: float) -> Estimate:
    """The mean of ``values``, [games], with its 95 % confidence interval; all games on a wall are one observation.

    Walls may have different numbers of games. ``off``: see `engine.contests.observations`.
    """
    mean = float(values.mean())
    index, number = np.unique(walls, return_inverse=True)
    n_walls = len(index)
    if n_walls < 2:
        return Estimate(mean, None)
    residuals = np.bincount(number, weights=values - mean)
    error = sqrt(n_walls / (n_walls - 1) * float(residuals @ residuals)) / len(values)
    return Estimate(mean, student.of_error(max(error, student.least_error(n_walls, off)), n_walls))
