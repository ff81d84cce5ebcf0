"""Score many hands in one call."""

from __future__ import annotations

import numpy as np
from numba import boolean

from engine.compiling import array_of, inner, kernel
from engine.rules import MAX_INDICATORS
from engine.scoring.hand import count_dora, score_hand
from engine.table import MAX_MELDS, WIN, record
from engine.tiles import N_KINDS

HAND = record(
    [
        ("hand", "i1", N_KINDS),  # concealed tiles by kind, the winning tile included
        ("n_melds", "i1"),
        ("meld_type", "i1", MAX_MELDS),
        ("meld_kind", "i1", MAX_MELDS),
        ("win_kind", "i1"),
        ("situation", "u1"),  # bits of engine/scoring/yaku.py
        ("seat_wind", "i1"),
        ("round_wind", "i1"),
        ("red", "i1"),  # red fives in the hand and its melds
        ("nuki", "i1"),  # norths declared as nukidora
        ("n_dora", "i1"),
        ("n_ura", "i1"),  # 0 unless in riichi
        ("dora", "i1", MAX_INDICATORS),  # indicators, tile37
        ("ura", "i1", MAX_INDICATORS),
    ]
)


@inner
def _dora(h: np.record, indicators: np.ndarray, n: int) -> int:
    """Dora count of the hand `h` by the first `n` of `indicators`."""
    count = np.int64(0)
    for i in range(n):
        count += count_dora(
            h.hand, np.int64(h.n_melds), h.meld_type, h.meld_kind, np.int64(h.nuki), np.int64(indicators[i])
        )
    return count


@kernel((array_of(HAND), boolean, array_of(WIN)))
def score_batch(hands: np.ndarray, double_yakuman: bool, wins: np.ndarray) -> None:
    """Score `hands` HAND[n] into `wins` WIN[n], each as `engine.scoring.hand.score_hand` does."""
    for i in range(len(hands)):
        h = hands[i]
        score_hand(
            h.hand,
            np.int64(h.n_melds),
            h.meld_type,
            h.meld_kind,
            np.int64(h.win_kind),
            np.int64(h.situation),
            np.int64(h.seat_wind),
            np.int64(h.round_wind),
            _dora(h, h.dora, np.int64(h.n_dora)),
            np.int64(h.red),
            _dora(h, h.ura, np.int64(h.n_ura)),
            np.int64(h.nuki),
            double_yakuman,
            wins[i],
        )
