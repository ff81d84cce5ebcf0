"""What two draws can make of a hand: ukeire after a useful draw, and tegawari (draws that make tiles useful)."""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.compiled.seats import in_riichi
from agents.compiled.unseen import unseen
from agents.selfplay.features import LEAVES_HAND, MELDS_OF_TYPE, TILES_OF_TYPE, TYPE_OF, tile_of
from agents.selfplay.layout import ACTION, HAND, SHANTEN_AT
from engine.actions import RIICHI, TSUMOGIRI
from engine.compiling import inner
from engine.hand import has_kind, move
from engine.shanten import second_draws
from engine.tiles import KIND_OF, N_SANMA, SANMA_KINDS

IISHANTEN_AT = ACTION.hand + HAND.shantens + 1  # of an action: whether the hand that it leaves is one from tenpai
GOOD_WAIT = 5  # tiles: more than a kanchan, a penchan or a shanpon has

# Of the hand that an action leaves, in unseen tiles. Useful after a draw is what is useful after some discard (see
# `second_draws`): at least what the best discard leaves. After a pon, too, a discard is still to come: its numbers are
# higher than those of a hand that has discarded.
DRAWS, N_DRAWS = offsets_of(
    (
        Block("pairs", 1, "two draws that lower the shanten by two, in thousands, each order counted"),
        Block("ukeire", 1, "ukeire after a useful draw, the mean / 30"),
        Block("good", 1, "of an iishanten hand: share of the useful draws after which GOOD_WAIT tiles complete it"),
        Block("gain", 1, "tegawari: tiles that a draw which is not useful makes useful, the mean / 10"),
        Block("gaining", 1, "draws that make any tile useful, / 40"),
        Block("pairs_share", 1, "`pairs` as a share of the highest; 0 unless the action leaves the lowest shanten"),
    )
)


@inner
def draw_features(t: np.record, left: np.ndarray, action: int, kind: int, row: np.ndarray, out: np.ndarray) -> None:
    """Write the features of the hand that `action` with a tile of `kind` leaves into `out` float32[N_DRAWS], zeros.

    `pairs_share` is left out. `left` int64[N_SANMA]: unseen tiles of each of SANMA_KINDS. `row`: the features of
    `selfplay` of this action.
    """
    what = TYPE_OF[action]
    p = t.seat[t.viewer]
    tiles = np.zeros(N_SANMA, dtype=np.int64)
    move(p, kind, -TILES_OF_TYPE[what])
    ukeire = second_draws(p.hand_keys, np.int64(p.n_melds) + MELDS_OF_TYPE[what], left, tiles)
    move(p, kind, TILES_OF_TYPE[what])
    useful = useless = pairs = good = gain = gaining = np.int64(0)
    for i in range(N_SANMA):
        if has_kind(ukeire, SANMA_KINDS[i]):
            useful += left[i]
            pairs += left[i] * tiles[i]
            good += left[i] * (tiles[i] >= GOOD_WAIT)
        else:
            useless += left[i]
            gain += left[i] * tiles[i]
            gaining += left[i] * (tiles[i] > 0)
    out[DRAWS.pairs] = pairs / 1000
    if useful > 0:
        out[DRAWS.ukeire] = pairs / useful / 30
        out[DRAWS.good] = good / useful if row[IISHANTEN_AT] == 1 else 0
    if useless > 0:
        out[DRAWS.gain] = gain / useless / 10
    out[DRAWS.gaining] = gaining / 40


@inner
def write_draw_features(t: np.record, numbers: np.ndarray, rows: np.ndarray, lowest: float, draws_at: int) -> None:
    """Write the features of draws of all actions `numbers` int64[n] into `rows` float32[n, :], from `draws_at` on.

    `lowest` is the lowest shanten that these actions leave, as a feature. To save time, discards that leave more have
    none of the features, nor have the declaration of riichi, the discard that goes with it, and hands in riichi.
    """
    if in_riichi(t, np.int64(t.viewer)):
        return
    left = np.empty(N_SANMA, dtype=np.int64)
    for i in range(N_SANMA):
        left[i] = unseen(t, SANMA_KINDS[i])
    most = np.float32(0)
    for k in range(len(numbers)):
        action = np.int64(numbers[k])
        nearest = rows[k, SHANTEN_AT] == lowest
        if LEAVES_HAND[TYPE_OF[action]] and action != RIICHI and (nearest or action > TSUMOGIRI):
            draw_features(t, left, action, KIND_OF[tile_of(t, action)], rows[k], rows[k, draws_at:])
            if nearest:
                most = max(most, rows[k, draws_at])
    if most == 0:
        return
    for k in range(len(numbers)):
        if rows[k, SHANTEN_AT] == lowest:
            rows[k, draws_at + DRAWS.pairs_share] = rows[k, draws_at] / most
