"""The bot that makes the fastest concealed hand: lowest shanten, then most useful tiles left; it never defends.

It always declares riichi, lays norths and wins at once, never calls, and makes a closed kan where that does not set the
hand back.
"""

from __future__ import annotations

import numpy as np

from agents.base import compiled
from agents.compiled.kan import harmless_kan
from agents.compiled.menu import discard_action, may, may_discard
from agents.compiled.unseen import count_unseen
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.hand import move
from engine.shanten import shanten, ukeire_kinds
from engine.table import TABLE
from engine.tiles import N_KINDS, SANMA_KINDS, TERMINALS_HONOURS

# What is taken wherever it is on the menu, in this order.
ALWAYS = np.array([TSUMO, RON, PASS, NUKIDORA, RIICHI], dtype=np.int64)
# With this shanten or more a hand full of terminals and honours is dealt anew.
HOPELESS = 4
# Among equals the tile that fits fewest runs goes first: honours, terminals, then the rest.
OUTER = np.zeros(N_KINDS, dtype=np.int64)
OUTER[TERMINALS_HONOURS] = 1
OUTER[27:] = 2


@inner
def fastest_discard(t: np.record) -> int:
    """The kind whose discard leaves the lowest shanten, then the most useful tiles; the outermost of equals."""
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    best, best_shanten, best_rating = np.int64(-1), np.int64(99), np.int64(-1)
    for kind in SANMA_KINDS:
        if p.hand[kind] == 0 or not may_discard(t, kind):
            continue
        move(p, kind, np.int64(-1))
        after = shanten(p.hand_keys, n_melds)
        if after <= best_shanten:
            useful = count_unseen(t, ukeire_kinds(p.hand, p.hand_keys, n_melds))
            rating = 10 * useful + OUTER[kind]
            if after < best_shanten or rating > best_rating:
                best, best_shanten, best_rating = kind, after, rating
        move(p, kind, np.int64(1))
    return best


@inner
def choose(t: np.record) -> int:
    """The action for one view."""
    p = t.seat[t.viewer]
    for action in ALWAYS:
        if may(t, action):
            return action
    if may(t, np.int64(KYUSHU_KYUHAI)) and shanten(p.hand_keys, np.int64(p.n_melds)) >= HOPELESS:
        return np.int64(KYUSHU_KYUHAI)
    kan = harmless_kan(t)
    if kan >= 0:
        return kan
    if p.riichi:
        return np.int64(TSUMOGIRI)
    return discard_action(t, fastest_discard(t))


@kernel
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """See `agents.base.Decide`."""
    views = raw.view(TABLE)
    for k in range(n):
        actions[k] = choose(views[k])


make = compiled("efficiency", decide)
