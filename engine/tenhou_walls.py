"""The walls of a game on Tenhou, from the seed that its record publishes (``SHUFFLE seed`` of mjlog).

Source: Tenhou's description of its shuffle (tenhou.net/stat/rand). It does not cover three players; records show that
the tiles they do not use, 2m to 8m, are left out before the shuffle. Every deal, draw, replacement, indicator and die
of 31,965 recorded rounds agrees.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.table import DEALT, N_SEATS, WALL_SIZE
from engine.tiles import KIND_OF, SANMA_KINDS, from_tile136

GENERATOR = "mt19937ar"  # prefix of all seeds
PREFIX = f"{GENERATOR}-sha512-n288-base64"  # prefix of the supported seeds; older ones differ
KEY_WORDS = 624  # 32-bit words of a seed
ROUND_BYTES, BLOCK = 1152, 128  # bytes that each round takes from the generator; SHA-512 turns each block into 64 bytes
TILES_136 = [4 * int(kind) + copy for kind in SANMA_KINDS for copy in range(4)]
DICE_AT = 135  # index of the numbers for the dice, as with the 136 tiles of four players
HAND_SIZE = DEALT // N_SEATS
# Our wall index -> index from the end of Tenhou's wall, which is dealt as 4, 4, 4 and 1 tiles to each seat.
DEAL_ORDER = [
    *(
        4 * N_SEATS * (i // 4) + i % 4 + (4 * seat if i < 12 else seat)
        for seat in range(N_SEATS)
        for i in range(HAND_SIZE)
    ),
    *range(DEALT, WALL_SIZE),
]


@dataclass(frozen=True, slots=True)
class TenhouWall:
    """The wall of a round: 108 tile37, as laid in `engine.table.WALL_SIZE`, and the two dice."""

    tiles: tuple[int, ...]
    dice: tuple[int, int]


class TenhouWalls(Iterator[TenhouWall]):
    """The walls of the rounds of a game, in the order in which they are played, without end.

    >>> key = base64.b64encode(bytes(range(208)) * 12).decode()
    >>> wall = next(TenhouWalls(f"mt19937ar-sha512-n288-base64,{key}"))
    >>> len(wall.tiles), wall.dice
    (108, (4, 3))
    """

    def __init__(self, seed: str, *, red_fives: bool = True) -> None:
        """Raises ValueError for a seed in another format, as in older records."""
        self._generator = np.random.RandomState(key_of(seed))
        self._red_fives = red_fives

    def __next__(self) -> TenhouWall:
        words = self._generator.bytes(ROUND_BYTES)
        blocks = (words[at : at + BLOCK] for at in range(0, ROUND_BYTES, BLOCK))
        digests = b"".join(hashlib.sha512(block).digest() for block in blocks)
        numbers = np.frombuffer(digests, dtype="<u4").tolist()
        tiles = TILES_136.copy()
        for i in range(WALL_SIZE):
            j = i + numbers[i] % (WALL_SIZE - i)
            tiles[i], tiles[j] = tiles[j], tiles[i]
        first, second = (number % 6 + 1 for number in numbers[DICE_AT : DICE_AT + 2])
        laid = [from_tile136(tiles[WALL_SIZE - 1 - at]) for at in DEAL_ORDER]
        return TenhouWall(tuple(laid if self._red_fives else KIND_OF[laid].tolist()), (first, second))


def further_seed(seed: str, number: int) -> str:
    """Derive the seed of another game from `seed` and a `number` from 1 on; 0 gives `seed` itself.

    Raises ValueError for a `seed` in another format.
    """
    key = key_of(seed)
    if number == 0:
        return seed
    words = np.random.RandomState(np.append(key, np.uint32(number))).bytes(4 * KEY_WORDS)
    return f"{PREFIX},{base64.b64encode(words).decode()}"


def key_of(seed: str) -> np.ndarray:
    """Return the Mersenne Twister key in a `seed`, uint32[624]. Raises ValueError."""
    prefix, _, text = seed.rpartition(",")
    if prefix != PREFIX:
        raise ValueError(f"not a seed of Tenhou's walls: it must begin with {PREFIX},")
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"the seed of Tenhou's walls is no base64 ({error})") from None
    if len(key) != 4 * KEY_WORDS:
        raise ValueError(f"the seed of Tenhou's walls has {len(key):,} bytes, not {4 * KEY_WORDS:,}: it was cut off")
    return np.frombuffer(key, dtype="<u4")
