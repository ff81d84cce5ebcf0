"""The viewer's hand: tiles in and out of it, and the tiles it does not see."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.legal import has_kind
from engine.shanten import KEY_GROUP, KEY_WEIGHT
from engine.tiles import SANMA_KINDS


@inner
def move(p: np.record, kind: int, count: int) -> None:
    """Put `count` tiles of `kind` into the hand of seat record `p` (negative: take them out), keys included."""
    p.hand[kind] += count
    p.hand_keys[KEY_GROUP[kind]] += count * KEY_WEIGHT[kind]


@inner
def unseen(t: np.record, kind: int) -> int:
    """Tiles of `kind` the viewer sees neither in its hand nor face up."""
    return 4 - np.int64(t.seat[t.viewer].hand[kind]) - np.int64(t.seen[kind])


@inner
def count_unseen(t: np.record, kinds: np.uint64) -> int:
    """Unseen tiles of all `kinds` (bit mask)."""
    total = np.int64(0)
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            total += unseen(t, kind)
    return total
