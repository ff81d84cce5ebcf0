"""The rules, callable from Python: each function works on table `i` of a flat byte buffer of TABLE records.

A buffer, because passing a record from Python would cost each call several times as much.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from engine.actions import MASK_WORDS
from engine.compiling import inner, kernel
from engine.table import DORA_AT, GAME_OVER, ROUND_OVER, TABLE
from engine.turn import act, next_round, start_game, start_round
from engine.view import blank_for
from engine.wall import mix

Bytes: TypeAlias = np.ndarray
ONE = np.uint64(1)


@inner
def is_asked(t: np.record, seat: int) -> bool:
    """Whether the game waits for an answer of `seat`."""
    return (t.legal[seat, 0] | t.legal[seat, 1]) != np.uint64(0) and t.answer[seat] < 0


@inner
def is_legal(t: np.record, seat: int, action: int) -> bool:
    """Whether `seat` is asked and `action` is on its menu."""
    if seat < 0 or seat > 2 or action < 0 or action >= 128 or not is_asked(t, seat):
        return False
    return (t.legal[seat, action >> 6] >> np.uint64(action & 63)) & ONE != np.uint64(0)


@kernel
def start(raw: Bytes, i: int, seed: np.uint64) -> None:
    """Start a game; `rules` of the record are set before, and `wall` where `wall_given`."""
    start_game(raw.view(TABLE)[i], seed)


@kernel
def start_at(raw: Bytes, i: int) -> None:
    """Start a round in mid-game.

    `rules`, `viewer` -1, `round_wind`, `dealer`, `honba`, `sticks` and the scores of the record are set before; so is
    `wall` where `wall_given`, else the wall comes from `seed`.
    """
    start_round(raw.view(TABLE)[i])


@kernel
def asked_seats(raw: Bytes, i: int) -> int:
    """Bit mask of the seats that are asked."""
    t = raw.view(TABLE)[i]
    mask = np.int64(0)
    for seat in range(3):
        mask |= np.int64(is_asked(t, seat)) << seat
    return mask


@kernel
def menu(raw: Bytes, i: int, seat: int, actions: np.ndarray) -> int:
    """Write the legal actions of `seat`, ascending, into int64[N_ACTIONS]; returns how many (0: not asked)."""
    t = raw.view(TABLE)[i]
    n = np.int64(0)
    if 0 <= seat < 3 and is_asked(t, seat):
        for place in range(MASK_WORDS):
            word = t.legal[seat, place]
            while word != np.uint64(0):
                lowest = word & (~word + ONE)
                actions[n] = 64 * place + bit_index(lowest)
                word ^= lowest
                n += 1
    return n


@kernel
def answer(raw: Bytes, i: int, seat: int, action: int) -> int:
    """Apply an answer and return the phase it leads to; -1, with nothing changed, where it is not legal."""
    t = raw.view(TABLE)[i]
    if not is_legal(t, seat, action):
        return -1
    act(t, seat, action)
    return np.int64(t.phase)


@kernel
def proceed(raw: Bytes, i: int) -> int:
    """Go on after a round and return the phase that follows; -1, nothing changed, where no round has just ended."""
    t = raw.view(TABLE)[i]
    if t.phase != ROUND_OVER:
        return -1
    next_round(t)
    return np.int64(t.phase)


@kernel
def see(raw: Bytes, i: int, seat: int, views: Bytes, j: int) -> None:
    """Write the view of `seat` into record `j` of `views`."""
    copied = views.view(TABLE)
    copied[j] = raw.view(TABLE)[i]
    blank_for(copied[j], seat)


@kernel
def start_all(raw: Bytes, seeds: np.ndarray) -> None:
    """Start a game on every table."""
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        start_game(tables[i], seeds[i])


@kernel
def collect(
    raw: Bytes,
    players: np.ndarray,
    player: int,
    first: int,
    views: Bytes,
    asked_tables: np.ndarray,
    asked_seats: np.ndarray,
) -> tuple[int, int]:
    """Views of the asked seats that `player` sits on, from table `first` on, as many as `views` holds.

    `players` int8[n, 3] tells who sits where; `asked_tables` and `asked_seats` receive the table and seat of each view.
    Returns how many there are, and the table to go on from.
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


@kernel
def answer_all(raw: Bytes, asked_tables: np.ndarray, asked_seats: np.ndarray, actions: np.ndarray) -> int:
    """Apply one answer each; returns the index of the first illegal one (those before it are applied), else -1."""
    tables = raw.view(TABLE)
    for k in range(len(actions)):
        t = tables[asked_tables[k]]
        if not is_legal(t, np.int64(asked_seats[k]), np.int64(actions[k])):
            return k
        act(t, np.int64(asked_seats[k]), np.int64(actions[k]))
    return -1


@kernel
def proceed_all(raw: Bytes) -> int:
    """Go on wherever a round has ended; returns how many games are still being played."""
    tables = raw.view(TABLE)
    playing = 0
    for i in range(len(tables)):
        if tables[i].phase == ROUND_OVER:
            next_round(tables[i])
        if tables[i].phase != GAME_OVER:
            playing += 1
    return playing


@inner
def pick(low: np.uint64, high: np.uint64, index: int) -> int:
    """The action at place `index` among those set in a mask of two words."""
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
    """Place of the single bit set."""
    place = np.int64(0)
    for shift in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(shift) != np.uint64(0):
            bit >>= np.uint64(shift)
            place += shift
    return place


@inner
def hash_view(t: np.record, seed: np.uint64) -> np.uint64:
    """A number that depends on what a seat sees at this decision, and on `seed`."""
    p = t.seat[t.viewer]
    key = mix(seed + np.uint64(t.n_log) + (np.uint64(t.viewer) << np.uint64(16)))
    for group in range(3):
        key = mix(key ^ np.uint64(np.uint32(p.hand_keys[group])))
    return mix(key ^ np.uint64(p.discarded) ^ (np.uint64(t.wall[DORA_AT]) << np.uint64(48)))


@kernel
def random_actions(views: Bytes, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """A uniformly random legal action for each of the first `n` views; the same view and seed give the same action."""
    seen = views.view(TABLE)
    for k in range(n):
        t = seen[k]
        low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
        count = bit_count(low) + bit_count(high)
        index = np.int64(((hash_view(t, seed) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
        actions[k] = pick(low, high, index)


@inner
def bit_count(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
