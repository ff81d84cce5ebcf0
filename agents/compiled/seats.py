"""What everybody sees of a seat."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.settle import place_of


@inner
def in_riichi(t: np.record, seat: int) -> bool:
    """Whether `seat` is in riichi, or has just declared it."""
    return t.seat[seat].riichi > 0 or (t.riichi_pending > 0 and t.turn == seat)


@inner
def rank_of(t: np.record, seat: int) -> int:
    """Rank 0-2 of `seat` by the present scores; ties go to the seat nearer the first dealer."""
    return place_of((t.seat[0].score, t.seat[1].score, t.seat[2].score), seat) - 1
