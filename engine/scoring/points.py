"""Base points from han and fu, and payments from base points. Source: the standard rules, as Tenhou counts."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner, kernel

YAKUMAN_BASIC = 8_000
# Base points by han: mangan (5), haneman (6), baiman (8), sanbaiman (11), counted yakuman (13). Source: Tenhou rules.
LIMITS = np.array(
    [0, 0, 0, 0, 0, 2_000, 3_000, 3_000, 4_000, 4_000, 4_000, 6_000, 6_000, YAKUMAN_BASIC], dtype=np.int64
)
MANGAN_HAN = 5
MANGAN_BASIC = 2_000
COUNTED_YAKUMAN_HAN = 13


@inner
def basic_points(han: int, fu: int, yakuman: int) -> int:
    """Base points: 8,000 for each yakuman, else a limit by han, else fu * 2^(2 + han) up to mangan (no kiriage)."""
    if yakuman > 0:
        return YAKUMAN_BASIC * yakuman
    if han >= MANGAN_HAN:
        return LIMITS[min(han, COUNTED_YAKUMAN_HAN)]
    return min(fu << (2 + han), MANGAN_BASIC)


@inner
def payment(basic: int, multiplier: int) -> int:
    """What one seat pays: `basic` times 1 or 2 on tsumo, 4 or 6 on ron, rounded up to a hundred."""
    return (basic * multiplier + 99) // 100 * 100


@kernel("int64, boolean, boolean")
def payments(basic: int, dealer: bool, tsumo: bool) -> tuple[int, int]:
    """Payments of the two other seats, without honba; `dealer`: the winner is the dealer.

    Ron: what the discarder pays, and 0. Tsumo: what the dealer and the other seat pay, equal if the winner is the
    dealer. Nobody pays the share of the absent north (tsumo loss).
    """
    if not tsumo:
        return payment(basic, np.int64(6 if dealer else 4)), np.int64(0)
    return payment(basic, np.int64(2)), payment(basic, np.int64(2 if dealer else 1))
