"""Shanten, waits and ukeire of a three-player hand, looked up in the tables of `engine/shanten_tables.py`.

Shanten is exact: the smallest number of tiles that the concealed hand must draw to be complete, minus one, over all
complete hands with at most four tiles of each kind. A hand that could only be completed by a fifth tile of a kind is
not tenpai. Melds and visible tiles are not taken into account.

A hand has three **keys**, one for each group of nine kinds: pinzu, souzu, and the kinds without runs (1m, 9m and the
honours; 2m-8m do not occur). Adding or removing a tile changes one key by the weight of its kind:
``keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind]``.

In all functions `hand` is int8[34] (concealed tiles by kind, at most four each), `keys` int32[3] its keys, `n_melds`
the number of melds (0-4), kans included. With m melds the hand has 13-3m or 14-3m tiles. A set of kinds is a uint64
bit mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.compiling import inner, kernel
from engine.shanten_tables import (
    FIELD_BITS,
    FILE,
    KINDS_AT,
    LOW,
    ORPHAN_PAIRS_AT,
    ORPHANS_AT,
    PAIRS_AT,
    ROW_BITS,
)
from engine.tiles import HONOUR, KIND_1M, KIND_9M, N_KINDS, N_SANMA, PIN, SANMA_KINDS, SOU

Keys: TypeAlias = NDArray[np.int32]
Hand: TypeAlias = NDArray[np.int8]

N_GROUPS = 3
NO_RUNS = 2  # the group of kinds without runs
_GROUPS = (range(PIN, PIN + 9), range(SOU, SOU + 9), (KIND_1M, KIND_9M, *range(HONOUR, N_KINDS)))

KEY_GROUP = np.full(N_KINDS, NO_RUNS, dtype=np.int64)
KEY_WEIGHT = np.zeros(N_KINDS, dtype=np.int64)
for _group, _kinds in enumerate(_GROUPS):
    for _rank, _kind in enumerate(_kinds):
        KEY_GROUP[_kind] = _group
        KEY_WEIGHT[_kind] = 5**_rank

with np.load(FILE) as _tables:
    _LOW_HALF, _HIGH_HALF = _tables["low"], _tables["high"]
    _ROW, _JOINT, _SHANTEN = _tables["row"], _tables["joint"], _tables["shanten"]

_ROW_MASK = (1 << ROW_BITS) - 1
_FIELD_MASK = (1 << FIELD_BITS) - 1


@inner
def hand_keys(hand: Hand, keys: Keys) -> None:
    """Compute the `keys` of `hand`."""
    keys[:] = 0
    for kind in SANMA_KINDS:
        keys[KEY_GROUP[kind]] += KEY_WEIGHT[kind] * hand[kind]


@inner
def _profile(group: int, key: int) -> int:
    """Packed profile of one group: the index of its cost row, and the counts for chiitoitsu and kokushi."""
    table = group // NO_RUNS  # 0 with runs, 1 without
    positive = np.uint32(key)  # saves the compiled code a branch for negative indices
    return _LOW_HALF[table, positive % LOW] + _HIGH_HALF[table, positive // LOW]


@inner
def _regular(pin: int, sou: int, others: int, n_melds: int) -> int:
    """Shanten for four sets and a pair, from the profiles of the groups."""
    joint = _JOINT[_ROW[pin & _ROW_MASK], _ROW[sou & _ROW_MASK]]
    return np.int64(_SHANTEN[n_melds, joint, _ROW[others & _ROW_MASK]])


@inner
def _seven_pairs(total: int) -> int:
    """Shanten for chiitoitsu, from the sum of the profiles."""
    pairs = (total >> PAIRS_AT) & _FIELD_MASK
    kinds = (total >> KINDS_AT) & _FIELD_MASK
    return 6 - pairs + max(7 - kinds, 0)


@inner
def _thirteen_orphans(total: int) -> int:
    """Shanten for kokushi, from the sum of the profiles."""
    orphans = (total >> ORPHANS_AT) & _FIELD_MASK
    pairs = (total >> ORPHAN_PAIRS_AT) & _FIELD_MASK
    return 13 - orphans - min(pairs, 1)


@inner
def _lowest(pin: int, sou: int, others: int, n_melds: int) -> int:
    """Lowest shanten of the three forms, from the profiles of the groups."""
    regular = _regular(pin, sou, others, n_melds)
    if n_melds > 0:
        return regular
    total = pin + sou + others
    return min(regular, _seven_pairs(total), _thirteen_orphans(total))


@inner
def _with_group(group: int, profile: int, pin: int, sou: int, others: int, n_melds: int) -> int:
    """Lowest shanten with `profile` in place of that of `group`."""
    pin = profile if group == 0 else pin
    sou = profile if group == 1 else sou
    others = profile if group == NO_RUNS else others
    return _lowest(pin, sou, others, n_melds)


@inner
def _kinds_reaching(hand: Hand, keys: Keys, n_melds: int, step: int, goal: int) -> int:
    """Return the kinds for which adding (`step` 1) or removing (-1) a tile makes the shanten at most `goal`."""
    pin, sou, others = _profile(0, keys[0]), _profile(1, keys[1]), _profile(2, keys[2])
    reaching = np.uint64(0)
    for kind in SANMA_KINDS:
        if not 0 <= hand[kind] + step <= 4:
            continue
        group = KEY_GROUP[kind]
        changed = _profile(group, keys[group] + step * KEY_WEIGHT[kind])
        if group == 0:  # branches are faster here than `_with_group`
            after = _lowest(changed, sou, others, n_melds)
        elif group == 1:
            after = _lowest(pin, changed, others, n_melds)
        else:
            after = _lowest(pin, sou, changed, n_melds)
        if after <= goal:
            reaching |= np.uint64(1) << np.uint64(kind)
    return reaching


@inner
def shanten(keys: Keys, n_melds: int) -> int:
    """Lowest shanten of the three forms (-1 complete, 0 tenpai); with melds only four sets and a pair count."""
    return _lowest(_profile(0, keys[0]), _profile(1, keys[1]), _profile(2, keys[2]), n_melds)


@inner
def regular_shanten(keys: Keys, n_melds: int) -> int:
    """Shanten for four sets and a pair."""
    return _regular(_profile(0, keys[0]), _profile(1, keys[1]), _profile(2, keys[2]), n_melds)


@inner
def seven_pairs_shanten(keys: Keys) -> int:
    """Shanten for chiitoitsu of a hand without melds."""
    return _seven_pairs(_profile(0, keys[0]) + _profile(1, keys[1]) + _profile(2, keys[2]))


@inner
def thirteen_orphans_shanten(keys: Keys) -> int:
    """Shanten for kokushi of a hand without melds."""
    return _thirteen_orphans(_profile(0, keys[0]) + _profile(1, keys[1]) + _profile(2, keys[2]))


@inner
def waits(hand: Hand, keys: Keys, n_melds: int) -> int:
    """Return the kinds that complete a (13-3m)-tile hand, with or without a yaku; 0 if it is not tenpai.

    A kind of which the hand holds four is not a wait.
    """
    if shanten(keys, n_melds) != 0:
        return np.uint64(0)
    return _kinds_reaching(hand, keys, n_melds, np.int64(1), np.int64(-1))


@inner
def ukeire_kinds(hand: Hand, keys: Keys, n_melds: int) -> int:
    """Ukeire: kinds whose draw lowers the shanten of a (13-3m)-tile hand, without those of which it holds four."""
    return _kinds_reaching(hand, keys, n_melds, np.int64(1), shanten(keys, n_melds) - 1)


@inner
def discards_keeping_shanten(hand: Hand, keys: Keys, n_melds: int) -> int:
    """Return the kinds of a (14-3m)-tile hand whose discard leaves the shanten as low as possible.

    The shanten after such a discard is that of the hand itself, or 0 for a complete hand.
    """
    return _kinds_reaching(hand, keys, n_melds, np.int64(-1), max(shanten(keys, n_melds), np.int64(0)))


@inner
def _count_pairs(
    keys: Keys, n_melds: int, left: np.ndarray, profiles: np.ndarray, among: np.ndarray, goal: int, tiles: np.ndarray
) -> None:
    """For every pair of draws that makes the shanten at most `goal`, add the tiles of one draw to `tiles` of the other.

    Both draws are of the kinds `among` int64[:], ascending indices into SANMA_KINDS. For each of these kinds,
    `profiles` int64[N_SANMA] holds the profile of its group with one more tile of the kind. `keys`, `left` and `tiles`
    are those of `second_draws`.
    """
    pin, sou, others = _profile(0, keys[0]), _profile(1, keys[1]), _profile(2, keys[2])
    for a in range(len(among)):
        i = among[a]
        group = KEY_GROUP[SANMA_KINDS[i]]
        key = keys[group] + KEY_WEIGHT[SANMA_KINDS[i]]
        with_pin = profiles[i] if group == 0 else pin
        with_sou = profiles[i] if group == 1 else sou
        with_others = profiles[i] if group == NO_RUNS else others
        for b in range(a if left[i] > 1 else a + 1, len(among)):
            j = among[b]
            other_group = KEY_GROUP[SANMA_KINDS[j]]
            profile = _profile(group, key + KEY_WEIGHT[SANMA_KINDS[j]]) if other_group == group else profiles[j]
            reaches = np.int64(_with_group(other_group, profile, with_pin, with_sou, with_others, n_melds) <= goal)
            tiles[i] += reaches * (left[j] - (i == j))  # without a branch, which would be hard to predict
            tiles[j] += reaches * left[i] * (i != j)


@inner
def second_draws(keys: Keys, n_melds: int, left: np.ndarray, tiles: np.ndarray) -> int:
    """Return the ukeire of a (13-3m)-tile hand (only kinds that are left), and count what each draw makes useful.

    `left` int64[N_SANMA]: how many tiles of each of SANMA_KINDS can be drawn; together with those in the hand at most
    four. Adds to `tiles` int64[N_SANMA], for each kind drawn: if it belongs to the ukeire, the tiles that lower the
    shanten once more; otherwise the tiles that lower it now and did not before (tegawari). Any tile may be discarded
    between the two draws; the tiles of all discards are counted together.
    """
    pin, sou, others = _profile(0, keys[0]), _profile(1, keys[1]), _profile(2, keys[2])
    now = _lowest(pin, sou, others, n_melds)
    profiles = np.empty(N_SANMA, dtype=np.int64)
    useful, useless = np.empty(N_SANMA, dtype=np.int64), np.empty(N_SANMA, dtype=np.int64)
    n_useful = n_useless = np.int64(0)
    ukeire = np.uint64(0)
    for i in range(N_SANMA):
        if left[i] == 0:
            continue
        kind = SANMA_KINDS[i]
        group = KEY_GROUP[kind]
        profiles[i] = _profile(group, keys[group] + KEY_WEIGHT[kind])
        if _with_group(group, profiles[i], pin, sou, others, n_melds) < now:
            useful[n_useful] = i
            n_useful += 1
            ukeire |= np.uint64(1) << np.uint64(kind)
        else:
            useless[n_useless] = i
            n_useless += 1
    # Two draws lower the shanten by two only if each of them lowers it by one, and not below -1.
    if now > 0:
        _count_pairs(keys, n_melds, left, profiles, useful[:n_useful], now - 2, tiles)
    if now >= 0:
        _count_pairs(keys, n_melds, left, profiles, useless[:n_useless], now - 1, tiles)
    return ukeire


@kernel("int8[:, ::1], int8[::1]")
def shanten_batch(hands: Hand, n_melds: Hand) -> Hand:
    """Shanten of many hands: `hands` int8[n, 34] and `n_melds` int8[n] -> int8[n].

    The arguments are not checked: counts must be at most four, without 2m-8m, and there may be at most four melds.
    """
    keys = np.zeros(N_GROUPS, dtype=np.int32)
    result = np.empty(len(hands), dtype=np.int8)
    for i in range(len(hands)):
        hand_keys(hands[i], keys)
        result[i] = shanten(keys, np.int64(n_melds[i]))
    return result


def shanten_of(hand: Sequence[int], n_melds: int = 0) -> int:
    """Shanten of one hand given as 34 counts by kind. Raises ValueError for a hand that three players cannot hold."""
    counts = np.asarray(hand, dtype=np.int64)
    if counts.shape != (N_KINDS,) or counts.min() < 0 or counts.max() > 4 or counts[KEY_WEIGHT == 0].any():
        raise ValueError(f"not 34 counts of 0-4 tiles without 2m-8m: {list(hand)}")
    if not 0 <= n_melds <= 4 or counts.sum() not in (13 - 3 * n_melds, 14 - 3 * n_melds):
        raise ValueError(f"{counts.sum()} concealed tiles do not go with {n_melds} melds")
    return int(shanten_batch(counts[None].astype(np.int8), np.array([n_melds], dtype=np.int8))[0])
