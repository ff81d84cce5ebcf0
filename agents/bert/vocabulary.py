"""The 994 tokens of the BERT bot as a table; the numbers are those of the bot wahaha.

A sequence is ``[CLS]``, the state, ``[SEP]``, the record of the round so far, ``[EOS]``. Players are relative to the
one who decides: 0 is that player, 1 the next in turn, 2 the one before.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from engine.rules import N_SEATS
from engine.tiles import MJAI_NAMES, MPSZ_NAMES, N_KINDS, N_TILES, RED_5M, RED_5P, RED_5S

PAD, CLS, SEP, EOS, MASK, UNK = range(6)
N_SPECIAL = 6

# The vocabulary's order of tiles: 0m 1m…9m 0p 1p…9p 0s 1s…9s 1z…7z, each red five before its suit. Values: tile37.
TILE_ORDER = np.array([RED_5M, *range(9), RED_5P, *range(9, 18), RED_5S, *range(18, N_KINDS)], dtype=np.int64)
INDEX_OF_TILE = np.argsort(TILE_ORDER)  # tile37 of the engine -> its index in that order
_TILE_NAMES = tuple(MPSZ_NAMES[tile] for tile in TILE_ORDER)
_KIND_NAMES = MPSZ_NAMES[:N_KINDS]


class TokenClass(NamedTuple):
    """Tokens `offset` … `offset + size - 1`; `names` of the values, empty if they are just numbered."""

    name: str
    size: int
    offset: int
    names: tuple[str, ...] = ()


_STATE = (
    ("style", 2, ("east", "hanchan")),
    ("player_id", N_SEATS, ()),
    ("bakaze", 3, ("E", "S", "W")),
    ("kyoku", 3, ()),
    ("honba", 4, ()),
    ("kyotaku", 3, ()),
    ("delta_score_before", 97, tuple(f"{thousands:+d}k" for thousands in range(-48, 49))),
    ("delta_score_after", 97, tuple(f"{thousands:+d}k" for thousands in range(-48, 49))),
    ("num_pipais", 12, ()),
    ("dora_marker", N_TILES, _TILE_NAMES),
    ("tehai", N_TILES, _TILE_NAMES),
    ("tsumo", N_TILES, _TILE_NAMES),
    *((f"can_{name}", 1, ()) for name in ("dahai", "reach", "hora", "ryukyoku", "pon", "daiminkan", "ankan", "kakan")),
)
_EVENTS = (
    ("dahai", 2 * N_TILES, (*_TILE_NAMES, *(f"{name}*" for name in _TILE_NAMES))),  # *: tsumogiri
    ("reach", 1, ()),
    ("pon", N_TILES, _TILE_NAMES),
    ("daiminkan", N_KINDS, _KIND_NAMES),
    ("ankan", N_KINDS, _KIND_NAMES),
    ("kakan", N_KINDS, _KIND_NAMES),
    ("nukidora", 1, ()),
)


def _classes() -> tuple[TokenClass, ...]:
    special = [(f"[{name}]", 1, ()) for name in ("PAD", "CLS", "SEP", "EOS", "MASK", "UNK")]
    events = [(f"player{player}_{name}", count, names) for player in range(N_SEATS) for name, count, names in _EVENTS]
    classes: list[TokenClass] = []
    offset = 0
    for name, count, names in (*special, *_STATE, *events):
        classes.append(TokenClass(name, count, offset, names))
        offset += count
    return tuple(classes)


CLASSES = _classes()
OFFSET = {each.name: each.offset for each in CLASSES}
N_TOKENS = CLASSES[-1].offset + CLASSES[-1].size
FIRST_EVENT_TOKEN = OFFSET["player0_dahai"]
N_EVENT_TOKENS = (N_TOKENS - FIRST_EVENT_TOKEN) // N_SEATS  # event tokens of each player
_OFFSETS = [each.offset for each in CLASSES]


def token_name(token: int) -> str:
    """The name of a token, as ``tehai:0p`` or ``[SEP]``. Raises ValueError if the number is not a token."""
    if not 0 <= token < N_TOKENS:
        raise ValueError(f"{token} is not a token: tokens are numbered 0 … {N_TOKENS - 1}")
    cls = CLASSES[bisect_right(_OFFSETS, token) - 1]
    if cls.size == 1:
        return cls.name
    value = token - cls.offset
    return f"{cls.name}:{cls.names[value] if cls.names else value}"


def tile_name(index: int) -> str:
    """The mjai name of the tile at `index` in TILE_ORDER."""
    return MJAI_NAMES[TILE_ORDER[index]]
