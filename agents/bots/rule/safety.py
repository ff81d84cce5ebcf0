"""How likely a discard deals in, by counting the waits a hidden hand could have.

Every two-tile shape that waits for a kind counts as often as its tiles can still be hidden, times how readily players
end on such a wait. Shapes that wait for a kind known to be safe drop out: that alone gives genbutsu, suji, walls,
one-chance and the count of honours left.
"""

from __future__ import annotations

import numpy as np

from engine import events
from engine.compiling import inner
from engine.hand import has_kind
from engine.tiles import HONOUR, KIND_OF, N_KINDS, PIN, SANMA_KINDS

ONE = np.uint64(1)
# How readily a hand ends on each wait, for each way to hold its tiles.
TWO_SIDED, CLOSED, EDGE = 1.0, 0.32, 0.32
PAIRS, SINGLE = 0.9, 0.10
HONOUR_PAIRS, HONOUR_SINGLE = 1.2, 0.22

# Events after which the actor's hand is another one, a tsumogiri apart.
CHANGES_HAND = np.zeros(16, dtype=np.bool_)
CHANGES_HAND[[events.PON, events.DAIMINKAN, events.ANKAN, events.KAKAN, events.NUKIDORA]] = True


@inner
def safe_kinds(t: np.record) -> np.ndarray:
    """uint64[3] masks of kinds safe against each seat: its discards, and what passed since its hand last changed."""
    safe = np.zeros(3, dtype=np.uint64)
    fixed = np.zeros(3, dtype=np.bool_)
    for i in range(t.n_log):
        word = np.int64(t.log[i])
        kind_of_event, actor = events.event_type(word), events.event_actor(word)
        if kind_of_event == events.DAHAI:
            if not fixed[actor] and not events.event_tsumogiri(word):
                safe[actor] = np.uint64(0)
            bit = ONE << np.uint64(KIND_OF[events.event_tile(word)])
            for seat in range(3):
                safe[seat] |= bit
        elif kind_of_event == events.REACH_ACCEPTED:
            fixed[actor] = True
        elif CHANGES_HAND[kind_of_event] and not fixed[actor]:
            safe[actor] = np.uint64(0)
    for seat in range(3):
        safe[seat] |= np.uint64(t.seat[seat].discarded)
    return safe


@inner
def add_runs(unseen: np.ndarray, safe: np.uint64, first: int, weight: np.ndarray) -> float:
    """Add to `weight` float64[34] the run shapes of the suit from kind `first` on; returns the weight of all shapes."""
    total = 0.0
    for low in range(first, first + 8):  # neighbours: two-sided, at the ends edge waits
        ways = unseen[low] * unseen[low + 1]
        below, above = low - 1, low + 2
        if low == first or low == first + 7:
            wait = above if low == first else below
            if not has_kind(safe, wait):
                weight[wait] += EDGE * ways
                total += EDGE * ways
        elif not has_kind(safe, below) and not has_kind(safe, above):
            weight[below] += TWO_SIDED * ways
            weight[above] += TWO_SIDED * ways
            total += TWO_SIDED * ways
    for low in range(first, first + 7):
        if not has_kind(safe, low + 1):
            ways = CLOSED * unseen[low] * unseen[low + 2]
            weight[low + 1] += ways
            total += ways
    return total


@inner
def deal_in_rates(unseen: np.ndarray, safe: np.uint64, rates: np.ndarray) -> None:
    """Fill `rates` float64[34] with the chance that each kind is a wait of a tenpai hand with these `safe` kinds."""
    rates[:] = 0.0
    total = add_runs(unseen, safe, np.int64(PIN), rates) + add_runs(unseen, safe, np.int64(PIN + 9), rates)
    for kind in SANMA_KINDS:
        if has_kind(safe, kind):
            continue
        left = unseen[kind]
        if kind >= HONOUR:
            ways = HONOUR_PAIRS * left * (left - 1) / 2 + HONOUR_SINGLE * left
        else:
            ways = PAIRS * left * (left - 1) / 2 + SINGLE * left
        rates[kind] += ways
        total += ways
    if total > 0:
        for kind in range(N_KINDS):
            rates[kind] /= total
