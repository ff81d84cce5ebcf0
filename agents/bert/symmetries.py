"""The 12 variants of every position that play the same: three turns of the dragons, two of the suits, two of 1m and 9m.

A variant is a permutation of tiles under which dora indicators keep showing their dora, applied to tokens and labels.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from agents.bert.encoding import TEHAI, Encoded
from agents.bert.labels import N_LABELS
from agents.bert.vocabulary import CLASSES, N_TOKENS, PLACE_OF_TILE, TILE_ORDER
from engine.compiling import inner, kernel
from engine.tiles import CHUN, HAKU, HATSU, KIND_1M, KIND_9M, N_KINDS, N_TILES, PIN, RED_5P, RED_5S, SOU

DRAGONS = (HAKU, HATSU, CHUN)
RANKS = 9


def _tile_maps() -> np.ndarray:
    """int64[variants, N_TILES]: the tile37 that each becomes; variant 0 leaves all as they are."""
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
SUITS_SWAPPED = 2  # the variant in which nothing but the suits changes
_PLACE_MAPS = PLACE_OF_TILE[TILE_MAPS[:, TILE_ORDER]]  # the same in the bot's order of tiles


def _token_maps() -> np.ndarray:
    maps = np.tile(np.arange(N_TOKENS), (N_VARIANTS, 1))
    for each in CLASSES:
        by_kind = each.size == N_KINDS
        block = TILE_MAPS[:, :N_KINDS] if by_kind else _PLACE_MAPS
        for first in range(each.offset, each.offset + each.size, N_KINDS if by_kind else N_TILES):
            if each.size in (N_KINDS, N_TILES, 2 * N_TILES):
                maps[:, first : first + block.shape[1]] = first + block
    return maps.astype(np.uint16)


TOKEN_MAPS = _token_maps()  # uint16[variants, N_TOKENS]
LABEL_MAPS = np.tile(np.arange(N_LABELS), (N_VARIANTS, 1))  # int64[variants, N_LABELS]
LABEL_MAPS[:, :N_TILES] = _PLACE_MAPS


@inner
def sort_hand(out: np.ndarray, n: int) -> None:
    """Put the hand among the first `n` tokens back in order: tiles have changed places."""
    for i in range(1, n):
        token = out[i]
        k = i
        while (
            k > 0 and TEHAI <= token < TEHAI + N_TILES and TEHAI <= out[k - 1] < TEHAI + N_TILES and out[k - 1] > token
        ):
            out[k] = out[k - 1]
            k -= 1
        out[k] = token


@kernel
def _sort_all(ids: np.ndarray, n_state: np.ndarray) -> None:
    for k in range(len(ids)):
        sort_hand(ids[k], n_state[k])


def variant_of(encoded: Encoded, variant: int) -> Encoded:
    """The same positions in one of the variants."""
    ids = TOKEN_MAPS[variant][encoded.ids]
    _sort_all(ids, encoded.n_state)
    return encoded._replace(ids=ids)
