"""The 12 symmetries of the game: rotate the dragons (3), swap pinzu and souzu (2), swap 1m and 9m (2).

Each is a permutation of tiles that preserves the rules, including which dora an indicator shows, except for ryuuiisou:
its tiles stay the same in 2 of the 12 only. Applied to the tokens and labels of a sample it gives a variant of it, for
data augmentation and test-time augmentation.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from agents.bert.encoding import TEHAI, Encoded
from agents.bert.labels import N_LABELS
from agents.bert.vocabulary import CLASSES, INDEX_OF_TILE, N_TOKENS, TILE_ORDER
from engine.compiling import inner, kernel
from engine.tiles import DRAGONS, KIND_1M, KIND_9M, N_KINDS, N_TILES, PIN, RED_5P, RED_5S, SOU

RANKS = 9


def _tile_maps() -> np.ndarray:
    """int64[N_VARIANTS, N_TILES]: tile37 -> tile37; variant 0 is the identity."""
    maps = []
    for turn, swap_suits, swap_terminals in product(range(3), range(2), range(2)):
        tiles = np.arange(N_TILES)
        tiles[list(DRAGONS)] = np.roll(DRAGONS, -turn)
        if swap_suits:
            tiles[PIN : PIN + RANKS], tiles[SOU : SOU + RANKS] = (
                np.arange(SOU, SOU + RANKS),
                np.arange(PIN, PIN + RANKS),
            )
            tiles[RED_5P], tiles[RED_5S] = RED_5S, RED_5P
        if swap_terminals:
            tiles[KIND_1M], tiles[KIND_9M] = KIND_9M, KIND_1M
        maps.append(tiles)
    return np.array(maps)


TILE_MAPS = _tile_maps()
N_VARIANTS = len(TILE_MAPS)
SUITS_SWAPPED = 2  # the variant that swaps the suits only
_INDEX_MAPS = INDEX_OF_TILE[TILE_MAPS[:, TILE_ORDER]]  # the same for indices in TILE_ORDER


def _token_maps() -> np.ndarray:
    maps = np.tile(np.arange(N_TOKENS), (N_VARIANTS, 1))
    for each in CLASSES:
        by_kind = each.size == N_KINDS
        block = TILE_MAPS[:, :N_KINDS] if by_kind else _INDEX_MAPS
        for first in range(each.offset, each.offset + each.size, N_KINDS if by_kind else N_TILES):
            if each.size in (N_KINDS, N_TILES, 2 * N_TILES):
                maps[:, first : first + block.shape[1]] = first + block
    return maps.astype(np.uint16)


TOKEN_MAPS = _token_maps()  # uint16[N_VARIANTS, N_TOKENS]: token -> token
LABEL_MAPS = np.tile(np.arange(N_LABELS), (N_VARIANTS, 1))  # int64[N_VARIANTS, N_LABELS]: label -> label
LABEL_MAPS[:, :N_TILES] = _INDEX_MAPS


@inner
def sort_hand(out: np.ndarray, n: int) -> None:
    """Sort the hand among the first `n` tokens again, after its tiles have been permuted."""
    for i in range(1, n):
        token = out[i]
        k = i
        while (
            k > 0 and TEHAI <= token < TEHAI + N_TILES and TEHAI <= out[k - 1] < TEHAI + N_TILES and out[k - 1] > token
        ):
            out[k] = out[k - 1]
            k -= 1
        out[k] = token


@kernel("uint16[:, ::1], int64[::1]")
def _sort_all(input_ids: np.ndarray, n_state: np.ndarray) -> None:
    for k in range(len(input_ids)):
        sort_hand(input_ids[k], n_state[k])


def variant_of(encoded: Encoded, variant: int) -> Encoded:
    """The sequences under symmetry number `variant`, 0 … N_VARIANTS - 1."""
    input_ids = TOKEN_MAPS[variant][encoded.input_ids]
    _sort_all(input_ids, encoded.n_state)
    return encoded._replace(input_ids=input_ids)
