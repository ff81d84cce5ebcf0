"""Melds that are only tried: they change the concealed hand and the melds of a seat, and are taken back."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.melds import add_meld, take_from_hand
from engine.tiles import NONE


@inner
def try_meld(p: np.record, meld_type: int, kind: int, count: int, reds: int, called_reds: int) -> int:
    """Make a meld of `count` tiles of `kind` from the hand, `reds` of them red, and of the tile called, if any.

    `called_reds`: 1 if the tile called is red. Returns whether the hand was open, for `take_back`.
    """
    was_open = np.int64(p.open)
    take_from_hand(p, kind, count, reds)
    add_meld(p, meld_type, kind, reds + called_reds, np.int64(NONE), np.int64(NONE))
    return was_open


@inner
def take_back(p: np.record, count: int, reds: int, was_open: int) -> None:
    """Undo `try_meld` with the same `count` and `reds`."""
    p.n_melds -= 1
    p.open = was_open
    m = np.int64(p.n_melds)
    take_from_hand(p, np.int64(p.meld_kind[m]), -count, -reds)
    p.meld_type[m] = p.meld_kind[m] = p.meld_red[m] = 0
