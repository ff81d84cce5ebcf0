"""Counts of the tiles the viewer does not see."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.hand import has_kind
from engine.tiles import SANMA_KINDS


@inner
def unseen(t: np.record, kind: int) -> int:
    """Number of tiles of `kind` that the viewer sees neither in its hand nor face up."""
    return 4 - np.int64(t.seat[t.viewer].hand[kind]) - np.int64(t.seen[kind])


@inner
def count_unseen(t: np.record, kinds: np.uint64) -> int:
    """Number of unseen tiles of all `kinds` (bit mask)."""
    total = np.int64(0)
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            total += unseen(t, kind)
    return total
