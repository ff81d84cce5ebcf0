"""Whether to call: what the hand promises with the call against what it promises as it is."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.attack import attack, plans_within_reach
from agents.bots.rule.discard import FOLD_RISK, PUSH_RISK, shanten_without, weigh
from agents.bots.rule.speed import DISCARDS_LEFT
from agents.compiled.kan import harmless_kan
from agents.compiled.menu import may
from engine.actions import KAKAN, PASS, PON, PON_RED
from engine.compiling import inner
from engine.hand import move
from engine.legal import MIN_LIVE_FOR_RIICHI
from engine.rules import RIICHI_STICK
from engine.shanten import shanten
from engine.table import PON_MELD
from engine.tiles import KIND_OF, RED_INDEX, SANMA_KINDS, is_red

CALL_MARGIN = 0.004  # places a call must gain: an open hand has fewer safe tiles


@inner
def worth_waiting(t: np.record, mind: np.record) -> float:
    """Places the hand promises without the call."""
    p = t.seat[t.viewer]
    riichi = p.score >= RIICHI_STICK and t.live_left >= MIN_LIVE_FOR_RIICHI
    promised = attack(t, mind, np.bool_(riichi), np.bool_(True), np.bool_(True))
    to_come = DISCARDS_LEFT[mind.level, mind.turns] * mind.usual_risk
    return max(promised - PUSH_RISK * to_come, -FOLD_RISK * to_come)


@inner
def best_after_call(t: np.record, mind: np.record, called: int) -> float:
    """Places the best discard after a call of kind `called` promises."""
    p = t.seat[t.viewer]
    mind.plans = plans_within_reach(p, mind.keys)
    nearest = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    best = -1e9
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and kind != called and shanten_without(p, kind) == nearest:
            move(p, kind, np.int64(-1))
            best = max(best, weigh(mind, kind, attack(t, mind, np.bool_(False), np.bool_(True), np.bool_(True))))
            move(p, kind, np.int64(1))
    return best


@inner
def worth_with_pon(t: np.record, mind: np.record, red: int) -> float:
    """Places the best discard after a pon promises; `red` red fives of the hand go into the meld."""
    p = t.seat[t.viewer]
    kind = KIND_OF[t.offer]
    place, was_open = p.n_melds, p.open
    move(p, kind, np.int64(-2))
    if red:
        p.red[RED_INDEX[kind]] -= red
    p.meld_type[place] = PON_MELD
    p.meld_kind[place] = kind
    p.meld_red[place] = red + np.int64(is_red(np.int64(t.offer)))
    p.n_melds += 1
    p.open = 1
    best = best_after_call(t, mind, kind)
    p.open = was_open
    p.n_melds -= 1
    p.meld_type[place] = p.meld_kind[place] = p.meld_red[place] = 0
    if red:
        p.red[RED_INDEX[kind]] += red
    move(p, kind, np.int64(2))
    return best


@inner
def choose_call(t: np.record, mind: np.record) -> int:
    """Pon, with the red five where there is one, or pass. A daiminkan opens the hand for nothing but an indicator."""
    red = may(t, np.int64(PON_RED))
    if not red and not may(t, np.int64(PON)):
        return np.int64(PASS)
    pon = np.int64(PON_RED) if red else np.int64(PON)
    mind.worth[PASS] = worth_waiting(t, mind) + CALL_MARGIN
    mind.worth[pon] = worth_with_pon(t, mind, np.int64(red))
    return pon if mind.worth[pon] > mind.worth[PASS] else np.int64(PASS)


@inner
def choose_kan(t: np.record, level: int) -> int:
    """A kan on the own turn that sets the hand back by nothing, or -1.

    Against a threat only a hand that is tenpai, or nearly, shows everybody a new dora.
    """
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    before = shanten(p.hand_keys, n_melds)
    if level > 0 and before > 1:
        return np.int64(-1)
    kan = harmless_kan(t)
    if kan >= 0 or level > 0:
        return kan
    for kind in SANMA_KINDS:
        if may(t, KAKAN + kind):
            move(p, kind, np.int64(-1))
            after = shanten(p.hand_keys, n_melds)
            move(p, kind, np.int64(1))
            if after <= max(before, np.int64(0)):
                return KAKAN + kind
    return np.int64(-1)
