"""The score situation of a seat at the start of a round: scores, round, honba, riichi sticks and line-up, as features.

Training plays hanchan only. An East-only game is seen as the second half of one, so that as many rounds are to come.
"""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.compiled.seats import rank_of
from engine.compiling import inner, kernel
from engine.rules import TENHOU
from engine.table import N_SEATS, TABLE, raw_bytes, seat_wind

SITUATION, N_SITUATION = offsets_of(
    (
        Block("scores", N_SEATS, "points above 35,000 of the seat, the next and the one before, / 20,000"),
        Block("wind", N_SEATS, "the seat's wind"),
        Block("round", 9, "one of East 1 to 3, South 1 to 3, West 1 to 3 and later, of a hanchan"),
        Block("honba", 1, "honba, / 4"),
        Block("sticks", 1, "riichi sticks on the table, / 3"),
        Block("rank", N_SEATS, "the seat's rank"),
        Block("seat", N_SEATS, "the seat"),
        Block("last_wind", 1, "the last wind of a hanchan, 1: the networks trained so far have it"),
        Block("line_up", N_SEATS, "1 if the seat, the next, the one before is another bot than the learner"),
    )
)


@inner
def situation(t: np.record, seat: int, out: np.ndarray) -> None:
    """Write the score situation of `seat` at the start of a round into `out` float32[N_SITUATION].

    It decides the value of the game to the seat. The line-up is left out.
    """
    out[:] = 0
    for step in range(N_SEATS):
        out[SITUATION.scores + step] = (np.float64(t.seat[(seat + step) % 3].score) - 35000) / 20000
    out[SITUATION.wind + seat_wind(t, seat)] = 1
    wind = np.int64(t.round_wind) + 1 - np.int64(t.rules.last_wind)
    out[SITUATION.round + min(wind * 3 + np.int64(t.dealer), np.int64(8))] = 1
    out[SITUATION.honba] = t.honba / 4
    out[SITUATION.sticks] = t.sticks / 3
    out[SITUATION.rank + rank_of(t, seat)] = 1
    out[SITUATION.seat + seat] = 1
    out[SITUATION.last_wind] = 1


@kernel("uint8[::1], int8[:, ::1], float32[:, :, ::1]")
def write_situations(raw: np.ndarray, players: np.ndarray, out: np.ndarray) -> None:
    """Write the score situation of each seat of the tables `raw` into `out` float32[n, 3, N_SITUATION].

    `players` int8[n, 3]: 0 for the learner; the line-up says which of a seat, the next and the one before are others.
    """
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        for seat in range(N_SEATS):
            situation(tables[i], np.int64(seat), out[i, seat])
            for step in range(N_SEATS):
                out[i, seat, SITUATION.line_up + step] = players[i, (seat + step) % 3] != 0


def situations_of(records: np.ndarray, players: np.ndarray) -> np.ndarray:
    """The score situations of the seats of `records` TABLE[n] at the start of a round: float32[n, 3, N_SITUATION]."""
    out = np.empty((len(records), N_SEATS, N_SITUATION), dtype=np.float32)
    write_situations(raw_bytes(records), players, out)
    return out


def final_placements(records: np.ndarray) -> np.ndarray:
    """The placement of each seat of `records` TABLE[n], whose games are over: int64[n, 3]."""
    placements = [TENHOU.ranks(scores) for scores in records["seat"]["score"].tolist()]
    return np.array(placements, dtype=np.int64).reshape(-1, N_SEATS)
