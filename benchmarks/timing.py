"""Timing of a workload."""

from __future__ import annotations

import time
from collections.abc import Callable

Work = Callable[[], int]  # does a fixed piece of work; returns how many units (games, decisions, hands) that was

ROUNDS = 5  # measurements of each side, in turn; the median is printed


def rate(work: Work, at_least: float = 0.4) -> float:
    """Units per second of ``work``, repeated for at least ``at_least`` seconds."""
    done, start = 0, time.perf_counter()
    while True:
        done += work()
        taken = time.perf_counter() - start
        if taken >= at_least:
            return done / taken
