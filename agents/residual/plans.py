"""Features of the position kind by kind, and of what an action leaves of the plans of a hand."""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.bots.rule.value import dora_han, toitoi_shanten, value_han
from agents.residual.rivers import N_OPPONENTS
from agents.rl.suits import by_kind, side_by_side
from agents.selfplay.features import LEAVES_HAND, MELDS_OF_TYPE, TILES_OF_TYPE, TYPE_OF
from engine.actions import TSUMOGIRI
from engine.compiling import inner
from engine.hand import has_kind, move
from engine.shanten import regular_shanten, seven_pairs_shanten, thirteen_orphans_shanten
from engine.table import N_SEATS, RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import HONOUR, KIND_OF, N_SANMA, PIN, SANMA_INDEX, SANMA_KINDS, is_red

# Of the position. A block of N_SANMA has a number for each of SANMA_KINDS; those of seats begin with the viewer's.
TILES, N_TILES = offsets_of(
    (
        Block("two", N_SANMA, "1 if two or more are held"),
        Block("three", N_SANMA, "1 if three or more are held"),
        Block("dora", N_SANMA, "the dora a tile counts"),
        Block("melds", N_SEATS * N_SANMA, "1 if the seat has a meld of the kind"),
        Block("safe", N_OPPONENTS * N_SANMA, "1 if the kind is safe against the opponent"),
        Block(
            "tedashi",
            N_OPPONENTS * N_SANMA,
            "when the opponent last discarded it from the hand, as a share of its river",
        ),
        Block("reds", 2, "1 if the red five of pin is held, and of sou"),
    )
)
# Of an action with a tile; the plans are of the hand that it leaves, without the tiles of a new meld.
LEFT, N_LEFT = offsets_of(
    (
        Block("kind", N_SANMA, "1 for the kind of the tile"),
        Block("seven_pairs", 1, "shanten, / 6; 1 with melds"),
        Block("thirteen_orphans", 1, "shanten, / 6; 2 with melds"),
        Block("regular", 1, "shanten to four sets and a pair, / 6"),
        Block("toitoi", 1, "shanten, / 6"),
        Block("dora_han", 1, "dora, / 4"),
        Block("pairs", 1, "kinds of which it holds two, / 4"),
        Block("triplets", 1, "kinds of which it holds three or more, / 4"),
        Block("value_pairs", 1, "han of its pairs as triplets, / 2"),
        Block("ranks", 2, "ranks that it holds of pin, / 9 (for ittsu), and of sou"),
        Block("suits", 2, "tiles of pin, / 14, and of sou"),
        Block("isolated", 1, "number tiles without another within two ranks, / 4"),
        Block("middle", 1, "tiles from 4 to 6, which are not of chanta, / 14"),
    )
)


def tiles_suits(at: int) -> list[tuple[int, int]]:
    """The pairs of features for pin and sou in those of `tiles_features` that begin at `at`; see `agents.rl.suits`."""
    return [pair for i in range(TILES.two, TILES.reds, N_SANMA) for pair in by_kind(at + i)] + side_by_side(
        [at + TILES.reds]
    )


def left_suits(at: int) -> list[tuple[int, int]]:
    """The pairs of features for pin and sou in those of `left_features` that begin at `at`."""
    return [*by_kind(at + LEFT.kind), *side_by_side([at + LEFT.ranks, at + LEFT.suits])]


@inner
def tiles_features(t: np.record, dora: np.ndarray, safe: np.ndarray, out: np.ndarray) -> None:
    """Write the features of the position kind by kind into `out` float32[N_TILES], which is zero.

    `dora` int64[N_KINDS]: the dora a tile of each kind counts. `safe` uint64[3]: the kinds safe against each seat.
    """
    me = np.int64(t.viewer)
    for i in range(N_SANMA):
        kind = SANMA_KINDS[i]
        held = t.seat[me].hand[kind]
        out[TILES.two + i] = held >= 2
        out[TILES.three + i] = held >= 3
        out[TILES.dora + i] = dora[kind]
        for step in range(N_OPPONENTS):
            out[TILES.safe + step * N_SANMA + i] = has_kind(safe[(me + step + 1) % N_SEATS], kind)
    for step in range(N_SEATS):
        p = t.seat[(me + step) % N_SEATS]
        for m in range(p.n_melds):
            out[TILES.melds + step * N_SANMA + SANMA_INDEX[p.meld_kind[m]]] = 1
        if step > 0:
            at = TILES.tedashi + (step - 1) * N_SANMA
            for i in range(p.n_river):
                if (p.river[i] & RIVER_TSUMOGIRI) == 0:
                    out[at + SANMA_INDEX[KIND_OF[p.river[i] & RIVER_TILE]]] = (i + 1) / np.float64(p.n_river)
    out[TILES.reds] = t.seat[me].red[0]
    out[TILES.reds + 1] = t.seat[me].red[1]


@inner
def is_isolated(p: np.record, kind: int) -> bool:
    """Whether the only number tile of `kind` in the hand has no other within two ranks."""
    if p.hand[kind] != 1:
        return False
    if kind < PIN:  # man has no runs
        return True
    for distance in (-2, -1, 1, 2):
        near = kind + distance
        if near // 9 == kind // 9 and p.hand[near] > 0:
            return False
    return True


@inner
def left_features(t: np.record, dora: np.ndarray, action: int, tile: int, out: np.ndarray) -> None:
    """Write the features of what `action` with `tile` (a tile37) leaves into `out` float32[N_LEFT], which is zero."""
    kind, what = KIND_OF[tile], TYPE_OF[action]
    out[LEFT.kind + SANMA_INDEX[kind]] = 1
    if not LEAVES_HAND[what]:
        return
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds) + MELDS_OF_TYPE[what]
    move(p, kind, -TILES_OF_TYPE[what])
    out[LEFT.seven_pairs] = seven_pairs_shanten(p.hand_keys) / 6 if n_melds == 0 else 1
    out[LEFT.thirteen_orphans] = thirteen_orphans_shanten(p.hand_keys) / 6 if n_melds == 0 else 2
    out[LEFT.regular] = regular_shanten(p.hand_keys, n_melds) / 6
    out[LEFT.toitoi] = (toitoi_shanten(p) - 2 * MELDS_OF_TYPE[what]) / 6
    out[LEFT.dora_han] = (dora_han(p, dora) - (action <= TSUMOGIRI and is_red(tile))) / 4
    for each in SANMA_KINDS:
        held = np.int64(p.hand[each])
        if held == 0:
            continue
        out[LEFT.pairs] += (held == 2) / 4
        out[LEFT.triplets] += (held >= 3) / 4
        if held == 2:
            out[LEFT.value_pairs] += value_han(t, np.int64(t.viewer), each) / 2
        if each < HONOUR:
            out[LEFT.isolated] += is_isolated(p, each) / 4
            if each >= PIN:
                out[LEFT.ranks + each // 9 - 1] += 1 / 9
                out[LEFT.suits + each // 9 - 1] += held / 14
                if 3 <= each % 9 <= 5:
                    out[LEFT.middle] += held / 14
    move(p, kind, TILES_OF_TYPE[what])
