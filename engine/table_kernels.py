"""The rules at one table, callable from Python. Each kernel works on table `i` of a byte buffer of TABLE records.

A buffer is uint8[n * TABLE.itemsize] (`engine.table.raw_bytes`): passing a record from Python would make each call
several times as slow. Kernels do not check indices into a buffer.
"""

from __future__ import annotations

import numpy as np

from engine import turn
from engine.compiling import kernel
from engine.kernels import is_asked, is_legal, write_legal
from engine.table import ROUND_OVER, TABLE
from engine.view import blank_for


@kernel("uint8[::1], int64, uint64")
def start_game(raw: np.ndarray, i: int, seed: np.uint64) -> None:
    """Start a game. First set `rules` and scores of the record and, to fix the first wall, `wall` and `wall_given`."""
    turn.start_game(raw.view(TABLE)[i], seed)


@kernel("uint8[::1], int64")
def start_round(raw: np.ndarray, i: int) -> None:
    """Start a round in the middle of a game.

    These fields of the record must be set: `rules`, `viewer` (-1), `round_wind`, `dealer`, `honba`, `sticks`, the
    scores, and either `seed`, or `wall` with `wall_given` 1.
    """
    turn.start_round(raw.view(TABLE)[i])


@kernel("uint8[::1], int64")
def asked_seats(raw: np.ndarray, i: int) -> int:
    """Bit mask of the seats whose action the game waits for."""
    t = raw.view(TABLE)[i]
    mask = np.int64(0)
    for seat in range(3):
        mask |= np.int64(is_asked(t, seat)) << seat
    return mask


@kernel("uint8[::1], int64, int64, int64[::1]")
def legal_actions(raw: np.ndarray, i: int, seat: int, actions: np.ndarray) -> int:
    """Write the legal actions of `seat`, ascending, into `actions` int64[N_ACTIONS]; return how many (0: not asked)."""
    t = raw.view(TABLE)[i]
    return write_legal(t, seat, actions) if 0 <= seat < 3 and is_asked(t, seat) else np.int64(0)


@kernel("uint8[::1], int64, int64, int64")
def apply_action(raw: np.ndarray, i: int, seat: int, action: int) -> int:
    """Apply one action; returns the new phase, or -1 with no change if the action is not legal."""
    t = raw.view(TABLE)[i]
    if not is_legal(t, seat, action):
        return -1
    turn.act(t, seat, action)
    return np.int64(t.phase)


@kernel("uint8[::1], int64")
def next_round(raw: np.ndarray, i: int) -> int:
    """Deal the next round or end the game; returns the new phase, or -1 with no change unless in phase ROUND_OVER."""
    t = raw.view(TABLE)[i]
    if t.phase != ROUND_OVER:
        return -1
    turn.next_round(t)
    return np.int64(t.phase)


@kernel("uint8[::1], int64, int64, uint8[::1], int64", "const(uint8[::1]), int64, int64, uint8[::1], int64")
def write_view(raw: np.ndarray, i: int, seat: int, views: np.ndarray, j: int) -> None:
    """Write what `seat` may see of table `i` into record `j` of the buffer `views`."""
    copied = views.view(TABLE)
    copied[j] = raw.view(TABLE)[i]
    blank_for(copied[j], seat)
