"""Hands as counts by kind."""

from __future__ import annotations

import numpy as np


def with_tiles(hand: np.ndarray, *kinds: int) -> np.ndarray:
    """A copy of a hand with one more tile of each of `kinds`."""
    more = hand.copy()
    for kind in kinds:
        more[kind] += 1
    return more
