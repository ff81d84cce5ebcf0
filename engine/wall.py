"""The wall: shuffling from a 64-bit seed, dealing, drawing, replacements and indicators.

A round's wall depends on the table's seed and on the round (wind, dealer, honba) alone: whoever plays, the same round
of the same game is dealt the same tiles. The layout is described at `engine.table.WALL_SIZE`.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.events import DRAW, NEW_DORA, pack
from engine.hand import add_tile
from engine.rules import N_DRAWS
from engine.table import DEALT, DORA_AT, EVERYBODY, LAST_REPLACEMENT, NOBODY, WALL_SIZE
from engine.tiles import FULL_SET, KIND_OF, NONE

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LOW_32 = np.uint64(0xFFFFFFFF)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


@inner
def mix(x: np.uint64) -> np.uint64:
    """The output function of splitmix64: a bijection of 64-bit words that looks random."""
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


@inner
def below(state: np.uint64, n: int) -> tuple[np.uint64, int]:
    """The next generator state and an unbiased number in [0, n) (Lemire's multiply and reject, 32 bits)."""
    bound = np.uint64(n)
    while True:
        state = state + GOLDEN
        product = (mix(state) >> np.uint64(32)) * bound
        low = product & LOW_32
        if low >= bound or low >= (LOW_32 + np.uint64(1) - bound) % bound:  # the division is rarely needed
            return state, np.int64(product >> np.uint64(32))


@inner
def shuffle(t: np.record) -> None:
    """Lay the wall of the table's current round from its seed."""
    number = np.uint64(t.round_wind) << np.uint64(40) | np.uint64(t.dealer) << np.uint64(32) | np.uint64(t.honba)
    state = mix(np.uint64(t.seed) + GOLDEN) ^ mix(number + MIX_1)
    for i in range(WALL_SIZE):
        tile = np.int64(FULL_SET[i])
        t.wall[i] = tile if t.rules.red_fives else KIND_OF[tile]
    for i in range(WALL_SIZE - 1, 0, -1):
        state, j = below(state, i + 1)
        swapped = t.wall[i]
        t.wall[i] = t.wall[j]
        t.wall[j] = swapped


@inner
def append(t: np.record, word: int) -> None:
    """Add a packed event to the log of the round."""
    t.log[t.n_log] = word
    t.n_log += 1


@inner
def deal(t: np.record) -> None:
    """Thirteen tiles to each seat, the dealer's first in the wall."""
    for i in range(DEALT):
        seat = (t.dealer + i // 13) % 3
        add_tile(t.seat[seat], np.int64(t.wall[i]), np.int64(1))
        t.known_by[i] = seat
    for i in range(DEALT, WALL_SIZE):
        t.known_by[i] = NOBODY


@inner
def take_from_wall(t: np.record, seat: int, place: int, replacement: int) -> None:
    """`seat` draws the wall tile at `place`."""
    t.live_left -= 1
    t.turn = seat
    t.drawn = t.wall[place]
    t.after_replacement = replacement
    t.known_by[place] = seat
    add_tile(t.seat[seat], np.int64(t.drawn), np.int64(1))
    append(t, pack(DRAW, seat, seat, np.int64(0), np.int64(0), np.int64(0), place))


@inner
def live_place(t: np.record) -> int:
    """Place in the wall of the next live draw."""
    return DEALT + N_DRAWS - t.live_left - t.n_replacements


@inner
def replacement_place(t: np.record) -> int:
    """Place in the wall of the next replacement."""
    return LAST_REPLACEMENT - t.n_replacements


@inner
def draw_live(t: np.record, seat: int) -> None:
    """`seat` draws from the live wall."""
    take_from_wall(t, seat, live_place(t), np.int64(0))


@inner
def draw_replacement(t: np.record, seat: int) -> None:
    """`seat` draws a replacement after a kan or nukidora; the live wall shrinks by one all the same."""
    take_from_wall(t, seat, replacement_place(t), np.int64(1))
    t.n_replacements += 1


@inner
def show_indicator(t: np.record) -> None:
    """Turn over the next dora indicator."""
    tile = np.int64(t.wall[DORA_AT + t.n_indicators])
    t.known_by[DORA_AT + t.n_indicators] = EVERYBODY
    t.seen[KIND_OF[tile]] += 1
    t.n_indicators += 1
    if t.n_indicators > 1:
        append(t, pack(NEW_DORA, np.int64(0), np.int64(0), tile, np.int64(0), np.int64(0), np.int64(0)))


@inner
def show_pending_indicators(t: np.record) -> None:
    """Turn over the indicators owed for minkans."""
    while t.pending_indicators > 0:
        t.pending_indicators -= 1
        show_indicator(t)


@inner
def nothing_drawn(t: np.record) -> None:
    """Nobody holds a drawn tile any more."""
    t.drawn = NONE
    t.after_replacement = 0
