"""How likely an opponent holds a tile, by what it has discarded: the features of a log-linear model."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.value import value_han
from agents.compiled.seats import in_riichi
from agents.compiled.unseen import unseen
from engine.compiling import inner
from engine.table import RIVER_TILE, RIVER_TSUMOGIRI
from engine.tiles import HONOUR, KIND_OF, NORTH, PIN

# Classes of kinds: 1m and 9m, 1 and 9, 2 and 8, 3 to 7, honours that do not count for the seat, that do, north.
N_CLASSES, N_TURNS = 7, 5
RANK_CLASS = np.array([1, 2, 3, 3, 3, 3, 3, 2, 1], dtype=np.int64)
GUEST_HONOUR, VALUE_HONOUR, NORTH_CLASS = 4, 5, 6
CLASS_GROUP = np.array([0, 0, 1, 1, 2, 2, 2], dtype=np.int64)  # of each class: outside, inside, honours
TURN_LENGTH = 3  # discards of the seat
EARLY = 6  # discards of a seat that are early

OWN_AT = N_CLASSES * N_TURNS  # the kind itself was discarded early, late, and from the hand
NEAR_AT = OWN_AT + 3  # discards one rank away: early, late, from the hand, just drawn; then those two ranks away
DORA_AT = NEAR_AT + 8
LEFT_AT = DORA_AT + 1  # 1, 2 or 4 tiles of the kind are unseen
RIICHI_AT = LEFT_AT + 3  # the seat is in riichi, by group of the kind
MELD_AT = RIICHI_AT + 3  # the seat has melds, by group of the kind; then: of two melds or more, one is of its suit
N_FEATURES = MELD_AT + 4


@inner
def class_of(t: np.record, seat: int, kind: int) -> int:
    """The class of `kind` for `seat`."""
    if kind == NORTH:
        return np.int64(NORTH_CLASS)
    if kind >= HONOUR:
        return np.int64(VALUE_HONOUR) if value_han(t, seat, kind) > 0 else np.int64(GUEST_HONOUR)
    return RANK_CLASS[kind % 9] if kind >= PIN else np.int64(0)


@inner
def tile_features(t: np.record, seat: int, kind: int, dora: np.ndarray, out: np.ndarray) -> None:
    """Write the features of `kind` being held by `seat`, as the viewer sees it, into `out` float64[N_FEATURES].

    `dora` int64[34]: what a tile of each kind counts.
    """
    out[:] = 0.0
    p = t.seat[seat]
    what = class_of(t, seat, kind)
    n_river = np.int64(p.n_river)
    out[what * N_TURNS + min(n_river // TURN_LENGTH, N_TURNS - 1)] = 1.0
    for i in range(n_river):
        other = KIND_OF[np.int64(p.river[i]) & RIVER_TILE]
        late = np.int64(i >= EARLY)
        drawn = np.int64((p.river[i] & RIVER_TSUMOGIRI) != 0)
        if other == kind:
            out[OWN_AT + late] = 1.0
            if not drawn:
                out[OWN_AT + 2] = 1.0
        elif PIN <= kind < HONOUR and other // 9 == kind // 9 and abs(other - kind) <= 2:
            at = NEAR_AT + 4 * (abs(other - kind) - 1)
            out[at + late] += 1.0
            out[at + 2 + drawn] += 1.0
    out[DORA_AT] = dora[kind]
    left = unseen(t, kind)
    if left == 1 or left == 2 or left == 4:
        out[LEFT_AT + min(left - 1, 2)] = 1.0
    if in_riichi(t, seat):
        out[RIICHI_AT + CLASS_GROUP[what]] = 1.0
    if p.n_melds > 0:
        out[MELD_AT + CLASS_GROUP[what]] = 1.0
    if p.n_melds > 1:
        for i in range(p.n_melds):
            if np.int64(p.meld_kind[i]) // 9 == kind // 9:
                out[MELD_AT + 3] = 1.0
