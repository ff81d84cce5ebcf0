"""What the walls gave each seat: control variates, which take luck out of the results of games.

A factor adds up, over the rounds of a game, what a seat was given. Its excess over the mean of the other two seats has
the expectation zero, whatever the players do: subtracting a multiple of that from the placements leaves their
expectation unchanged and, where the factor correlates with the placement, reduces the variance. There are two kinds of
factors:

* *dealt*: a property of the 13 tiles dealt. All seats are dealt alike.
* *drawn*: a property of each tile drawn, minus its expectation given all that was dealt, drawn and shown before: every
  undrawn tile is equally likely to come next. Such differences are those of a martingale.

Method: control variates (Glasserman, *Monte Carlo Methods in Financial Engineering*, 4.1), with chance corrected by its
expectation as in AIVAT (Burch et al., 2018), but by simple factors instead of a value function.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner, kernel
from engine.events import ADDS_MELD, DRAW, NEW_DORA, USED, event_actor, event_tile, event_type
from engine.hand import has_kind
from engine.shanten import shanten, ukeire_kinds
from engine.statistics.hands import change
from engine.table import DEALT, DORA_AT, N_SEATS, TABLE, WALL_SIZE
from engine.tiles import DORA_OF, KIND_OF, N_KINDS, NORTH, is_red

# The factors: shanten, dora (with red fives) and Norths dealt; dora and Norths drawn; draws that lower the shanten of a
# hand one from tenpai, and that complete a hand in tenpai.
FACTORS = ("shanten", "dora", "norths", "drawn dora", "drawn norths", "tenpai draws", "winning draws")
SHANTEN, DORA, NORTHS, DRAWN_DORA, DRAWN_NORTHS, TENPAI_DRAWS, WINNING_DRAWS = range(len(FACTORS))
N_FACTORS = len(FACTORS)

# By least squares of the placements and of the final points on the factors in self-play: made, and measured, by
# experiments/control_variates.py.
COEFFICIENTS = np.array(
    [
        [0.0250, -0.0288, -0.0167, -0.0183, -0.0265, -0.0660, -0.2107],  # of the placement
        [-1.4340, 1.6988, 1.1897, 1.1221, 1.6703, 3.9201, 12.3422],  # of the final points, in thousands
    ]
)

FIRST_REGRESSION = 30  # walls; fewer say too little about the effect of luck: results are taken as played


@inner
def measure_deal(t: np.record, hands: np.ndarray, keys: np.ndarray, factors: np.ndarray) -> None:
    """Deal the hands of a round to ``hands``, int8[3, 34], and add the dealt factors to ``factors``."""
    dora = DORA_OF[KIND_OF[t.wall[DORA_AT[0]]]]
    for i in range(DEALT):
        seat, tile = (t.dealer + i // 13) % N_SEATS, np.int64(t.wall[i])
        kind = KIND_OF[tile]
        change(hands[seat], keys[seat], kind, np.int64(1))
        factors[seat, DORA] += (1.0 if kind == dora else 0.0) + (1.0 if is_red(tile) else 0.0)
        factors[seat, NORTHS] += 1.0 if kind == NORTH else 0.0
    for seat in range(N_SEATS):
        factors[seat, SHANTEN] += shanten(keys[seat], np.int64(0))


@inner
def measure_draw(
    kind: int, dora: np.ndarray, undrawn: np.ndarray, hand: np.ndarray, keys: np.ndarray, n_melds: int, own: np.ndarray
) -> None:
    """Add the factors of drawing a tile of ``kind`` to a hand to ``own``, float64[N_FACTORS].

    ``dora``: int64[34], how many dora each kind is; ``undrawn``: int64[34], tiles by kind that may come next.
    """
    n_undrawn, expected_dora = undrawn.sum(), (undrawn * dora).sum()
    own[DRAWN_DORA] += dora[kind] - expected_dora / n_undrawn
    own[DRAWN_NORTHS] += (1.0 if kind == NORTH else 0.0) - undrawn[NORTH] / n_undrawn
    now = shanten(keys, n_melds)
    if now > 1:
        return
    useful, n_useful = ukeire_kinds(hand, keys, n_melds), 0
    for other in range(N_KINDS):
        if has_kind(useful, other):
            n_useful += undrawn[other]
    factor = WINNING_DRAWS if now == 0 else TENPAI_DRAWS
    own[factor] += (1.0 if has_kind(useful, kind) else 0.0) - n_useful / n_undrawn


@inner
def measure_round(t: np.record, factors: np.ndarray) -> None:
    """Add the factors of a finished round to ``factors``, float64[3, N_FACTORS]."""
    hands, keys = np.zeros((N_SEATS, N_KINDS), dtype=np.int8), np.zeros((N_SEATS, 3), dtype=np.int32)
    measure_deal(t, hands, keys, factors)
    n_melds = np.zeros(N_SEATS, dtype=np.int64)
    undrawn, dora = np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    for i in range(DEALT, WALL_SIZE):
        undrawn[KIND_OF[t.wall[i]]] += 1
    n_shown = show_dora(t, 0, undrawn, dora)
    for i in range(t.n_log):
        word = t.log[i]
        event, seat = event_type(word), event_actor(word)
        if event == DRAW:
            kind = KIND_OF[t.wall[np.int64(word) >> np.int64(16)]]
            measure_draw(kind, dora, undrawn, hands[seat], keys[seat], n_melds[seat], factors[seat])
            undrawn[kind] -= 1
            change(hands[seat], keys[seat], kind, np.int64(1))
        elif event == NEW_DORA:
            n_shown = show_dora(t, n_shown, undrawn, dora)
        elif USED[event] > 0:
            change(hands[seat], keys[seat], KIND_OF[event_tile(word)], -USED[event])
            n_melds[seat] += 1 if ADDS_MELD[event] else 0


@inner
def show_dora(t: np.record, n_shown: int, undrawn: np.ndarray, dora: np.ndarray) -> int:
    """Turn over the next dora indicator; returns how many are shown then."""
    indicator = KIND_OF[t.wall[DORA_AT[n_shown]]]
    undrawn[indicator] -= 1
    dora[DORA_OF[indicator]] += 1
    return n_shown + 1


@kernel("uint8[::1], int64[::1], float64[:, :, ::1]")
def measure_luck(raw: np.ndarray, ended: np.ndarray, factors: np.ndarray) -> None:
    """Add the rounds that have just ended on the tables ``ended``, int64[m], to ``factors``, [tables, 3, N_FACTORS].

    ``raw``: all tables, uint8[tables * TABLE.itemsize].
    """
    tables = raw.view(TABLE)
    for k in range(len(ended)):
        measure_round(tables[ended[k]], factors[ended[k]])


def luck_of(factors: np.ndarray) -> np.ndarray:
    """Return the effect of the walls on the placement and the final points: [..., seats, N_FACTORS] -> [..., seats, 2].

    Lower placements are better. The luck of the three seats adds up to zero.
    """
    others = (factors.sum(axis=-2, keepdims=True) - factors) / (N_SEATS - 1)
    return (factors - others) @ COEFFICIENTS.T


def adjust_for_luck(values: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return ``values`` [walls] minus the part explained by ``luck`` [walls], both in the order of play.

    A multiple of its luck is subtracted from each value, by regression on the walls before it alone: so the expectation
    of the mean is unchanged, even for a run that stops depending on its results.
    """
    n = np.arange(len(values))  # walls before each
    value, of_luck = (np.cumsum(each) - each for each in (values, luck))
    products, squares = np.cumsum(values * luck) - values * luck, np.cumsum(luck * luck) - luck * luck
    known = (n >= FIRST_REGRESSION) & (squares > 0)
    slope = np.divide(products - value * of_luck / np.maximum(n, 1), squares, out=np.zeros(len(n)), where=known)
    return values - slope * luck
