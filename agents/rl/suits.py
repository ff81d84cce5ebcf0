"""Pin and sou are alike: networks see the suit that a seat has more of in the place of pin.

So what a network learns about one suit holds for the other. Features are written as they are first; then the pairs of
features that stand for pin and sou are exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.compiling import inner
from engine.tiles import PIN, SANMA_KINDS, SOU

PIN_OF, SOU_OF = PIN // 9, SOU // 9  # kind // 9
N_RANKS = SOU - PIN
PIN_INDEX = int(np.flatnonzero(SANMA_KINDS == PIN)[0])  # of the first kind of pin in SANMA_KINDS; those of sou follow


def by_kind(at: int) -> list[tuple[int, int]]:
    """The pairs of a block of features that begins at `at`, one for each of SANMA_KINDS."""
    return [(at + PIN_INDEX + rank, at + PIN_INDEX + N_RANKS + rank) for rank in range(N_RANKS)]


def side_by_side(starts: Iterable[int]) -> list[tuple[int, int]]:
    """The pairs whose feature for pin is one of `starts`, with that for sou behind it."""
    return [(start, start + 1) for start in starts]


def pairs(found: Iterable[tuple[int, int]]) -> np.ndarray:
    """The pairs as an array for `exchange`, int64[n, 2]."""
    return np.array(list(found), dtype=np.int64)


@inner
def has_more_sou(t: np.record, seat: int) -> bool:
    """Whether `seat` has more sou than pin in its hand and melds."""
    p = t.seat[seat]
    more = np.int64(0)
    for rank in range(N_RANKS):
        more += np.int64(p.hand[SOU + rank]) - np.int64(p.hand[PIN + rank])
    for m in range(p.n_melds):
        suit = np.int64(p.meld_kind[m]) // 9
        more += 3 * (np.int64(suit == SOU_OF) - np.int64(suit == PIN_OF))
    return more > 0


@inner
def exchange(features: np.ndarray, which: np.ndarray) -> None:
    """Exchange the pairs `which` int64[n, 2] of `features` float32[:]."""
    for i in range(len(which)):
        a, b = which[i, 0], which[i, 1]
        value = features[a]
        features[a] = features[b]
        features[b] = value
