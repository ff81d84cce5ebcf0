"""Tiles: kinds, red fives, and their names in the notations of mjai, Tenhou and mpsz.

A **kind** (``tile34``) is 0-33: 1m-9m, 1p-9p, 1s-9s, E S W N P F C. Three players use 27 of them (no 2m-8m).
A **tile** (``tile37``) is a kind, or 34-36 for the red fives 5mr 5pr 5sr (5mr never occurs in three-player games).
"""

from __future__ import annotations

import numpy as np

from engine.common.error_text import ErrorText, error_text
from engine.compiling import inner

N_KINDS = 34
N_TILES = 37
RED_5M, RED_5P, RED_5S = 34, 35, 36
UNKNOWN = 63  # a hidden tile; the greatest number in the six bits of a packed event
NONE = -1

MAN, PIN, SOU, HONOUR = 0, 9, 18, 27  # first kind of each suit
EAST, SOUTH, WEST, NORTH, HAKU, HATSU, CHUN = range(27, 34)
DRAGONS = (HAKU, HATSU, CHUN)
WINDS = "ESW"  # mjai names of the winds of rounds and seats; neither is ever north
KIND_1M, KIND_9M, KIND_5P, KIND_5S = 0, 8, 13, 22

SANMA_KINDS = np.array([0, *range(8, 34)], dtype=np.int64)
N_SANMA = len(SANMA_KINDS)
SANMA_INDEX = np.zeros(N_KINDS, dtype=np.int64)  # of a kind in SANMA_KINDS
SANMA_INDEX[SANMA_KINDS] = np.arange(N_SANMA)
TERMINALS_HONOURS = np.array([0, 8, 9, 17, 18, 26, *range(27, 34)], dtype=np.int64)
TERMINALS_HONOURS_MASK = sum(1 << int(k) for k in TERMINALS_HONOURS)

# tile37 -> kind
KIND_OF = np.array([*range(34), 4, 13, 22], dtype=np.int64)
# kind -> index of its red five in SEAT.red (0: 5p, 1: 5s), -1 where there is none
RED_INDEX = np.full(N_KINDS, -1, dtype=np.int64)
RED_INDEX[KIND_5P], RED_INDEX[KIND_5S] = 0, 1

MJAI_NAMES: tuple[str, ...] = (
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *"ESWNPFC",
    "5mr",
    "5pr",
    "5sr",
)
MJAI_TILES: dict[str, int] = {name: tile for tile, name in enumerate(MJAI_NAMES)} | {"?": UNKNOWN}
# tenhou.net/6: 11-19 man, 21-29 pin, 31-39 sou, 41-47 honours, 51-53 red fives
TENHOU_NUMBERS: tuple[int, ...] = (
    *(10 * (suit + 1) + rank for suit in range(3) for rank in range(1, 10)),
    *range(41, 48),
    51,
    52,
    53,
)
TENHOU_TILES: dict[int, int] = {number: tile for tile, number in enumerate(TENHOU_NUMBERS)}
# mpsz: 1m, 0p (red), 1z
MPSZ_NAMES: tuple[str, ...] = (
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *(f"{rank}z" for rank in range(1, 8)),
    "0m",
    "0p",
    "0s",
)
MPSZ_TILES: dict[str, int] = {name: tile for tile, name in enumerate(MPSZ_NAMES)}

# kind of an indicator -> kind of its dora. Source: Tenhou; there is no 2m-8m, so 9m follows 1m and 1m follows 9m.
DORA_OF = np.array(
    [8, *range(2, 9), 0, *range(10, 18), 9, *range(19, 27), 18, 28, 29, 30, 27, 32, 33, 31], dtype=np.int64
)

# All 108 tiles sorted by kind, a red five first among the 5p and among the 5s.
FULL_SET = np.array(
    [
        RED_5P if (kind == KIND_5P and copy == 0) else RED_5S if (kind == KIND_5S and copy == 0) else int(kind)
        for kind in SANMA_KINDS
        for copy in range(4)
    ],
    dtype=np.int8,
)
NOTATION = "write digits, then their suit, as in 19m055p123s77z (0: red five, 1-7z: E S W N white green red)"


@inner
def is_red(tile: int) -> bool:
    """Whether a tile37 is a red five."""
    return tile >= np.int64(34)


def wind_text(wind: str) -> ErrorText:
    """A wind of WINDS in an error: pages name it."""
    return error_text(f"wind_{wind}", wind)


def mpsz(text: str) -> list[int]:
    """Tiles of a hand written like ``"19m055p123s77z"`` (``0`` is the red five).

    Raises ValueError, which gives the position, for anything else.
    """
    tiles: list[int] = []
    ranks = ""
    for position, char in enumerate(text, 1):
        if char in "0123456789":
            ranks += char
        elif char in "mpsz" and ranks:
            if unknown := [rank + char for rank in ranks if rank + char not in MPSZ_TILES]:
                why = "{text!r}: there is no tile {tile} (character {n}); {help}"
                raise ValueError(
                    error_text("tiles_unknown", why, text=text, tile=unknown[0], n=position, help=NOTATION)
                )
            tiles += [MPSZ_TILES[rank + char] for rank in ranks]
            ranks = ""
        elif char != " ":
            why = "{text!r}: cannot read {character!r} (character {n}); {help}"
            raise ValueError(error_text("tiles_unread", why, text=text, character=char, n=position, help=NOTATION))
    if ranks:
        why = "{text!r} ends without the suit letter of {ranks}; {help}"
        raise ValueError(error_text("tiles_suit", why, text=text, ranks=ranks, help=NOTATION))
    return tiles


def from_tile136(number: int) -> int:
    """tile37 of a 0-135 number; 16, 52 and 88 are the red fives."""
    return {16: RED_5M, 52: RED_5P, 88: RED_5S}.get(number, number // 4)
