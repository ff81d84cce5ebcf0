"""Reads the menu (the bit mask of legal actions) of a view, in compiled bots."""

from __future__ import annotations

import numpy as np

from engine.actions import DISCARD, TSUMOGIRI
from engine.compiling import inner
from engine.kernels import bit_count, nth_action
from engine.tiles import KIND_OF, RED_5P, RED_INDEX

ONE = np.uint64(1)


@inner
def is_legal(t: np.record, action: int) -> bool:
    """Whether the viewer may play `action`."""
    return (t.legal[t.viewer, action >> 6] >> np.uint64(action & 63)) & ONE != np.uint64(0)


@inner
def can_discard(t: np.record, kind: int) -> bool:
    """Whether the viewer may discard a tile of `kind`."""
    if is_legal(t, DISCARD + kind) or (t.drawn >= 0 and KIND_OF[t.drawn] == kind and is_legal(t, np.int64(TSUMOGIRI))):
        return True
    return RED_INDEX[kind] >= 0 and is_legal(t, DISCARD + RED_5P + RED_INDEX[kind])


@inner
def discard_action(t: np.record, kind: int) -> int:
    """The action that discards a tile of `kind`; there must be a legal one.

    A plain five is discarded before a red one, and a tile just drawn before the same tile in the hand.
    """
    if t.drawn == kind:
        return np.int64(TSUMOGIRI)
    if is_legal(t, DISCARD + kind):
        return DISCARD + kind
    if t.drawn >= 0 and KIND_OF[t.drawn] == kind:  # the red five just drawn, the only five in the hand
        return np.int64(TSUMOGIRI)
    return DISCARD + RED_5P + RED_INDEX[kind]


@inner
def only_action(t: np.record) -> int:
    """The viewer's legal action if it has just one, else -1."""
    low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
    return nth_action(low, high, np.int64(0)) if bit_count(low) + bit_count(high) == 1 else np.int64(-1)
