"""Shanten, waits and ukeire against the definition and two other libraries.

Neither library differs from the exact definition on any hand tried here, so nothing is left out of the comparisons.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mahjong.shanten import Shanten
from riichienv import calculate_shanten_3p

from engine import shanten_tables
from engine.compiling import kernel
from engine.shanten import (
    KEY_GROUP,
    KEY_WEIGHT,
    discards_keeping_shanten,
    hand_keys,
    regular_shanten,
    seven_pairs_shanten,
    shanten,
    shanten_batch,
    shanten_of,
    thirteen_orphans_shanten,
    ukeire_kinds,
    waits,
)
from engine.tiles import N_KINDS, SANMA_KINDS

PIN, SOU = np.arange(9, 18), np.arange(18, 27)
NO_RUNS = np.array([0, 8, *range(27, 34)])
# What hands are drawn from: the fewer kinds, the denser the hand.
POOLS = {
    "all kinds": SANMA_KINDS,
    "two suits": np.concatenate([PIN, SOU]),
    "one suit": PIN,
    "one suit and honours": np.concatenate([SOU, [27, 28, 29]]),
    "1p-5p": PIN[:5],
    "three kinds of each group": np.concatenate([PIN[:3], SOU[-3:], NO_RUNS[:3]]),
    "no runs": NO_RUNS,
    "four kinds without runs": NO_RUNS[:4],
}
SIZES = [(n_melds, 13 + drawn - 3 * n_melds) for n_melds in range(5) for drawn in (0, 1)]


@kernel("int8[:, ::1], int8[::1]")
def all_shanten(hands: Any, n_melds: Any) -> Any:
    """int64[n, 4]: the shanten, and that of each form (seven pairs and kokushi as if there were no melds)."""
    found = np.empty((len(hands), 4), dtype=np.int64)
    keys = np.zeros(3, dtype=np.int32)
    for i in range(len(hands)):
        hand_keys(hands[i], keys)
        melds = np.int64(n_melds[i])
        found[i, 0] = shanten(keys, melds)
        found[i, 1] = regular_shanten(keys, melds)
        found[i, 2] = seven_pairs_shanten(keys)
        found[i, 3] = thirteen_orphans_shanten(keys)
    return found


@kernel("int8[::1], int32[::1]")
def fill_keys(hand: Any, keys: Any) -> None:
    hand_keys(hand, keys)


@kernel("int8[:, ::1], int8[::1]")
def all_masks(hands: Any, n_melds: Any) -> Any:
    """uint64[n, 3]: waits, ukeire_kinds, discards_keeping_shanten."""
    found = np.empty((len(hands), 3), dtype=np.uint64)
    keys = np.zeros(3, dtype=np.int32)
    for i in range(len(hands)):
        hand_keys(hands[i], keys)
        melds = np.int64(n_melds[i])
        found[i, 0] = waits(hands[i], keys, melds)
        found[i, 1] = ukeire_kinds(hands[i], keys, melds)
        found[i, 2] = discards_keeping_shanten(hands[i], keys, melds)
    return found


def counted(kinds: Any) -> np.ndarray:
    """int8[n, 34] of kinds given as int[n, size]."""
    kinds = np.asarray(kinds)
    hands = np.zeros((len(kinds), N_KINDS), dtype=np.int8)
    np.add.at(hands, (np.arange(len(kinds))[:, None], kinds), 1)
    return hands


def drawn_hands(rng: np.random.Generator, pool: np.ndarray, size: int, n: int) -> np.ndarray:
    """int8[n, 34]: hands of `size` tiles dealt from four tiles of each kind of `pool`."""
    tiles = np.repeat(pool, 4)
    return counted(tiles[rng.random((n, len(tiles))).argsort(axis=1)[:, :size]])


@cache
def all_melds() -> list[tuple[int, ...]]:
    runs = [(first, first + 1, first + 2) for suit in (PIN, SOU) for first in suit[:7].tolist()]
    return runs + [(kind, kind, kind) for kind in SANMA_KINDS.tolist()]


def complete_hands(rng: np.random.Generator, n_melds: int, n: int) -> np.ndarray:
    """int8[n, 34]: complete hands of melds and a pair, melds chosen evenly."""
    melds, found = all_melds(), []
    while len(found) < n:
        kinds = [kind for i in rng.integers(len(melds), size=4 - n_melds) for kind in melds[i]]
        kinds += [rng.choice(SANMA_KINDS)] * 2
        if max(kinds.count(kind) for kind in kinds) <= 4:
            found.append(kinds)
    return counted(found)


def spoiled(rng: np.random.Generator, hands: np.ndarray, n_changes: int) -> np.ndarray:
    """The same hands with `n_changes` random tiles of each replaced."""
    result = hands.copy()
    for hand in result:
        for _ in range(n_changes):
            hand[rng.choice(np.repeat(np.arange(N_KINDS), hand))] -= 1
            hand[rng.choice([kind for kind in SANMA_KINDS if hand[kind] < 4])] += 1
    return result


def varied_hands(rng: np.random.Generator, n: int) -> Iterator[tuple[int, np.ndarray]]:
    """Pairs (number of melds, hands), about n hands in all: of every size, sparse, dense and nearly complete."""
    share = n // (len(SIZES) * (len(POOLS) + 1)) + 1
    for n_melds, size in SIZES:
        for pool in POOLS.values():
            yield n_melds, drawn_hands(rng, pool, size, share)
    for n_melds in range(5):
        complete = complete_hands(rng, n_melds, share)
        for n_changes in (0, 1, 2, 3):
            yield n_melds, spoiled(rng, complete, n_changes)


def same(n_melds: int, hands: np.ndarray) -> np.ndarray:
    """int8[n]: the same number of melds for each hand."""
    return np.full(len(hands), n_melds, dtype=np.int8)


def tiles136(hand: np.ndarray) -> list[int]:
    return [4 * kind + copy for kind in hand.nonzero()[0].tolist() for copy in range(hand[kind])]


def fewest_lacking(hands: np.ndarray, targets: np.ndarray) -> list[int]:
    """The definition: the tiles each hand lacks to the nearest possible target."""
    targets = np.unique(targets[targets.max(axis=1) <= 4], axis=0)
    return [int(np.maximum(targets - hand, 0).sum(axis=1).min()) for hand in hands]


def bits(mask: Any) -> set[int]:
    return {kind for kind in range(64) if int(mask) >> kind & 1}


def changed(hand: np.ndarray, step: int) -> dict[int, int]:
    """Kind -> shanten by riichienv with a tile of it added (`step` 1) or removed (-1), for the kinds possible."""
    result = {}
    for kind in SANMA_KINDS.tolist():
        if 0 <= hand[kind] + step <= 4:
            other = hand.copy()
            other[kind] += step
            result[kind] = calculate_shanten_3p(tiles136(other))
    return result


@pytest.mark.long
def test_table_file_is_what_the_generator_makes() -> None:
    generated = shanten_tables.generate()
    with np.load(shanten_tables.FILE) as shipped:
        assert sorted(shipped.files) == sorted(generated)
        for name, table in generated.items():
            assert shipped[name].dtype == table.dtype
            np.testing.assert_array_equal(shipped[name], table, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [True, False])
def test_cost_rows_are_the_cheapest_of_all_targets(runs: bool) -> None:
    rng = np.random.default_rng(1)
    keys = rng.integers(5**9, size=400)
    hands = (keys[:, None] // 5 ** np.arange(9) % 5).astype(np.int8)
    rows = shanten_tables.cost_rows(runs)[keys]
    eye = np.eye(9, dtype=np.int8)
    melds = [*(3 * eye), *(eye[:7] + eye[1:8] + eye[2:] if runs else [])]
    for n_melds in range(5):
        chosen = [sum(some, 0 * eye[0]) for some in itertools.combinations_with_replacement(melds, n_melds)]
        for n_pairs, pairs in enumerate((0 * eye[:1], 2 * eye)):
            assert rows[:, n_melds, n_pairs].tolist() == fewest_lacking(
                hands, np.array([target + pair for target in chosen for pair in pairs])
            )


@pytest.mark.slow
@pytest.mark.parametrize("n_melds", [2, 3, 4])
def test_regular_shanten_is_the_distance_to_the_nearest_complete_hand(n_melds: int) -> None:
    pairs = [(kind, kind) for kind in SANMA_KINDS.tolist()]
    sets = itertools.combinations_with_replacement(all_melds(), 4 - n_melds)
    targets = counted([sum(melds, pair) for melds in sets for pair in pairs])
    rng = np.random.default_rng(2)
    for size in (13 - 3 * n_melds, 14 - 3 * n_melds):
        for name, pool in POOLS.items():
            hands = drawn_hands(rng, pool, size, 25)
            assert shanten_batch(hands, same(n_melds, hands)).tolist() == [
                n - 1 for n in fewest_lacking(hands, targets)
            ], name


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 4, 5, 7, 8, 10, 11, 13, 14])
def test_every_hand_of_pinzu_alone_agrees_with_riichienv(size: int) -> None:
    counts = np.indices((5,) * 9, dtype=np.int8).reshape(9, -1).T
    counts = counts[counts.sum(axis=1) == size]
    hands = np.zeros((len(counts), N_KINDS), dtype=np.int8)
    hands[:, PIN] = counts
    ours = shanten_batch(hands, same((14 - size) // 3, hands)).tolist()
    assert ours == [calculate_shanten_3p(tiles136(hand)) for hand in hands]


def test_shanten_of_each_form_agrees_with_mahjong(n_hands: int) -> None:
    rng = np.random.default_rng(4)
    for n_melds, hands in varied_hands(rng, n_hands):
        ours = all_shanten(hands, same(n_melds, hands))
        for hand, found in zip(hands.tolist(), ours.tolist()):
            regular = Shanten.calculate_shanten_for_regular_hand(hand, is_three_player=True)
            seven_pairs = Shanten.calculate_shanten_for_chiitoitsu_hand(hand)
            orphans = Shanten.calculate_shanten_for_kokushi_hand(hand)
            lowest = regular if n_melds else min(regular, seven_pairs, orphans)
            assert found == [lowest, regular, seven_pairs, orphans]


def test_sets_of_kinds_agree_with_the_shanten_after_each_change() -> None:
    rng = np.random.default_rng(5)
    for n_melds, hands in varied_hands(rng, 4_000):
        melds = same(n_melds, hands)
        for hand, now, masks in zip(hands, shanten_batch(hands, melds).tolist(), all_masks(hands, melds)):
            if hand.sum() == 13 - 3 * n_melds:
                drawn = changed(hand, 1)
                useful = {kind for kind, after in drawn.items() if after < now}
                assert bits(masks[1]) == useful
                assert bits(masks[0]) == (useful if now == 0 else set())
            else:
                cut = changed(hand, -1)
                assert bits(masks[2]) == {kind for kind, after in cut.items() if after == min(cut.values())}


@given(st.lists(st.sampled_from(np.repeat(SANMA_KINDS, 4).tolist()), max_size=14))
def test_keys_follow_the_hand_tile_by_tile(kinds: list[int]) -> None:
    hand, keys, kept = np.zeros(N_KINDS, dtype=np.int8), np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32)
    for kind in kinds:
        if hand[kind] < 4:
            hand[kind] += 1
            kept[KEY_GROUP[kind]] += KEY_WEIGHT[kind]
    fill_keys(hand, keys)
    assert keys.tolist() == kept.tolist()
    digits = {kind: int(keys[KEY_GROUP[kind]]) // int(KEY_WEIGHT[kind]) % 5 for kind in SANMA_KINDS.tolist()}
    assert digits == {kind: int(hand[kind]) for kind in SANMA_KINDS.tolist()}


@pytest.mark.parametrize(
    ("kinds", "n_melds"),
    [
        ([0] * 5 + [9] * 4 + [10] * 4, 0),  # five of a kind
        ([1], 4),  # 2m
        ([0, 0, 8], 4),
        ([0] * 3 + [8] * 3 + [9] * 3, 0),
        ([], 5),
        ([0], -1),
    ],
)
def test_impossible_hands_are_refused(kinds: list[int], n_melds: int) -> None:
    with pytest.raises(ValueError, match=r"counts|melds"):
        shanten_of(np.bincount(kinds, minlength=N_KINDS).tolist(), n_melds)


def test_counts_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="34 counts"):
        shanten_of([1] * 13)
