"""The choice of a call: the expected value of the hand with the call against that without it."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.attack import attack_ev, reachable_plans
from agents.bots.rule.discard import FOLD_RISK, PUSH_RISK, discard_ev, shanten_after
from agents.bots.rule.speed import DISCARDS_LEFT
from agents.compiled.kan import ankan_keeping_shanten
from agents.compiled.melds import take_back, try_meld
from agents.compiled.menu import is_legal
from engine.actions import KAKAN, PASS, PON, PON_RED
from engine.compiling import inner
from engine.hand import move
from engine.legal import MIN_LIVE_FOR_RIICHI
from engine.rules import RIICHI_STICK
from engine.shanten import shanten
from engine.table import PON_MELD
from engine.tiles import KIND_OF, SANMA_KINDS, is_red

CALL_MARGIN = 0.004  # placements a call must gain: an open hand has fewer safe tiles


@inner
def pass_ev(t: np.record, context: np.record) -> float:
    """Expected value of the hand without the call."""
    p = t.seat[t.viewer]
    riichi = p.score >= RIICHI_STICK and t.live_left >= MIN_LIVE_FOR_RIICHI
    win_ev = attack_ev(t, context, np.bool_(riichi), np.bool_(True), np.bool_(True))
    later_risk = DISCARDS_LEFT[context.threat_level, context.draws_left] * context.mean_risk
    return max(win_ev - PUSH_RISK * later_risk, -FOLD_RISK * later_risk)


@inner
def best_ev_after_call(t: np.record, context: np.record, called: int) -> float:
    """Expected value of the best discard after a call of kind `called`."""
    p = t.seat[t.viewer]
    context.plans = reachable_plans(p, context.keys)
    nearest = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    best = -1e9
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and kind != called and shanten_after(p, kind) == nearest:
            move(p, kind, np.int64(-1))
            win_ev = attack_ev(t, context, np.bool_(False), np.bool_(True), np.bool_(True))
            best = max(best, discard_ev(context, kind, win_ev))
            move(p, kind, np.int64(1))
    return best


@inner
def pon_ev(t: np.record, context: np.record, red: int) -> float:
    """Expected value of a pon, with the best discard after it; `red` red fives of the hand go into the meld."""
    p = t.seat[t.viewer]
    kind = KIND_OF[t.offer]
    was_open = try_meld(p, np.int64(PON_MELD), kind, np.int64(2), red, np.int64(is_red(np.int64(t.offer))))
    best = best_ev_after_call(t, context, kind)
    take_back(p, np.int64(2), red, was_open)
    return best


@inner
def choose_call(t: np.record, context: np.record) -> int:
    """Pon, with the red five where there is one, or pass; never daiminkan, which gains no more than an indicator."""
    red = is_legal(t, np.int64(PON_RED))
    if not red and not is_legal(t, np.int64(PON)):
        return np.int64(PASS)
    pon = np.int64(PON_RED) if red else np.int64(PON)
    context.ev[PASS] = pass_ev(t, context) + CALL_MARGIN
    context.ev[pon] = pon_ev(t, context, np.int64(red))
    return pon if context.ev[pon] > context.ev[PASS] else np.int64(PASS)


@inner
def choose_kan(t: np.record, threat_level: int) -> int:
    """An ankan or kakan that does not raise the shanten, or -1.

    Under threat only a hand that is tenpai or one step from it makes an ankan: the new dora helps everybody.
    """
    p = t.seat[t.viewer]
    before = shanten(p.hand_keys, np.int64(p.n_melds))
    if threat_level > 0 and before > 1:
        return np.int64(-1)
    kan = ankan_keeping_shanten(t)
    if kan >= 0 or threat_level > 0:
        return kan
    for kind in SANMA_KINDS:
        if is_legal(t, KAKAN + kind) and shanten_after(p, kind) <= max(before, np.int64(0)):
            return KAKAN + kind
    return np.int64(-1)
