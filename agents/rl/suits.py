"""The symmetry of pin and sou: a network sees the suit of which a seat has more in the place of pin.

So what it learns about one suit holds for the other. Features are written for the suits as they are; then the features
of pin and of sou are swapped, in pairs given by arrays.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.compiling import inner
from engine.tiles import PIN, SANMA_INDEX, SOU

PIN_SUIT, SOU_SUIT = PIN // 9, SOU // 9  # kind // 9
N_RANKS = SOU - PIN


def by_kind(at: int) -> list[tuple[int, int]]:
    """The pairs in a block of features that begins at `at` and has one for each of SANMA_KINDS."""
    first = int(SANMA_INDEX[PIN])
    return [(at + first + rank, at + first + N_RANKS + rank) for rank in range(N_RANKS)]


def side_by_side(starts: Iterable[int]) -> list[tuple[int, int]]:
    """The pairs whose feature for pin is one of `starts`, and that for sou directly after it."""
    return [(start, start + 1) for start in starts]


@inner
def sou_first(t: np.record, seat: int) -> bool:
    """Return whether a network sees sou in the place of pin, because it is the longer suit of `seat`.

    That is the suit with more tiles in hand and melds, a meld counting as three. If both have the same number, the
    first rank of which the hand has more in one suit decides.
    """
    p = t.seat[seat]
    more = first = np.int64(0)
    for rank in range(N_RANKS):
        difference = np.int64(p.hand[SOU + rank]) - np.int64(p.hand[PIN + rank])
        more += difference
        if first == 0:
            first = difference
    for m in range(p.n_melds):
        suit = np.int64(p.meld_kind[m]) // 9
        more += 3 * (np.int64(suit == SOU_SUIT) - np.int64(suit == PIN_SUIT))
    return more > 0 or (more == 0 and first > 0)


@inner
def swap(features: np.ndarray, pairs: np.ndarray) -> None:
    """Swap the pairs `pairs` int64[n, 2] of `features` float32[:]."""
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        value = features[a]
        features[a] = features[b]
        features[b] = value


@inner
def swap_row(
    t: np.record, state: np.ndarray, actions: np.ndarray, count: int, state_pairs: np.ndarray, action_pairs: np.ndarray
) -> None:
    """Swap pin and sou in the features of the view `t` and of its first `count` actions if sou comes first."""
    if sou_first(t, np.int64(t.viewer)):
        swap(state, state_pairs)
        for i in range(count):
            swap(actions[i], action_pairs)
