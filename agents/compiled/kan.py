"""Concealed kans that cost the hand nothing."""

from __future__ import annotations

import numpy as np

from agents.compiled.menu import is_legal
from engine.actions import ANKAN
from engine.compiling import inner
from engine.hand import move
from engine.shanten import shanten
from engine.tiles import SANMA_KINDS


@inner
def ankan_keeping_shanten(t: np.record) -> int:
    """The first ankan that does not raise the shanten, or -1."""
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    before = shanten(p.hand_keys, n_melds)
    for kind in SANMA_KINDS:
        if is_legal(t, ANKAN + kind):
            move(p, kind, np.int64(-4))
            after = shanten(p.hand_keys, n_melds + 1)
            move(p, kind, np.int64(4))
            if after <= before:
                return ANKAN + kind
    return np.int64(-1)
