"""What everybody sees of a seat."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.table import N_SEATS


@inner
def in_riichi(t: np.record, seat: int) -> bool:
    """Whether `seat` is in riichi, or has just declared it."""
    return t.seat[seat].riichi > 0 or (t.riichi_pending > 0 and t.turn == seat)


@inner
def rank_of(t: np.record, seat: int) -> int:
    """Rank 0-2 of `seat` by the present scores; ties go to the seat nearer the first dealer."""
    rank = np.int64(0)
    for other in range(N_SEATS):
        if t.seat[other].score > t.seat[seat].score or (t.seat[other].score == t.seat[seat].score and other < seat):
            rank += 1
    return rank
