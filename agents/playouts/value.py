"""What the end of a round is worth to a seat."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.placement import POINTS_PER_PLACEMENT, placement_value, rounds_after
from agents.compiled.seats import rank_of
from engine.compiling import inner, kernel
from engine.rules import RIICHI_STICK
from engine.settle import game_ends, top_seat
from engine.table import ROUND_OVER, TABLE

NO_CHANGE = (0.0, 0.0, 0.0)


@inner
def final_value(t: np.record, seat: int) -> float:
    """Minus the final placement of `seat`, plus its score / POINTS_PER_PLACEMENT, if the game ends as it is.

    Riichi sticks that are left go to the top seat; ties go to the seat nearer the first dealer.
    """
    own = np.int64(t.seat[seat].score)
    placement = 1.0 + rank_of(t, seat)
    if top_seat(t) == seat:
        own += RIICHI_STICK * np.int64(t.sticks)
    return own / POINTS_PER_PLACEMENT - placement


@inner
def round_value(t: np.record, seat: int) -> float:
    """Value for `seat` of a table in phase ROUND_OVER or GAME_OVER: exact if the game ends, else expected.

    It is minus the (expected) final placement, plus the score / POINTS_PER_PLACEMENT; see `placement_value`.
    """
    if t.phase != ROUND_OVER or game_ends(t):
        return final_value(t, seat)
    viewer = t.viewer
    t.viewer = seat
    value = placement_value(t, NO_CHANGE, rounds_after(t, t.dealer_stays != 0))
    t.viewer = viewer
    return value


@kernel("uint8[::1], int8[::1], float32[::1]")
def round_values(raw: np.ndarray, seats: np.ndarray, values: np.ndarray) -> None:
    """Write `round_value` of each of `seats` int8[n] at its table in `raw` into `values` float32[n]."""
    tables = raw.view(TABLE)
    for k in range(len(seats)):
        values[k] = round_value(tables[k], np.int64(seats[k]))
