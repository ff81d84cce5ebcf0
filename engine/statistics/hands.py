"""Hands followed through the event log of a round: concealed tiles by kind, int8[34], with shanten keys, int32[3]."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.events import ANKAN, DAHAI, DAIMINKAN, KAKAN, NUKIDORA, PON
from engine.shanten import KEY_GROUP, KEY_WEIGHT

# How many of the own concealed tiles an event uses up; a kakan, a discard and a nukidora: one.
USED = np.zeros(16, dtype=np.int64)
USED[[DAHAI, KAKAN, NUKIDORA]] = 1
USED[PON], USED[DAIMINKAN], USED[ANKAN] = 2, 3, 4


@inner
def change(hand: np.ndarray, keys: np.ndarray, kind: int, count: int) -> None:
    """Add ``count`` tiles of a kind to a hand and its keys (negative: remove them)."""
    hand[kind] += count
    keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind] * count
