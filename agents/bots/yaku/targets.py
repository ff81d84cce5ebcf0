"""The library of hands to go for: hand types, their targets, and the sets and pairs that may complete a target.

A **hand type** is a way to a yaku. Its **targets** are tile sets that make it, such as 123p 456p 789p for ittsu; a type
without tiles of its own, such as tanyao, has one empty target. The rest, sets and a pair, is completed from the sets
and pairs that the type allows. Only hands that can be won with three players are here: there is no 2m-8m, and so no
sanshoku doujun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from engine.tiles import (
    DRAGONS,
    HONOUR,
    MAN,
    N_KINDS,
    PIN,
    SANMA_KINDS,
    SOU,
    TERMINALS_HONOURS,
)

Set = tuple[int, int, int]  # the kinds of a run or a triplet

RUNS: tuple[Set, ...] = tuple((low, low + 1, low + 2) for suit in (PIN, SOU) for low in range(suit, suit + 7))
TRIPLETS: tuple[Set, ...] = tuple((kind, kind, kind) for kind in SANMA_KINDS.tolist())
SETS = (*RUNS, *TRIPLETS)
N_RUNS, N_SETS = len(RUNS), len(SETS)
N_CHOSEN = 4  # sets in a hand

OUTSIDE = frozenset(TERMINALS_HONOURS.tolist())  # yaochuhai
TERMINALS = frozenset(kind for kind in OUTSIDE if kind < HONOUR)
WINDS = tuple(range(HONOUR, HONOUR + 3))  # north is not a value tile: it is set aside

Allows = Callable[[Set], bool]


class Target(NamedTuple):
    """Sets that the hand must hold, and what may complete it. A pair is given to `allows` as three of its kind."""

    sets: tuple[Set, ...] = ()
    allows: Allows = lambda tiles: True
    allows_pair: Allows = lambda tiles: True


class HandType(NamedTuple):
    """A way to a yaku.

    ``closed``: only without open melds. ``triplets``: how many concealed triplets the hand needs. ``plain_pair``: the
    pair must not be of value tiles.
    """

    name: str
    targets: tuple[Target, ...]
    closed: bool = False
    triplets: int = 0
    plain_pair: bool = False


def _triplet(tiles: Set) -> bool:
    return tiles[0] == tiles[2]


def _run(tiles: Set) -> bool:
    return not _triplet(tiles)


def _simple(tiles: Set) -> bool:
    return not OUTSIDE.intersection(tiles)


def _outside(tiles: Set) -> bool:
    return bool(OUTSIDE.intersection(tiles))


def _terminal(tiles: Set) -> bool:
    return bool(TERMINALS.intersection(tiles))


def _old_heads(tiles: Set) -> bool:
    return OUTSIDE.issuperset(tiles)


def _one_suit(first: int, honours: bool) -> Target:
    def allows(tiles: Set) -> bool:
        return all(first <= kind < first + 9 or (honours and kind >= HONOUR) for kind in tiles)

    return Target((), allows, allows)


def _triplets_of(*kinds: int) -> Target:
    return Target(tuple((kind, kind, kind) for kind in kinds))


def _little_dragons(pair: int) -> Target:
    triplets = _triplets_of(*(kind for kind in DRAGONS if kind != pair))
    return triplets._replace(allows_pair=lambda tiles: tiles[0] == pair)


# In the order in which ties are broken.
HAND_TYPES = (
    HandType("riichi", (Target(),), closed=True),
    HandType("yakuhai", tuple(_triplets_of(kind) for kind in (*DRAGONS, *WINDS))),
    HandType("tanyao", (Target((), _simple, _simple),)),
    HandType("pinfu", (Target((), _run),), closed=True, plain_pair=True),
    HandType("honitsu", tuple(_one_suit(suit, honours=True) for suit in (MAN, PIN, SOU))),
    HandType("chinitsu", tuple(_one_suit(suit, honours=False) for suit in (PIN, SOU))),
    HandType("chiitoitsu", (), closed=True),  # seven pairs: see `search`
    HandType("toitoi", (Target((), _triplet),)),
    HandType("sanankou", (Target(),), triplets=3),
    HandType("iipeikou", tuple(Target((run, run)) for run in RUNS), closed=True),
    HandType("ittsu", tuple(Target(tuple(RUNS[first : first + 7 : 3])) for first in (0, 7))),
    HandType("chanta", (Target((), _outside, _outside),)),
    HandType("junchan", (Target((), _terminal, _terminal),)),
    HandType("honroutou", (Target((), _old_heads, _old_heads),)),
    HandType("sanshoku doukou", tuple(_triplets_of(MAN + rank, PIN + rank, SOU + rank) for rank in (0, 8))),
    HandType("shousangen", tuple(map(_little_dragons, DRAGONS))),
    HandType("kokushi", (), closed=True),  # thirteen orphans: see `search`
)  # fmt: skip
NAMES = tuple(hand_type.name for hand_type in HAND_TYPES)
N_TYPES = len(HAND_TYPES)
CHIITOITSU, KOKUSHI, PINFU = (NAMES.index(name) for name in ("chiitoitsu", "kokushi", "pinfu"))


def _rows() -> Iterator[tuple[int, int, int, list[int], int, bool, bool]]:
    for number, hand_type in enumerate(HAND_TYPES):
        for target in hand_type.targets:
            sets = sum(1 << index for index, tiles in enumerate(SETS) if target.allows(tiles))
            pairs = sum(1 << tiles[0] for tiles in TRIPLETS if target.allows_pair(tiles))
            needed = [SETS.index(tiles) for tiles in target.sets]
            yield number, sets, pairs, needed, hand_type.triplets, hand_type.closed, hand_type.plain_pair


_ROWS = list(_rows())
# The same for compiled code, a row for each target: int64[targets] and uint64[targets], NEEDED int64[targets, 3].
TYPE_OF = np.array([row[0] for row in _ROWS], dtype=np.int64)
ALLOWED_SETS = np.array([row[1] for row in _ROWS], dtype=np.uint64)  # bit masks of indices of SETS
ALLOWED_PAIRS = np.array([row[2] for row in _ROWS], dtype=np.uint64)  # bit masks of kinds
NEEDED = np.array([row[3] + [-1] * (3 - len(row[3])) for row in _ROWS], dtype=np.int64)  # indices of SETS, -1: none
CONCEALED_TRIPLETS = np.array([row[4] for row in _ROWS], dtype=np.int64)
CLOSED = np.array([row[5] for row in _ROWS], dtype=np.bool_)
PLAIN_PAIR = np.array([row[6] for row in _ROWS], dtype=np.bool_)
SET_TILES = np.array(SETS, dtype=np.int64)  # int64[N_SETS, 3]
TRIPLET_OF = np.full(N_KINDS, -1, dtype=np.int64)  # kind -> the index of its triplet in SETS
TRIPLET_OF[SANMA_KINDS] = np.arange(N_RUNS, N_SETS)
YAKUHAI = NAMES.index("yakuhai")
