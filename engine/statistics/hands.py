"""Hands followed through the event log of a round: concealed tiles by kind, int8[34], with shanten keys, int32[3]."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.shanten import KEY_GROUP, KEY_WEIGHT


@inner
def change(hand: np.ndarray, keys: np.ndarray, kind: int, count: int) -> None:
    """Add ``count`` tiles of a kind to a hand and its keys (negative: remove them)."""
    hand[kind] += count
    keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind] * count
