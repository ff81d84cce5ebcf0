"""Second draws against their definition: the shanten of the hand with every pair of tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiling import kernel
from engine.shanten import hand_keys, second_draws, shanten_batch
from engine.tiles import N_SANMA, SANMA_KINDS
from tests.engine.test_shanten import bits, same, varied_hands
from tests.support.hands import with_tiles


@kernel("int8[:, ::1], int8[::1], int64[:, ::1]")
def all_second_draws(hands: Any, n_melds: Any, left: Any) -> Any:
    """int64[n, 1 + N_SANMA]: the ukeire of each hand, then the tiles of its second draws."""
    found = np.zeros((len(hands), 1 + len(SANMA_KINDS)), dtype=np.int64)
    keys = np.zeros(3, dtype=np.int32)
    for i in range(len(hands)):
        hand_keys(hands[i], keys)
        found[i, 0] = second_draws(keys, np.int64(n_melds[i]), left[i], found[i, 1:])
    return found


def by_definition(hand: np.ndarray, n_melds: int, left: list[int]) -> tuple[set[int], list[int]]:
    """The ukeire; and for each kind drawn first, the tiles that lower the shanten then, and did not unless it did."""
    drawn = [i for i in range(N_SANMA) if left[i] > 0]
    pairs = [(i, j) for i in drawn for j in drawn if left[j] > (i == j)]
    hands = [hand, *(with_tiles(hand, SANMA_KINDS[i]) for i in drawn)]
    hands += [with_tiles(hand, SANMA_KINDS[i], SANMA_KINDS[j]) for i, j in pairs]
    now, *found = shanten_batch(np.array(hands), same(n_melds, np.array(hands))).tolist()
    after_one, after_two = dict(zip(drawn, found)), found[len(drawn) :]
    tiles = [0] * N_SANMA
    for (i, j), after in zip(pairs, after_two, strict=True):
        alone = after_one[j] < now <= after_one[i]  # the second draw lowers it without the first
        if after < min(after_one[i], now) and not alone:
            tiles[i] += left[j] - (i == j)
    return {int(SANMA_KINDS[i]) for i in drawn if after_one[i] < now}, tiles


def test_second_draws_are_those_that_lower_the_shanten_then() -> None:
    rng = np.random.default_rng(7)
    compared = 0
    for n_melds, hands in varied_hands(rng, 250):
        left = rng.integers(0, 5 - hands[:, SANMA_KINDS].astype(np.int64))
        for hand, counts, found in zip(hands, left, all_second_draws(hands, same(n_melds, hands), left)):
            ukeire, tiles = by_definition(hand, n_melds, counts.tolist())
            assert bits(found[0]) == ukeire
            assert found[1:].tolist() == tiles
            compared += any(tiles)
    assert compared > 100
