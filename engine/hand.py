"""The concealed hand of a seat: counts by kind, red fives and shanten keys, always changed together."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.shanten import KEY_GROUP, KEY_WEIGHT
from engine.tiles import KIND_OF, N_KINDS, RED_INDEX, is_red

ONE = np.uint64(1)


@inner
def move(p: np.record, kind: int, count: int) -> None:
    """Add `count` tiles of `kind` to the hand of seat record `p` (negative: remove them), ignoring red fives.

    Meant for trial changes, which a second call undoes. For permanent changes use `add_tile`.
    """
    p.hand[kind] += count
    p.hand_keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind] * count


@inner
def add_tile(p: np.record, tile: int, count: int) -> None:
    """Add `count` of a tile37 to the hand of seat record `p` (negative: remove them)."""
    kind = KIND_OF[tile]
    move(p, kind, count)
    if is_red(tile):
        p.red[RED_INDEX[kind]] += count


@inner
def reds_held(p: np.record, kind: int) -> int:
    """Number of red fives of `kind` in the concealed hand."""
    return np.int64(p.red[RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else np.int64(0)


@inner
def kinds_held(p: np.record, least: int) -> np.uint64:
    """Bit mask of the kinds of which the concealed hand holds `least` tiles or more."""
    mask = np.uint64(0)
    for kind in range(N_KINDS):
        mask |= np.uint64(p.hand[kind] >= least) << np.uint64(kind)
    return mask


@inner
def in_river(p: np.record, kinds: np.uint64) -> bool:
    """Whether the seat has discarded one of `kinds` (bit mask): with a wait on them it is furiten."""
    return np.uint64(kinds) & np.uint64(p.discarded) != np.uint64(0)


@inner
def is_furiten(p: np.record) -> bool:
    """Whether the seat may not win by ron: for a discard of its own, or for a tile on which it has not won."""
    return p.temporary_furiten or p.riichi_furiten or in_river(p, p.waits)


@inner
def has_kind(mask: np.uint64, kind: int) -> bool:
    """Whether `kind` is in a bit mask of kinds."""
    return (np.uint64(mask) >> np.uint64(kind)) & ONE != np.uint64(0)
