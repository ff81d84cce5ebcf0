"""The chance that a discard deals in, by counting the waits a hidden hand could have.

Each two-tile shape that waits for a kind is weighted by the number of ways its tiles can still be hidden, times how
readily players end on such a wait. Shapes that wait for a kind known to be safe are left out: that alone yields
genbutsu, suji, walls (kabe), one-chance and the count of honours left.
"""

from __future__ import annotations

import numpy as np

from engine import events
from engine.compiling import inner
from engine.hand import has_kind
from engine.tiles import HONOUR, KIND_OF, N_KINDS, PIN, SANMA_KINDS

ONE = np.uint64(1)
# How readily a hand ends on each wait, for each way to hold its tiles: ryanmen, kanchan, penchan; shanpon, tanki.
RYANMEN, KANCHAN, PENCHAN = 1.0, 0.32, 0.32
SHANPON, TANKI = 0.9, 0.10
HONOUR_SHANPON, HONOUR_TANKI = 1.2, 0.22

# Events that change the actor's hand, besides a discard from the hand.
CHANGES_HAND = events.USED > 0
CHANGES_HAND[events.DAHAI] = False


@inner
def safe_kinds(t: np.record) -> np.ndarray:
    """Bit masks of the kinds safe against each seat, uint64[3].

    Those are its own discards, and the kinds discarded by anybody since its hand last changed, which it did not ron.
    """
    safe = np.zeros(3, dtype=np.uint64)
    in_riichi = np.zeros(3, dtype=np.bool_)
    for i in range(t.n_log):
        word = np.int64(t.log[i])
        event, actor = events.event_type(word), events.event_actor(word)
        if event == events.DAHAI:
            if not in_riichi[actor] and not events.event_tsumogiri(word):
                safe[actor] = np.uint64(0)
            bit = ONE << np.uint64(KIND_OF[events.event_tile(word)])
            for seat in range(3):
                safe[seat] |= bit
        elif event == events.REACH_ACCEPTED:
            in_riichi[actor] = True
        elif CHANGES_HAND[event] and not in_riichi[actor]:
            safe[actor] = np.uint64(0)
    for seat in range(3):
        safe[seat] |= np.uint64(t.seat[seat].discarded)
    return safe


@inner
def add_run_waits(unseen: np.ndarray, safe: np.uint64, first: int, weight: np.ndarray) -> float:
    """Add to `weight` float64[34] the waits on runs in the suit that starts at kind `first`.

    Returns the total weight of the shapes; a ryanmen, which waits for two kinds, counts once.
    """
    total = 0.0
    for low in range(first, first + 8):  # neighbours: ryanmen, at the ends penchan
        ways = unseen[low] * unseen[low + 1]
        below, above = low - 1, low + 2
        if low == first or low == first + 7:
            wait = above if low == first else below
            if not has_kind(safe, wait):
                weight[wait] += PENCHAN * ways
                total += PENCHAN * ways
        elif not has_kind(safe, below) and not has_kind(safe, above):
            weight[below] += RYANMEN * ways
            weight[above] += RYANMEN * ways
            total += RYANMEN * ways
    for low in range(first, first + 7):
        if not has_kind(safe, low + 1):
            ways = KANCHAN * unseen[low] * unseen[low + 2]
            weight[low + 1] += ways
            total += ways
    return total


@inner
def fill_deal_in_rates(unseen: np.ndarray, safe: np.uint64, rates: np.ndarray) -> None:
    """Fill `rates` float64[34] with the chance that each kind is a wait of a tenpai hand.

    `unseen` float64[34] counts the tiles the viewer does not see; `safe` is the bit mask of kinds that cannot be waits.
    """
    rates[:] = 0.0
    total = add_run_waits(unseen, safe, np.int64(PIN), rates) + add_run_waits(unseen, safe, np.int64(PIN + 9), rates)
    for kind in SANMA_KINDS:
        if has_kind(safe, kind):
            continue
        left = unseen[kind]
        if kind >= HONOUR:
            ways = HONOUR_SHANPON * left * (left - 1) / 2 + HONOUR_TANKI * left
        else:
            ways = SHANPON * left * (left - 1) / 2 + TANKI * left
        rates[kind] += ways
        total += ways
    if total > 0:
        for kind in range(N_KINDS):
            rates[kind] /= total
