"""The bot that plays for tile efficiency: lowest shanten, then the largest ukeire, with a concealed hand; no defence.

It always wins, declares riichi and sets norths aside when it can, never calls, and makes a concealed kan where that
does not raise the shanten.
"""

from __future__ import annotations

import numpy as np

from agents.base import DECIDE, compiled_factory
from agents.compiled.kan import ankan_keeping_shanten
from agents.compiled.menu import can_discard, discard_action, is_legal
from agents.compiled.unseen import count_unseen
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.hand import move
from engine.shanten import shanten, ukeire_kinds
from engine.table import TABLE
from engine.tiles import N_KINDS, SANMA_KINDS, TERMINALS_HONOURS

# Played whenever legal, in this order.
ALWAYS = np.array([TSUMO, RON, PASS, NUKIDORA, RIICHI], dtype=np.int64)
# From this shanten on, a hand of nine kinds of terminals and honours is aborted (kyushu kyuhai).
ABORT_SHANTEN = 4
# Among equal discards, the kind that fits fewest runs goes first: honours, then terminals, then the rest.
DISCARD_PRIORITY = np.zeros(N_KINDS, dtype=np.int64)
DISCARD_PRIORITY[TERMINALS_HONOURS] = 1
DISCARD_PRIORITY[27:] = 2


@inner
def fastest_discard(t: np.record) -> int:
    """The kind whose discard leaves the lowest shanten, then the largest ukeire, then by DISCARD_PRIORITY."""
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    best, best_shanten, best_rating = np.int64(-1), np.int64(99), np.int64(-1)
    for kind in SANMA_KINDS:
        if p.hand[kind] == 0 or not can_discard(t, kind):
            continue
        move(p, kind, np.int64(-1))
        after = shanten(p.hand_keys, n_melds)
        if after <= best_shanten:
            ukeire = count_unseen(t, ukeire_kinds(p.hand, p.hand_keys, n_melds))
            rating = 10 * ukeire + DISCARD_PRIORITY[kind]
            if after < best_shanten or rating > best_rating:
                best, best_shanten, best_rating = kind, after, rating
        move(p, kind, np.int64(1))
    return best


@inner
def choose(t: np.record) -> int:
    """The action for one view."""
    p = t.seat[t.viewer]
    for action in ALWAYS:
        if is_legal(t, action):
            return action
    if is_legal(t, np.int64(KYUSHU_KYUHAI)) and shanten(p.hand_keys, np.int64(p.n_melds)) >= ABORT_SHANTEN:
        return np.int64(KYUSHU_KYUHAI)
    kan = ankan_keeping_shanten(t)
    if kan >= 0:
        return kan
    if p.riichi:
        return np.int64(TSUMOGIRI)
    return discard_action(t, fastest_discard(t))


@kernel(DECIDE)
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write the action for each of the first `n` views of `raw` to `actions`."""
    views = raw.view(TABLE)
    for k in range(n):
        actions[k] = choose(views[k])


make = compiled_factory("efficiency", decide)
