"""Split concealed tiles into a pair, triplets and runs.

Tiles are represented in two ways, both one 64-bit integer:

* a **mask** has one bit per kind: a set of kinds;
* a **suit word** has four bits per rank, rank 1 in the lowest: the count of each rank.

Three players have runs in pin and sou only; 1m, 9m and the honours can only be pairs and triplets.

A suit word that consists of runs is ``0x111`` times the word that counts the runs by their lowest rank. So one division
finds the runs of a suit, or that it does not consist of runs; the search is only over which kinds are triplets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiling import inner
from engine.tiles import HAKU, HONOUR, MAN, N_KINDS, PIN, SOU

RANKS = 0x1FF  # the nine ranks of one suit, as a mask
MAN_MASK, PIN_MASK, SOU_MASK = RANKS << MAN, RANKS << PIN, RANKS << SOU
HONOURS_MASK = 0x7F << HONOUR
DRAGONS_MASK = 0x7 << HAKU
NO_RUNS_MASK = MAN_MASK | HONOURS_MASK
ONE_RUN = 0x111
NOT_RUNS = -1

# The run words of pin and sou in one integer: pin in the low 28 bits, sou above.
SOU_RUNS_SHIFT = 28
EACH_RUN = 0x11111111111111  # lowest bit of each of the fourteen counts

# mask of ranks -> suit word with one tile of each
SPREAD = np.array(
    [sum(1 << 4 * rank for rank in range(9) if ranks >> rank & 1) for ranks in range(512)], dtype=np.int64
)


class Concealed(NamedTuple):
    """The concealed tiles of a hand: masks of the kinds held at least once to four times, and two suit words."""

    present: int
    paired: int
    tripled: int
    quadrupled: int
    pin: int
    sou: int


@inner
def popcount(mask: int) -> int:
    """Number of bits set; fast for masks with few bits."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@inner
def concealed_tiles(hand: np.ndarray) -> Concealed:
    """Masks and suit words of an int8[34] hand."""
    present = paired = tripled = quadrupled = pin = sou = np.int64(0)
    for kind in range(N_KINDS):
        count = np.int64(hand[kind])
        present |= np.int64(count >= 1) << kind
        paired |= np.int64(count >= 2) << kind
        tripled |= np.int64(count >= 3) << kind
        quadrupled |= np.int64(count >= 4) << kind
    for rank in range(9):
        pin |= np.int64(hand[PIN + rank]) << 4 * rank
        sou |= np.int64(hand[SOU + rank]) << 4 * rank
    return Concealed(present, paired, tripled, quadrupled, pin, sou)


@inner
def runs_of(word: int) -> int:
    """The number of runs that start at each rank (four bits each) if the suit word consists of runs, else NOT_RUNS."""
    runs = word // ONE_RUN
    # No count above four: then three neighbours cannot carry, and the product is the suit, rank by rank.
    if runs * ONE_RUN != word or (runs | runs + 0x3333333) & 0x8888888:
        return NOT_RUNS
    return runs


@inner
def possible_pairs(tiles: Concealed) -> int:
    """Mask of the kinds that may be the pair; 0 when the hand cannot be sets and a pair."""
    pair_outside_runs = tiles.paired & ~tiles.tripled & NO_RUNS_MASK
    if (tiles.present & ~tiles.paired | tiles.quadrupled) & NO_RUNS_MASK or pair_outside_runs & pair_outside_runs - 1:
        return 0
    # 16 is 1 modulo 3: a suit word and its number of tiles leave the same remainder.
    pin_left, sou_left = tiles.pin % 3, tiles.sou % 3
    if pin_left + sou_left == 0:
        return pair_outside_runs
    if pair_outside_runs == 0 and pin_left + sou_left == 2 and pin_left != sou_left:
        return tiles.paired & (PIN_MASK if pin_left else SOU_MASK)
    return 0


@inner
def next_split(word: int, candidates: int, chosen: int) -> int:
    """The first subset of `candidates`, from `chosen` down, whose triplets leave only runs in the suit `word`; or -1.

    `candidates`: ranks held at least three times. Continue with ``next_subset(candidates, found)``, which may be -1.
    """
    while chosen >= 0:
        if runs_of(word - 3 * SPREAD[chosen]) != NOT_RUNS:
            return chosen
        chosen = next_subset(candidates, chosen)
    return chosen


@inner
def next_subset(candidates: int, chosen: int) -> int:
    """The next smaller subset of `candidates` after `chosen`, -1 after the empty one."""
    return (chosen - 1) & candidates if chosen else -1
