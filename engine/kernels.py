"""The rules at many tables, callable from Python: each kernel works on all tables of a byte buffer of TABLE records.

For buffers see `engine.table_kernels`, which has the kernels for one table.
"""

from __future__ import annotations

import numpy as np

from engine import turn
from engine.actions import MASK_WORDS
from engine.compiling import inner, kernel
from engine.rng import scaled, splitmix
from engine.table import DORA_AT, GAME_OVER, ROUND_OVER, TABLE
from engine.view import blank_for

ONE = np.uint64(1)


@inner
def is_asked(t: np.record, seat: int) -> bool:
    """Whether `seat` has legal actions and has not chosen one yet."""
    return (t.legal[seat, 0] | t.legal[seat, 1]) != np.uint64(0) and t.answer[seat] < 0


@inner
def is_legal(t: np.record, seat: int, action: int) -> bool:
    """Whether `seat` is asked and `action` (any integer) is legal."""
    if seat < 0 or seat > 2 or action < 0 or action >= 128 or not is_asked(t, seat):
        return False
    return (t.legal[seat, action >> 6] >> np.uint64(action & 63)) & ONE != np.uint64(0)


@kernel("uint8[::1], uint64[::1]")
def start_games(raw: np.ndarray, seeds: np.ndarray) -> None:
    """Start a game on every table from `seeds` uint64[n]; `rules` and scores must already be set in the records."""
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        turn.start_game(tables[i], seeds[i])


@kernel("uint8[::1], int8[:, ::1], int64, int64, uint8[::1], int32[::1], int8[::1]")
def collect_views(
    raw: np.ndarray,
    players: np.ndarray,
    player: int,
    first: int,
    views: np.ndarray,
    asked_tables: np.ndarray,
    asked_seats: np.ndarray,
) -> tuple[int, int]:
    """Write the views of the asked seats of `player`, starting at table `first`, until the buffer `views` is full.

    `players` int8[n, 3]: the player of each seat of each table. `asked_tables` int32[:] and `asked_seats` int8[:]
    receive the table and the seat of each view. Returns the number of views, and the table to continue from.
    """
    tables, seen = raw.view(TABLE), views.view(TABLE)
    n, i = np.int64(0), np.int64(first)
    while i < len(tables) and n + 2 <= len(seen):  # at most two seats of a table are asked at once
        for seat in range(3):
            if players[i, seat] == player and is_asked(tables[i], seat):
                seen[n] = tables[i]
                blank_for(seen[n], seat)
                asked_tables[n] = i
                asked_seats[n] = seat
                n += 1
        i += 1
    return n, i


@kernel("uint8[::1], int32[::1], int8[::1], int64[::1]")
def apply_actions(raw: np.ndarray, asked_tables: np.ndarray, asked_seats: np.ndarray, actions: np.ndarray) -> int:
    """Apply `actions` int64[n] of `asked_seats` int8[n] at `asked_tables` int32[n], in order.

    Returns the index of the first illegal action, at which it stops, or -1.
    """
    tables = raw.view(TABLE)
    for k in range(len(actions)):
        t = tables[asked_tables[k]]
        if not is_legal(t, np.int64(asked_seats[k]), np.int64(actions[k])):
            return k
        turn.act(t, np.int64(asked_seats[k]), np.int64(actions[k]))
    return -1


@kernel("uint8[::1]")
def next_rounds(raw: np.ndarray) -> int:
    """Call `next_round` on every table in phase ROUND_OVER; return the number of games that are not over."""
    tables = raw.view(TABLE)
    playing = 0
    for i in range(len(tables)):
        if tables[i].phase == ROUND_OVER:
            turn.next_round(tables[i])
        if tables[i].phase != GAME_OVER:
            playing += 1
    return playing


@inner
def write_legal(t: np.record, seat: int, actions: np.ndarray) -> int:
    """Write the legal actions of `seat`, ascending, into `actions` int64[at least as many]; returns how many."""
    n = np.int64(0)
    for word_index in range(MASK_WORDS):
        word = t.legal[seat, word_index]
        while word != np.uint64(0):
            lowest = word & (~word + ONE)
            actions[n] = 64 * word_index + bit_index(lowest)
            word ^= lowest
            n += 1
    return n


@inner
def nth_action(low: np.uint64, high: np.uint64, index: int) -> int:
    """Return the action at `index` (from 0) among those whose bits are set in the two-word mask."""
    word, offset = low, np.int64(0)
    while True:
        while word != np.uint64(0):
            lowest = word & (~word + ONE)
            if index == 0:
                return offset + bit_index(lowest)
            index -= 1
            word ^= lowest
        word, offset = high, np.int64(64)


@inner
def bit_index(bit: np.uint64) -> int:
    """Index of the one bit that is set."""
    index = np.int64(0)
    for shift in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(shift) != np.uint64(0):
            bit >>= np.uint64(shift)
            index += shift
    return index


@inner
def hash_view(t: np.record, seed: np.uint64) -> np.uint64:
    """Hash `seed` and what tells this decision from others into a seed for random choices.

    That is the number of events so far, the viewer, its hand by kinds, its discards and the first indicator: views that
    differ in anything else alone, such as the scores, share their random numbers.
    """
    p = t.seat[t.viewer]
    key = splitmix(seed + np.uint64(t.n_log) + (np.uint64(t.viewer) << np.uint64(16)))
    for group in range(3):
        key = splitmix(key ^ np.uint64(np.uint32(p.hand_keys[group])))
    return splitmix(key ^ np.uint64(p.discarded) ^ (np.uint64(t.wall[DORA_AT[0]]) << np.uint64(48)))


@kernel("uint8[::1], int64, uint64, int64[::1]")
def random_actions(views: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write a uniformly random legal action for each of the first `n` views into `actions` int64[n].

    The same view and seed give the same action.
    """
    seen = views.view(TABLE)
    for k in range(n):
        t = seen[k]
        low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
        count = bit_count(low) + bit_count(high)
        index = scaled(hash_view(t, seed), count)
        actions[k] = nth_action(low, high, index)


@inner
def bit_count(word: np.uint64) -> int:
    """Number of bits set."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
