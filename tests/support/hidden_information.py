"""Replaces everything that is hidden from a seat by random bytes.

Public fields are listed, all others count as hidden: a new field of the records must be blanked in views or listed
here.
"""

from __future__ import annotations

import numpy as np

from engine.table import DEALT, EVERYBODY, SEAT, TABLE, URA_AT
from engine.tiles import N_TILES

PUBLIC_IN_SEAT = {
    "discarded", "score", "start_score", "n_melds", "meld_type", "meld_kind", "meld_red", "meld_called", "meld_from",
    "open", "nukidora", "n_river", "river", "riichi", "riichi_river", "ippatsu", "nagashi", "pao_daisangen",
    "pao_daisuushii",
}  # fmt: skip
PUBLIC = {
    "log", "ryukyoku_deltas", "n_log", "honba", "sticks", "rules", "viewer", "phase", "wall_given", "round_wind",
    "dealer", "turn", "after_replacement", "offer", "offer_type", "riichi_pending", "kuikae", "first_turn", "live_left",
    "n_replacements", "n_indicators", "pending_indicators", "n_kans", "n_wins", "ryukyoku_reason", "ryukyoku_tenpai",
    "dealer_stays", "seen", "known_by",
}  # fmt: skip
PARTLY_PUBLIC = {"seat", "legal", "win", "answer", "drawn", "wall"}
# What the scorer leaves in the second win when it has looked at somebody's hand and nobody, or one seat, has won.
SCRATCH = ("basic", "fu", "han", "yakuman", "yaku")


def noise(record: np.record, name: str, rng: np.random.Generator) -> None:
    """Random bytes for one field."""
    field = record[name]
    random = np.frombuffer(rng.bytes(field.nbytes), dtype=field.dtype)
    record[name] = random.reshape(field.shape) if field.shape else random[0]


def shuffle_hidden(table: np.ndarray, viewer: int, rng: np.random.Generator) -> None:
    """Change everything `viewer` may not know on the one table in `table`, TABLE[1]."""
    t = table[0]
    for name in set(TABLE.names) - PUBLIC - PARTLY_PUBLIC:
        noise(t, name, rng)
    for other in range(3):
        t.answer[other] = rng.integers(-1, 100)
        if other != viewer:
            t.legal[other] = rng.integers(1 << 63, size=2, dtype=np.uint64)
            for name in set(SEAT.names) - PUBLIC_IN_SEAT:
                noise(t.seat[other], name, rng)
    if t.turn != viewer:
        t.drawn = rng.integers(N_TILES)
    if t.n_wins < 2:
        for name in SCRATCH:
            noise(t.win[1], name, rng)
    hidden = np.flatnonzero((t.known_by != viewer) & (t.known_by != EVERYBODY))
    assert np.isin(URA_AT[:3], hidden).all()
    assert (hidden < DEALT).any()
    t.wall[hidden] = rng.integers(N_TILES, size=len(hidden))
