"""The situation of a seat at the start of a round: scores, round, honba, riichi sticks and line-up, as features."""

from __future__ import annotations

import numpy as np

from agents.compiled.seats import rank_of
from engine.compiling import inner, kernel
from engine.table import N_SEATS, TABLE, raw_bytes, seat_wind

LINE_UP_AT = 24
N_SITUATION = LINE_UP_AT + N_SEATS


@inner
def situation(t: np.record, seat: int, out: np.ndarray) -> None:
    """Write what decides the value of a game to `seat` at the start of a round into `out` float32[N_SITUATION].

    Scores are differences from 35,000 in units of 20,000. The line-up is left out.
    """
    out[:] = 0
    for step in range(N_SEATS):
        out[step] = (np.float64(t.seat[(seat + step) % 3].score) - 35000) / 20000
    out[3 + seat_wind(t, seat)] = 1
    out[6 + min(np.int64(t.round_wind) * 3 + np.int64(t.dealer), np.int64(8))] = 1
    out[15] = t.honba / 4
    out[16] = t.sticks / 3
    out[17 + rank_of(t, seat)] = 1
    out[20 + seat] = 1
    out[23] = t.rules.last_wind


@kernel("uint8[::1], int8[:, ::1], float32[:, :, ::1]")
def write_situations(raw: np.ndarray, players: np.ndarray, out: np.ndarray) -> None:
    """Write the situation of each seat of the tables `raw` into `out` float32[n, 3, N_SITUATION].

    `players` int8[n, 3]: 0 for the learner; the line-up says which of a seat, the next and the one before are others.
    """
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        for seat in range(N_SEATS):
            situation(tables[i], np.int64(seat), out[i, seat])
            for step in range(N_SEATS):
                out[i, seat, LINE_UP_AT + step] = players[i, (seat + step) % 3] != 0


def situations_of(records: np.ndarray, players: np.ndarray) -> np.ndarray:
    """The situations of the seats of `records` TABLE[n] at the start of a round: float32[n, 3, N_SITUATION]."""
    out = np.empty((len(records), N_SEATS, N_SITUATION), dtype=np.float32)
    write_situations(raw_bytes(records), players, out)
    return out
