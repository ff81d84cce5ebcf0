"""The distinct actions of a menu, and the features of the hand after each.

The features do not depend on the learned weights, so a discard that follows (riichi, pon) is the best one by the
starting weights.
"""

from __future__ import annotations

import numpy as np

from agents.compiled.melds import take_back, try_meld
from agents.compiled.menu import is_legal
from agents.linear.features import INDEX, N_FEATURES, START
from agents.linear.hand import fill_hand
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    DISCARD,
    KAKAN,
    KYUSHU_KYUHAI,
    NUKIDORA,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.compiling import inner
from engine.hand import add_tile, has_kind, move, reds_held
from engine.kernels import write_legal
from engine.shanten import discards_keeping_shanten, shanten
from engine.table import ANKAN_MELD, DAIMINKAN_MELD, KAKAN_MELD, PON_MELD, RIICHI_DISCARD
from engine.tiles import KIND_OF, NORTH, RED_5P, RED_INDEX, SANMA_KINDS, is_red

ABORT, REPLACEMENT, KAN, KAN_THREAT = (INDEX[name] for name in ("abort", "replacement", "kan", "kan_threat"))
IN_RIICHI, RIICHI_USEFUL, RIICHI_DORA, RIICHI_LATE, RIICHI_THREAT = (
    INDEX[name] for name in ("riichi", "riichi_useful", "riichi_dora", "riichi_late", "riichi_threat")
)
DORA, RED, NUKIDORAS, USEFUL = (INDEX[name] for name in ("dora", "red", "nukidora", "useful_0"))
DANGER = INDEX["danger_0"]
LATE_DRAWS = 15
ANY_SHANTEN = 99


@inner
def dot(phi: np.ndarray, weights: np.ndarray) -> float:
    """The sum of `phi` float64[N_FEATURES] times `weights`, in four sums that do not wait for each other."""
    a = b = c = d = 0.0
    whole = N_FEATURES - N_FEATURES % 4
    for i in range(0, whole, 4):
        a += phi[i] * weights[i]
        b += phi[i + 1] * weights[i + 1]
        c += phi[i + 2] * weights[i + 2]
        d += phi[i + 3] * weights[i + 3]
    for i in range(whole, N_FEATURES):
        a += phi[i] * weights[i]
    return a + b + c + d


@inner
def same_action(t: np.record, action: int) -> int:
    """The candidate that stands for `action`: TSUMOGIRI for the discard of the same tile from the hand."""
    if action == t.drawn and is_legal(t, np.int64(TSUMOGIRI)):
        return np.int64(TSUMOGIRI)
    return np.int64(action)


@inner
def candidates(t: np.record, actions: np.ndarray) -> int:
    """Write the viewer's distinct legal actions to `actions` int64[MENU]; return their number.

    A win, if there is one, is the only candidate.
    """
    for win in (TSUMO, RON):
        if is_legal(t, np.int64(win)):
            actions[0] = win
            return np.int64(1)
    n = np.int64(0)
    for i in range(write_legal(t, np.int64(t.viewer), actions)):
        if same_action(t, actions[i]) == actions[i]:
            actions[n] = actions[i]
            n += 1
    return n


@inner
def add_riichi(t: np.record, context: np.record, phi: np.ndarray) -> None:
    """Add the features of a hand in riichi."""
    phi[IN_RIICHI] = 1.0
    phi[RIICHI_USEFUL] = phi[USEFUL]
    phi[RIICHI_DORA] = phi[DORA] + phi[RED] + phi[NUKIDORAS]
    phi[RIICHI_LATE] = t.live_left <= LATE_DRAWS
    phi[RIICHI_THREAT] = context.threats > 0


@inner
def fill_discard(t: np.record, context: np.record, tile: int, riichi: bool, nearest: int, phi: np.ndarray) -> None:
    """The features after the discard of a tile37; `nearest` is the lowest shanten that a discard leaves."""
    p = t.seat[t.viewer]
    add_tile(p, tile, np.int64(-1))
    distance = fill_hand(t, context, nearest, phi)
    phi[DANGER + min(max(distance, np.int64(0)), np.int64(2))] = context.danger[KIND_OF[tile]]
    if riichi:
        add_riichi(t, context, phi)
    add_tile(p, tile, np.int64(1))


@inner
def lowest_shanten(p: np.record) -> int:
    """The lowest shanten that a discard from this hand of 14 - 3m tiles leaves."""
    return max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))


@inner
def fill_best_discard(t: np.record, context: np.record, forbidden: int, riichi: bool) -> None:
    """The features after the best discard by the starting weights among those that leave the lowest shanten.

    A tile of kind `forbidden` is not discarded.
    """
    p = t.seat[t.viewer]
    n_melds, nearest = np.int64(p.n_melds), lowest_shanten(p)
    keeping = np.uint64(discards_keeping_shanten(p.hand, p.hand_keys, n_melds))
    best = -np.inf
    for any_kind in range(2):  # a hand that only the forbidden kind keeps at its shanten discards any other
        for kind in SANMA_KINDS:
            if p.hand[kind] == 0 or kind == forbidden or not (any_kind or has_kind(keeping, kind)):
                continue
            tile = kind if p.hand[kind] > reds_held(p, kind) else RED_5P + RED_INDEX[kind]
            fill_discard(t, context, tile, riichi, nearest, context.try_phi)
            value = dot(context.try_phi, START)
            if value > best:
                best = value
                context.phi[:] = context.try_phi
        if best > -np.inf:
            return


@inner
def fill_call(t: np.record, context: np.record, meld_type: int, reds: int) -> None:
    """The features after a call of the tile on offer, with `reds` red fives of the hand."""
    p = t.seat[t.viewer]
    kind = KIND_OF[t.offer]
    taken = np.int64(2 if meld_type == PON_MELD else 3)
    was_open = try_meld(p, meld_type, kind, taken, reds, np.int64(is_red(np.int64(t.offer))))
    if meld_type == PON_MELD:
        fill_best_discard(t, context, kind, np.bool_(False))
    else:
        fill_hand(t, context, ANY_SHANTEN, context.phi)
    take_back(p, taken, reds, was_open)


@inner
def fill_ankan(t: np.record, context: np.record, kind: int) -> None:
    """The features after a concealed kan."""
    p = t.seat[t.viewer]
    reds = reds_held(p, kind)
    was_open = try_meld(p, np.int64(ANKAN_MELD), kind, np.int64(4), reds, np.int64(0))
    fill_hand(t, context, ANY_SHANTEN, context.phi)
    take_back(p, np.int64(4), reds, was_open)


@inner
def fill_kakan(t: np.record, context: np.record, kind: int) -> None:
    """The features after a tile is added to a pon."""
    p = t.seat[t.viewer]
    reds = reds_held(p, kind)
    tile = kind if reds == 0 else RED_5P + RED_INDEX[kind]
    add_tile(p, tile, np.int64(-1))
    for m in range(p.n_melds):
        if p.meld_kind[m] == kind:
            p.meld_type[m] = KAKAN_MELD
            p.meld_red[m] += reds
    fill_hand(t, context, ANY_SHANTEN, context.phi)
    for m in range(p.n_melds):
        if p.meld_kind[m] == kind:
            p.meld_type[m] = PON_MELD
            p.meld_red[m] -= reds
    add_tile(p, tile, np.int64(1))


@inner
def fill_replacing(t: np.record, context: np.record, action: int) -> None:
    """The features after an action that draws a replacement tile: nukidora or a kan."""
    p = t.seat[t.viewer]
    if action == NUKIDORA:
        move(p, np.int64(NORTH), np.int64(-1))
        p.nukidora += 1
        fill_hand(t, context, ANY_SHANTEN, context.phi)
        p.nukidora -= 1
        move(p, np.int64(NORTH), np.int64(1))
    elif action == DAIMINKAN:
        fill_call(t, context, np.int64(DAIMINKAN_MELD), reds_held(p, KIND_OF[t.offer]))
    elif action >= KAKAN:
        fill_kakan(t, context, action - KAKAN)
    else:
        fill_ankan(t, context, action - ANKAN)
    context.phi[REPLACEMENT] = 1.0
    if action != NUKIDORA:
        context.phi[KAN] = 1.0
        context.phi[KAN_THREAT] = context.threats > 0
    if p.riichi:
        add_riichi(t, context, context.phi)


@inner
def fill_action(t: np.record, context: np.record, action: int) -> None:
    """Write the features of the hand after a candidate other than a win to `context.phi`; the view is unchanged."""
    p = t.seat[t.viewer]
    if action <= TSUMOGIRI:
        tile = np.int64(t.drawn) if action == TSUMOGIRI else action - DISCARD
        riichi = np.bool_(p.riichi != 0 or t.phase == RIICHI_DISCARD)
        fill_discard(t, context, tile, riichi, lowest_shanten(p), context.phi)
    elif action == RIICHI:
        fill_best_discard(t, context, np.int64(-1), np.bool_(True))
    elif action in (PON, PON_RED):
        fill_call(t, context, np.int64(PON_MELD), np.int64(action == PON_RED))
    elif action == KYUSHU_KYUHAI:
        context.phi[:] = 0.0
        context.phi[ABORT] = 1.0
    elif action in (NUKIDORA, DAIMINKAN) or action >= ANKAN:
        fill_replacing(t, context, action)
    else:  # pass
        fill_hand(t, context, ANY_SHANTEN, context.phi)
        if p.riichi:
            add_riichi(t, context, context.phi)
