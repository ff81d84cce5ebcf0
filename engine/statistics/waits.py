"""The shape of a wait, compiled.

A tenpai hand consists of complete sets (and a pair) and one incomplete part, which one more tile completes. The parts:

* ryanmen: two tiles in a row that a tile on either side completes, as in 4-5;
* kanchan: two tiles with a gap, as in 4-6;
* penchan: 1-2 or 8-9;
* shanpon: two pairs, of which one becomes a triplet;
* tanki: a single tile, which becomes the pair.

The shape of a wait is the first of these whose waits are all the kinds that complete the hand, leaving out kinds of
which the hand holds four. A wait on one kind of seven pairs or of thirteen orphans is tanki. Every other wait (nobetan,
three kinds and more) is multi.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.hand import has_kind
from engine.shanten import regular_shanten
from engine.statistics.hands import change
from engine.tiles import HONOUR, PIN, SANMA_KINDS

RYANMEN, KANCHAN, PENCHAN, SHANPON, TANKI, MULTI = range(6)
ONE = np.uint64(1)


@inner
def bit(kind: int) -> np.uint64:
    """A set of one kind."""
    return ONE << np.uint64(kind)


@inner
def rest_is_complete(hand: np.ndarray, keys: np.ndarray, n_melds: int, first: int, second: int) -> bool:
    """Whether a 13-tile hand without a tile of each of two kinds is sets and a pair."""
    if hand[first] < 1 or hand[second] < (2 if first == second else 1):
        return False
    change(hand, keys, first, np.int64(-1))
    change(hand, keys, second, np.int64(-1))
    complete = regular_shanten(keys, n_melds + 1) == -1
    change(hand, keys, first, np.int64(1))
    change(hand, keys, second, np.int64(1))
    return complete


@inner
def rest_is_sets(hand: np.ndarray, keys: np.ndarray, n_melds: int) -> bool:
    """Whether a hand of 3n tiles is sets alone: whether it is complete with a pair of honours that it does not hold."""
    for kind in range(HONOUR, HONOUR + 7):
        if hand[kind] == 0:
            change(hand, keys, kind, np.int64(2))
            complete = regular_shanten(keys, n_melds) == -1
            change(hand, keys, kind, np.int64(-2))
            return complete
    return False


@inner
def run_shape(hand: np.ndarray, keys: np.ndarray, n_melds: int, waits: np.uint64, own: np.uint64) -> int:
    """RYANMEN, KANCHAN or PENCHAN if the wait is that of a part of a run, else MULTI; ``own``: see `shape_of`."""
    found = np.int64(MULTI)
    for suit in range(PIN, HONOUR, 9):
        for rank in range(8):
            first = suit + rank
            edge = rank == 0 or rank == 7
            low = bit(first - 1) if rank > 0 else np.uint64(0)
            high = bit(first + 2) if rank < 7 else np.uint64(0)
            if (low | high) & ~own == waits and rest_is_complete(hand, keys, n_melds, first, first + 1):
                found = min(found, np.int64(PENCHAN) if edge else np.int64(RYANMEN))
            if rank < 7 and bit(first + 1) & ~own == waits and rest_is_complete(hand, keys, n_melds, first, first + 2):
                found = min(found, np.int64(KANCHAN))
    return found


@inner
def is_shanpon(hand: np.ndarray, keys: np.ndarray, n_melds: int, waits: np.uint64, own: np.uint64) -> bool:
    """Whether the wait is that of two pairs."""
    for first in SANMA_KINDS:
        if hand[first] < 2 or not has_kind(waits | own, first):
            continue
        for second in SANMA_KINDS:
            if second <= first or hand[second] < 2 or (bit(first) | bit(second)) & ~own != waits:
                continue
            change(hand, keys, first, np.int64(-2))
            change(hand, keys, second, np.int64(-2))
            sets = rest_is_sets(hand, keys, n_melds + 1)
            change(hand, keys, first, np.int64(2))
            change(hand, keys, second, np.int64(2))
            if sets:
                return True
    return False


@inner
def shape_of(hand: np.ndarray, keys: np.ndarray, n_melds: int, waits: np.uint64, n_waits: int) -> int:
    """The shape of the wait of a 13-tile hand, int8[34], with its keys, int32[3]; see above.

    ``waits``: the ``n_waits`` kinds that complete it (`engine.shanten.waits`).
    """
    if n_waits > 2:
        return np.int64(MULTI)
    own = np.uint64(0)  # kinds of which the hand holds four
    for kind in SANMA_KINDS:
        if hand[kind] == 4:
            own |= bit(kind)
    shape = run_shape(hand, keys, n_melds, waits, own)
    if shape != MULTI:
        return shape
    if is_shanpon(hand, keys, n_melds, waits, own):
        return np.int64(SHANPON)
    return np.int64(TANKI) if n_waits == 1 else np.int64(MULTI)
