"""What only the critic sees while training: the hidden hands, and when tiles of its ukeire come up in the true wall.

The policy never sees that; `agents.search` asks the critic in sampled worlds. Its knowledge makes advantages less
noisy. As a baseline it does not bias them: the hands and the wall are part of the state, and do not depend on the
action that is evaluated. With a lambda below 1, advantages also bootstrap from it, and its errors count.
"""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.bots.rule.value import dora_han, value_triplet_han
from agents.compiled.dora import fill_dora
from agents.rl.suits import by_kind, sou_first, swap
from engine.compiling import inner, kernel
from engine.hand import has_kind, is_furiten
from engine.shanten import shanten, ukeire_kinds
from engine.table import N_SEATS, TABLE
from engine.tiles import KIND_OF, N_KINDS, N_SANMA, SANMA_KINDS
from engine.wall import live_index

N_OPPONENTS = N_SEATS - 1
SHANTENS = 5  # the shanten of a hand, as one of 0 and below, 1, 2, 3, 4 and above

# When a seat will draw some kinds.
DRAWS, N_DRAWS = offsets_of(
    (
        Block("soon", 1, "1 / (1 + draws until the first)"),
        Block("in_3", 1, "how many in the next 3 draws, / 2"),
        Block("in_6", 1, "how many in the next 6 draws, / 3"),
        Block("all", 1, "how many in all, / 6"),
    )
)
HAND, N_HAND = offsets_of(
    (
        Block("shanten", SHANTENS, "its shanten as one of SHANTENS"),
        Block("dora", 1, "dora, / 5"),
        Block("value_triplets", 1, "han of triplets of value tiles, / 2"),
        Block("ukeire", 1, "tiles of its ukeire in the wall, / 10"),
        Block("ukeire_held", N_OPPONENTS, "those in the hand of the next seat, / 6, and of the one after"),
        Block("riichi", 1, "1 in riichi"),
        Block("furiten", 1, "1 in furiten"),
        Block("draws", N_DRAWS, "DRAWS of its ukeire"),
    )
)
OPPONENT, N_OPPONENT = offsets_of(
    (
        Block("held", N_SANMA, "tiles held of each kind, / 2"),
        Block("waits", N_SANMA, "1 for each kind that it waits for"),
    )
)
ORACLE, N_ORACLE = offsets_of(
    (
        Block("hands", N_SEATS * N_HAND, "HAND of the viewer, the next seat and the one after"),
        Block("opponents", N_OPPONENTS * N_OPPONENT, "OPPONENT of the next seat and of the one after"),
        Block("line_up", N_OPPONENTS, "1 if the next seat is another bot than the learner, and the one after"),
    )
)
SUITS = np.array(
    [
        pair
        for opponent in range(N_OPPONENTS)
        for at in OPPONENT
        for pair in by_kind(ORACLE.opponents + opponent * N_OPPONENT + at)
    ]
)


@inner
def draws_of(t: np.record, seat: int, kinds: np.uint64, out: np.ndarray) -> None:
    """Write when `seat` will draw `kinds` (bit mask) from the live wall if nobody calls into `out` float32[N_DRAWS].

    A replacement tile is not counted.
    """
    first = live_index(t)
    draw = np.int64(0)
    for index in range(first + (seat - np.int64(t.turn) + 2) % 3, first + np.int64(t.live_left), N_SEATS):
        if has_kind(kinds, KIND_OF[t.wall[index]]):
            if out[DRAWS.soon] == 0:
                out[DRAWS.soon] = 1 / (1 + draw)
            out[DRAWS.in_3] += (draw < 3) / 2
            out[DRAWS.in_6] += (draw < 6) / 3
            out[DRAWS.all] += 1 / 6
        draw += 1


@inner
def hand_features(t: np.record, seat: int, dora: np.ndarray, out: np.ndarray) -> None:
    """Write the features of the hand of `seat`, of 13 or 14 tiles, into `out` float32[N_HAND], which is zero.

    Its ukeire are the tiles that lower its shanten; of 14 tiles, those that do so after some discard.
    """
    p = t.seat[seat]
    n_melds = np.int64(p.n_melds)
    now = max(shanten(p.hand_keys, n_melds), np.int64(0))
    out[HAND.shanten + min(now, np.int64(SHANTENS - 1))] = 1
    kinds = ukeire_kinds(p.hand, p.hand_keys, n_melds)
    out[HAND.dora] = dora_han(p, dora) / 5
    viewer = t.viewer
    t.viewer = seat
    out[HAND.value_triplets] = value_triplet_han(t, p) / 2
    t.viewer = viewer
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            left = 4 - np.int64(t.seen[kind])
            for other in range(N_SEATS):
                left -= np.int64(t.seat[other].hand[kind])
            out[HAND.ukeire] += left / 10
            for step in range(1, N_SEATS):
                out[HAND.ukeire_held + step - 1] += t.seat[(seat + step) % 3].hand[kind] / 6
    out[HAND.riichi] = p.riichi > 0
    out[HAND.furiten] = is_furiten(p)
    draws_of(t, seat, kinds, out[HAND.draws : HAND.draws + N_DRAWS])


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
            at = ORACLE.hands + step * N_HAND
            hand_features(t, seat, dora, out[k, at : at + N_HAND])
        for step in range(N_OPPONENTS):
            seat = (np.int64(seats[k]) + step + 1) % 3
            q = t.seat[seat]
            out[k, ORACLE.line_up + step] = players[tables[k], seat] != 0
            at = ORACLE.opponents + step * N_OPPONENT
            for i in range(N_SANMA):
                out[k, at + OPPONENT.held + i] = q.hand[SANMA_KINDS[i]] / 2
                out[k, at + OPPONENT.waits + i] = has_kind(np.uint64(q.waits), SANMA_KINDS[i])
        if sou_first(t, np.int64(seats[k])):
            swap(out[k], SUITS)
