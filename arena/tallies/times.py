"""How long bots take for their decisions: wall time, which differs from run to run.

A row of times is int64[N_TIMES]: nanoseconds in all, then a histogram of the nanoseconds of a decision, with
`BINS_PER_OCTAVE` bins for each doubling. If many games are played at once, a bot is asked for many decisions in one
call, and each of them counts as an equal share of its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from arena.statistic import Statistic

if TYPE_CHECKING:  # definitions are printed without numba
    import numpy as np

    from engine.tables import Policy

BINS_PER_OCTAVE = 8
N_TIMES = 1 + 48 * BINS_PER_OCTAVE  # the last bin begins at about three days


class Stopwatch:
    """A policy that adds the time that another takes to ``times``, int64[N_TIMES]."""

    def __init__(self, policy: Policy, times: np.ndarray) -> None:
        self._policy = policy
        self._times = times

    def __call__(self, views: np.ndarray) -> np.ndarray:
        """Answer ``views`` as the policy does."""
        start = perf_counter_ns()
        answer = self._policy(views)
        taken = perf_counter_ns() - start
        self._times[0] += taken
        self._times[bin_of(taken / len(views))] += len(views)
        return answer


def bin_of(nanoseconds: float) -> int:
    """Return the index in a row of times at which a decision of that length is counted."""
    return 1 + min(int(BINS_PER_OCTAVE * log2(max(nanoseconds, 1.0))), N_TIMES - 2)


@dataclass(frozen=True, slots=True)
class DecisionTimes:
    """The times of a bot, int64[N_TIMES]."""

    bot: str
    times: np.ndarray

    @property
    def decisions(self) -> int:
        """How many decisions were timed."""
        return int(self.times[1:].sum())

    @property
    def mean(self) -> float | None:
        """Mean time of a decision in milliseconds."""
        return int(self.times[0]) / self.decisions / 1e6 if self.decisions else None

    @property
    def p95(self) -> float | None:
        """The 95th percentile in milliseconds: the middle of its bin, which is 9 % wide."""
        if not self.decisions:
            return None
        reached = self.times[1:].cumsum().searchsorted(0.95 * self.decisions)
        return float(2 ** ((int(reached) + 0.5) / BINS_PER_OCTAVE)) / 1e6


TIMES: tuple[Statistic[DecisionTimes], ...] = (
    Statistic("decisions", "decisions", ",", lambda times: times.decisions, "decisions of this process",
              how="number of decisions"),
    Statistic("mean_ms", "mean time\nms", ",.3f", lambda times: times.mean,
              "mean wall time of a decision; of decisions asked for at once, each has its share", "ms",
              "time / decisions"),
    Statistic("p95_ms", "95 %\nms", ",.3f", lambda times: times.p95,
              "95th percentile of the wall time of a decision, to within 5 %", "ms",
              "from a histogram"),
)  # fmt: skip


def decision_times(bots: Sequence[str], times: np.ndarray) -> list[dict[str, Any]]:
    """A row for each bot, with the keys of `TIMES`; ``times``: int64[bots, N_TIMES]."""
    rows = (DecisionTimes(bot, own) for bot, own in zip(bots, times, strict=True))
    return [{"bot": row.bot} | {column.key: column.compute(row) for column in TIMES} for row in rows]
