"""What only the critic sees while training: the hidden hands, and when tiles of its ukeire come up in the true wall.

The critic never plays. Its knowledge makes advantages less noisy. As a baseline it does not bias them: the hands and
the wall are part of the state, and do not depend on the action that is evaluated. With a lambda below 1, advantages
also bootstrap from it, and its errors count.
"""

from __future__ import annotations

import numpy as np

from agents.bots.rule.value import dora_han, value_triplet_han
from agents.compiled.dora import fill_dora
from agents.rl.suits import by_kind, sou_first, swap
from engine.compiling import inner, kernel
from engine.hand import has_kind
from engine.shanten import shanten, ukeire_kinds
from engine.table import N_SEATS, TABLE
from engine.tiles import KIND_OF, N_KINDS, N_SANMA, SANMA_KINDS
from engine.wall import live_index

N_HAND = 16  # features of each hand
TILES_AT = N_SEATS * N_HAND  # of both opponents, the tiles held and the waits
LINE_UP_AT = TILES_AT + 2 * 2 * N_SANMA  # whether each opponent is another bot than the learner
N_ORACLE = LINE_UP_AT + 2
SUITS = np.array([pair for block in range(4) for pair in by_kind(TILES_AT + block * N_SANMA)])


@inner
def draws_of(t: np.record, seat: int, kinds: np.uint64, out: np.ndarray) -> None:
    """Write when `seat` will draw `kinds` (bit mask) from the live wall if nobody calls into `out` float32[4].

    1 / (1 + draws until the first); how many in the next 3 draws, in the next 6, and in all. A replacement tile is not
    counted.
    """
    first = live_index(t)
    draw = np.int64(0)
    for index in range(first + (seat - np.int64(t.turn) + 2) % 3, first + np.int64(t.live_left), N_SEATS):
        if has_kind(kinds, KIND_OF[t.wall[index]]):
            if out[0] == 0:
                out[0] = 1 / (1 + draw)
            out[1] += (draw < 3) / 2
            out[2] += (draw < 6) / 3
            out[3] += 1 / 6
        draw += 1


@inner
def hand_features(t: np.record, seat: int, dora: np.ndarray, out: np.ndarray) -> None:
    """Write the features of the hand of `seat`, of 13 or 14 tiles, into `out` float32[N_HAND], which is zero.

    Its ukeire are the tiles that lower its shanten; of 14 tiles, those that do so after some discard.
    """
    p = t.seat[seat]
    n_melds = np.int64(p.n_melds)
    now = max(shanten(p.hand_keys, n_melds), np.int64(0))
    out[min(now, np.int64(4))] = 1
    kinds = ukeire_kinds(p.hand, p.hand_keys, n_melds)
    out[5] = dora_han(p, dora) / 5
    viewer = t.viewer
    t.viewer = seat
    out[6] = value_triplet_han(t, p) / 2
    t.viewer = viewer
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            left = 4 - np.int64(t.seen[kind])
            for other in range(N_SEATS):
                left -= np.int64(t.seat[other].hand[kind])
            out[7] += left / 10
            for step in range(1, N_SEATS):
                out[7 + step] += t.seat[(seat + step) % 3].hand[kind] / 6
    out[10] = p.riichi > 0
    out[11] = p.temporary_furiten or p.riichi_furiten or (np.uint64(p.waits) & np.uint64(p.discarded)) != np.uint64(0)
    draws_of(t, seat, kinds, out[12:16])


@kernel("uint8[::1], int8[:, ::1], int32[::1], int8[::1], float32[:, ::1]")
def write_oracle(raw: np.ndarray, players: np.ndarray, tables: np.ndarray, seats: np.ndarray, out: np.ndarray) -> None:
    """Write what `seats` int8[n] at `tables` int32[n] of `raw` do not see into `out` float32[n, N_ORACLE].

    `players` int8[:, 3]: who has each seat of each table, 0 for the learner.
    """
    records = raw.view(TABLE)
    dora = np.empty(N_KINDS, dtype=np.int64)
    out[:] = 0
    for k in range(len(tables)):
        t = records[tables[k]]
        fill_dora(t, dora)
        for step in range(N_SEATS):
            seat = (np.int64(seats[k]) + step) % 3
            hand_features(t, seat, dora, out[k, step * N_HAND : (step + 1) * N_HAND])
        for step in range(2):
            seat = (np.int64(seats[k]) + step + 1) % 3
            q = t.seat[seat]
            out[k, LINE_UP_AT + step] = players[tables[k], seat] != 0
            at = TILES_AT + step * 2 * N_SANMA
            for i in range(N_SANMA):
                out[k, at + i] = q.hand[SANMA_KINDS[i]] / 2
                out[k, at + N_SANMA + i] = has_kind(np.uint64(q.waits), SANMA_KINDS[i])
        if sou_first(t, np.int64(seats[k])):
            swap(out[k], SUITS)
