"""The wall: shuffling, dealing, live and replacement draws, dora indicators, and the event log of the round.

The wall of a round depends only on the seed of the table and on the round (wind, dealer, honba), not on what the
players do. The layout is described at `engine.table.WALL_SIZE`.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.events import DRAW, NEW_DORA, TYPES, pack
from engine.hand import add_tile
from engine.rng import GOLDEN, MIX_1, random_below, splitmix
from engine.rules import N_DRAWS
from engine.table import DEALT, DORA_AT, EVERYBODY, MAX_LOG, NOBODY, REPLACEMENT_AT, WALL_SIZE
from engine.tiles import FULL_SET, KIND_OF, NONE

if (_most := sum(row.most for row in TYPES)) > MAX_LOG:
    raise ImportError(f"a round may have {_most} events (TYPES of engine/events.py): raise MAX_LOG of engine/table.py")


@inner
def shuffle_wall(t: np.record) -> None:
    """Shuffle the wall of the current round (Fisher-Yates), seeded by the table's seed and the round."""
    number = np.uint64(t.round_wind) << np.uint64(40) | np.uint64(t.dealer) << np.uint64(32) | np.uint64(t.honba)
    state = splitmix(np.uint64(t.seed) + GOLDEN) ^ splitmix(number + MIX_1)
    for i in range(WALL_SIZE):
        tile = np.int64(FULL_SET[i])
        t.wall[i] = tile if t.rules.red_fives else KIND_OF[tile]
    for i in range(WALL_SIZE - 1, 0, -1):
        state, j = random_below(state, i + 1)
        swapped = t.wall[i]
        t.wall[i] = t.wall[j]
        t.wall[j] = swapped


@inner
def log_event(t: np.record, word: int) -> None:
    """Add a packed event to the log of the round."""
    t.log[t.n_log] = word
    t.n_log += 1


@inner
def deal(t: np.record) -> None:
    """Deal 13 tiles to each seat, beginning with the dealer."""
    for i in range(DEALT):
        seat = (t.dealer + i // 13) % 3
        add_tile(t.seat[seat], np.int64(t.wall[i]), np.int64(1))
        t.known_by[i] = seat
    for i in range(DEALT, WALL_SIZE):
        t.known_by[i] = NOBODY


@inner
def draw_tile(t: np.record, seat: int, index: int, replacement: int) -> None:
    """`seat` draws the wall tile at `index`; `replacement` 1 for a replacement draw."""
    t.live_left -= 1
    t.turn = seat
    t.drawn = t.wall[index]
    t.after_replacement = replacement
    t.known_by[index] = seat
    add_tile(t.seat[seat], np.int64(t.drawn), np.int64(1))
    log_event(t, pack(DRAW, seat, seat, np.int64(0), np.int64(0), np.int64(0), index))


@inner
def live_index(t: np.record) -> int:
    """Wall index of the next live draw."""
    return DEALT + N_DRAWS - t.live_left - t.n_replacements


@inner
def replacement_index(t: np.record) -> int:
    """Wall index of the next replacement draw."""
    return REPLACEMENT_AT[t.n_replacements]


@inner
def draw_live(t: np.record, seat: int) -> None:
    """`seat` draws from the live wall."""
    draw_tile(t, seat, live_index(t), np.int64(0))


@inner
def draw_replacement(t: np.record, seat: int) -> None:
    """`seat` draws a replacement after a kan or nukidora; this uses up one of the 55 draws as well."""
    draw_tile(t, seat, replacement_index(t), np.int64(1))
    t.n_replacements += 1


@inner
def show_indicator(t: np.record) -> None:
    """Turn over the next dora indicator; all but the first of a round are logged as NEW_DORA."""
    index = DORA_AT[t.n_indicators]
    tile = np.int64(t.wall[index])
    t.known_by[index] = EVERYBODY
    t.seen[KIND_OF[tile]] += 1
    t.n_indicators += 1
    if t.n_indicators > 1:
        log_event(t, pack(NEW_DORA, np.int64(0), np.int64(0), tile, np.int64(0), np.int64(0), np.int64(0)))


@inner
def show_pending_indicators(t: np.record) -> None:
    """Turn over the pending indicators of daiminkan and kakan."""
    while t.pending_indicators > 0:
        t.pending_indicators -= 1
        show_indicator(t)


@inner
def clear_drawn(t: np.record) -> None:
    """Record that no seat holds a drawn tile."""
    t.drawn = NONE
    t.after_replacement = 0
