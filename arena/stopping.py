"""When a run knows enough and stops: a sequential probability ratio test, or intervals of a given half-width.

Both look at the results after each wall, in the order of the schedule, and stop after the first wall that decides. So a
run stops after the same wall, however its games are shared among processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, log

import numpy as np

from engine.common.student import NORMAL, half_width, least_error
from engine.contests.observations import PLACE

MIN_WALLS = 30  # fewer say too little about the variance
UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential probability ratio test of the mean placement of the first bot, minus 2, that of an equal bot.

    Hypothesis H0: it is ``not_better``; H1: it is ``better``, which is lower. ``alpha``: the probability to accept H1
    where H0 is true; ``beta``: that to accept H0 where H1 is true. Raises ValueError for values that make no test.

    Method: the generalized test of Bartroff, Finkelman and Lai (2008) with the normal approximation, as chess engines
    are tested with the results of pairs of games; an observation is here the mean over the rotations of a wall.
    """

    not_better: float
    better: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not (isfinite(self.not_better) and isfinite(self.better) and self.better < self.not_better):
            raise ValueError("a better placement is lower: give the bounds as in 0,-0.02")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("alpha and beta are probabilities of errors, between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H0 and H1 are accepted (Wald, 1945)."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def ratios(self, placements: np.ndarray) -> np.ndarray:
        """The log-likelihood ratio of H1 to H0 after each wall, 0 before MIN_WALLS.

        ``placements``: of the first bot, float64[walls]. The variance counts as at least that of walls of which one is
        a whole place off (`engine.common.student`): walls that are all alike, as those of three equal bots, decide
        later, but decide.
        """
        mean, error = _running(placements)
        distance = mean - 2 - (self.better + self.not_better) / 2
        ratios = (self.better - self.not_better) * distance / (error * error)
        n = np.arange(1, len(placements) + 1)
        return np.where(n >= MIN_WALLS, ratios, 0.0)

    def stops_after(self, placements: np.ndarray) -> int | None:
        """The number of walls after which the test decides, None if it does not; ``placements``: [bots, walls]."""
        low, high = self.bounds
        ratios = self.ratios(placements[0])
        return _first((ratios <= low) | (ratios >= high))

    def status(self, placements: np.ndarray) -> str:
        """How far the test is, in a few words."""
        if placements.shape[1] < MIN_WALLS:
            return f"decides from {MIN_WALLS} walls on"
        low, high = self.bounds
        return f"log-likelihood ratio {self.ratios(placements[0])[-1]:+.2f}, bounds {low:.2f} and {high:+.2f}"

    def outcome(self, placements: np.ndarray) -> str:
        """The decision: ``better``, ``not better`` or ``undecided``."""
        low, high = self.bounds
        ratio = self.ratios(placements[0])[-1]
        return "better" if ratio >= high else "not better" if ratio <= low else UNDECIDED


@dataclass(frozen=True, slots=True)
class Until:
    """Stops when the intervals of all mean placements have this half-width. Raises ValueError unless it is positive."""

    half_width: float

    def __post_init__(self) -> None:
        if not (isfinite(self.half_width) and self.half_width > 0):
            raise ValueError("the half-width of an interval is a positive number, as in 0.01")

    def stops_after(self, placements: np.ndarray) -> int | None:
        """As `Sprt.stops_after`."""
        n = np.arange(1, placements.shape[1] + 1)
        widths = np.max([NORMAL * _running(bot)[1] for bot in placements], axis=0)
        for index in np.flatnonzero((n >= MIN_WALLS) & (widths <= self.half_width)).tolist():
            if self._widest(placements[:, : index + 1]) <= self.half_width:
                return int(index) + 1
        return None

    def status(self, placements: np.ndarray) -> str:
        """How wide the intervals are, in a few words."""
        return f"± {self._widest(placements):.4f}, wanted ± {self.half_width:g}"

    def outcome(self, placements: np.ndarray) -> str:
        """Whether the half-width was reached."""
        return "reached" if self.stops_after(placements) else "not reached"

    @staticmethod
    def _widest(placements: np.ndarray) -> float:
        return max(inf if (width := half_width(bot, PLACE)) is None else width for bot in placements)


def _running(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of the first n placements, for each n, as `student.standard_error` has them."""
    n = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / n
    squares = np.cumsum(values * values) - n * mean * mean
    variance = np.maximum(squares, 0) / np.maximum(n - 1, 1)
    return mean, np.maximum(np.sqrt(variance / n), least_error(n, PLACE))


def _first(decided: np.ndarray) -> int | None:
    """The number of values up to the first that is true."""
    return int(decided.argmax()) + 1 if decided.any() else None
