"""Reading a seat's menu of legal actions in compiled bots."""

from __future__ import annotations

import numpy as np

from engine.actions import DISCARD, TSUMOGIRI
from engine.compiling import inner
from engine.tiles import KIND_OF, RED_5P, RED_INDEX

ONE = np.uint64(1)


@inner
def may(t: np.record, action: int) -> bool:
    """Whether `action` is on the viewer's menu."""
    return (t.legal[t.viewer, action >> 6] >> np.uint64(action & 63)) & ONE != np.uint64(0)


@inner
def may_discard(t: np.record, kind: int) -> bool:
    """Whether some tile of `kind` may be discarded."""
    if may(t, DISCARD + kind) or (t.drawn >= 0 and KIND_OF[t.drawn] == kind and may(t, np.int64(TSUMOGIRI))):
        return True
    return RED_INDEX[kind] >= 0 and may(t, DISCARD + RED_5P + RED_INDEX[kind])


@inner
def discard_action(t: np.record, kind: int) -> int:
    """The action that discards a tile of `kind`, which must be allowed: plain before red, drawn before held."""
    if t.drawn == kind:
        return np.int64(TSUMOGIRI)
    if may(t, DISCARD + kind):
        return DISCARD + kind
    if t.drawn >= 0 and KIND_OF[t.drawn] == kind:  # the red five just drawn, the only five in the hand
        return np.int64(TSUMOGIRI)
    return DISCARD + RED_5P + RED_INDEX[kind]
