"""Counting the tiles that help a hand, from what its owner sees."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.tiles import SANMA_KINDS

ONE = np.uint64(1)


@inner
def unseen(t: np.record, kind: int) -> int:
    """Tiles of `kind` the viewer sees neither in its hand nor face up."""
    return 4 - np.int64(t.seat[t.viewer].hand[kind]) - np.int64(t.seen[kind])


@inner
def count_unseen(t: np.record, kinds: np.uint64) -> int:
    """Unseen tiles of all `kinds` (bit mask)."""
    total = np.int64(0)
    for kind in SANMA_KINDS:
        if (kinds >> np.uint64(kind)) & ONE != np.uint64(0):
            total += unseen(t, kind)
    return total
