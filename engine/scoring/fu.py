"""Fu of pairs, triplets, kans and waits, and the rounding of fu. Source: the standard table, as Tenhou counts."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.scoring.decompose import DRAGONS_MASK, SOU_RUNS_SHIFT, popcount
from engine.tiles import EAST, N_KINDS, PIN, SOU, TERMINALS_HONOURS_MASK

BASE_FU = 20
CONCEALED_RON_FU = 10
TSUMO_FU = 2
WAIT_FU = 2  # pair, middle or edge wait
CHIITOI_FU = 25
PINFU_TSUMO_FU = 20
PINFU_RON_FU = 30
OPEN_MINIMUM_FU = 30


def _waits() -> tuple[np.ndarray, np.ndarray]:
    """For each winning kind the runs (as run words) it completes as a two-sided wait, and as a middle or edge wait."""
    open_waits, closed_waits = np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    for first, shift in ((PIN, 0), (SOU, SOU_RUNS_SHIFT)):
        for start in range(7):
            run = 0xF << 4 * start + shift
            lowest_wait = open_waits if start < 6 else closed_waits  # 89 waits on the 7 alone
            highest_wait = open_waits if start > 0 else closed_waits  # 12 waits on the 3 alone
            lowest_wait[first + start] |= run
            closed_waits[first + start + 1] |= run
            highest_wait[first + start + 2] |= run
    return open_waits, closed_waits


TWO_SIDED_WAITS, CLOSED_WAITS = _waits()


@inner
def triplets_fu(triplets: int) -> int:
    """Fu of the concealed triplets in a mask: 4 each, 8 for terminals and honours. Open: half, kans: fourfold."""
    return 4 * (popcount(triplets) + popcount(triplets & TERMINALS_HONOURS_MASK))


@inner
def pair_fu(pair: int, seat_wind: int, round_wind: int) -> int:
    """Fu of the pair (a mask of one kind): 2 for a dragon, the seat wind and the round wind, so a double wind has 4."""
    return 2 * (np.int64(pair & DRAGONS_MASK != 0) + (pair >> EAST + seat_wind & 1) + (pair >> EAST + round_wind & 1))


@inner
def rounded_fu(fu: int, concealed: bool) -> int:
    """`fu` rounded up to tens; an open hand has at least 30."""
    fu = (fu + 9) // 10 * 10
    return fu if concealed else max(fu, OPEN_MINIMUM_FU)
