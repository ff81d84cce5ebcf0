"""The choice of a discard: the expected value of the hand that is left against the risk of this and later discards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.bots.rule.attack import attack_ev, tenpai_ev
from agents.bots.rule.speed import DISCARDS_LEFT
from agents.bots.rule.value import dora_han
from agents.compiled.menu import can_discard, discard_action
from engine.actions import DISCARD, TSUMOGIRI
from engine.compiling import inner
from engine.hand import move
from engine.shanten import shanten
from engine.tiles import RED_5P, SANMA_KINDS

# Share of the later discards that are as risky as a random one: of a hand that pushes (it may still fold), of a hand
# in riichi (it cannot), and of a hand that folds.
PUSH_RISK = 0.35
RIICHI_RISK = 0.4
FOLD_RISK = 0.15
HIDDEN_RISK = 0.001  # risk of each discard of a riichi although no opponent threatens yet, in placements
STICK_LOST_CHANCE = 0.2  # chance that a riichi stick does not come back
TIE_BREAK = 0.02  # weight of the chance to win in a folding hand


class DiscardChoice(NamedTuple):
    """A discard and its expected value."""

    kind: int
    ev: float


@inner
def discard_ev(context: np.record, kind: int, win_ev: float) -> float:
    """Expected value of a discard of `kind` that leaves a hand with `win_ev`: pushing or folding, whichever is best."""
    later_risk = DISCARDS_LEFT[context.threat_level, context.draws_left] * context.mean_risk
    push, fold = win_ev - PUSH_RISK * later_risk, -FOLD_RISK * later_risk
    return (1 - context.deal_in[kind]) * (max(push, fold) + TIE_BREAK * win_ev) - context.risk[kind]


@inner
def riichi_discard_ev(context: np.record, kind: int, win_ev: float) -> float:
    """As `discard_ev`, for the discard that declares riichi: the hand cannot fold any more, and risks its stick."""
    discards = DISCARDS_LEFT[context.threat_level, context.draws_left]
    risk = discards * (RIICHI_RISK * context.mean_risk + HIDDEN_RISK)
    gain = win_ev * (1 + TIE_BREAK) - risk - STICK_LOST_CHANCE * context.stick_cost
    return (1 - context.deal_in[kind]) * gain - context.risk[kind]


@inner
def discarded_red(action: int, drawn: int) -> int:
    """Index in SEAT.red of the red five that `action` discards, or -1."""
    tile = drawn if action == TSUMOGIRI else action - DISCARD
    return tile - RED_5P if tile >= RED_5P else np.int64(-1)


@inner
def win_ev_after(t: np.record, context: np.record, kind: int, riichi: bool, setback: int) -> float:
    """Expected value of the hand after the discard of a tile of `kind`.

    `riichi`: the discard declares riichi. `setback` is the rise in shanten: if it is 1, only the plans are considered,
    but every way to win where a threat makes safe discards valuable.
    """
    p = t.seat[t.viewer]
    red = discarded_red(discard_action(t, kind), np.int64(t.drawn))
    move(p, kind, np.int64(-1))
    if red >= 0:
        p.red[red] -= 1
    if riichi:
        win_ev = tenpai_ev(t, p, context, dora_han(p, context.dora), np.bool_(True))
    else:
        any_yaku = setback == 0 or context.threat_level > 0
        win_ev = attack_ev(t, context, np.bool_(False), np.bool_(setback == 0), np.bool_(any_yaku))
    if red >= 0:
        p.red[red] += 1
    move(p, kind, np.int64(1))
    return win_ev


@inner
def shanten_after(p: np.record, kind: int) -> int:
    """Shanten after the discard of a tile of `kind`."""
    move(p, kind, np.int64(-1))
    after = shanten(p.hand_keys, np.int64(p.n_melds))
    move(p, kind, np.int64(1))
    return after


@inner
def best_discard(t: np.record, context: np.record) -> DiscardChoice:
    """The best discard without riichi; a hand set back by two shanten or more is taken to be worth nothing.

    Writes the expected value of each discard to `context.ev` and, without its risks, to `context.win_ev`.
    """
    p = t.seat[t.viewer]
    nearest = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    best = DiscardChoice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and can_discard(t, kind):
            setback = shanten_after(p, kind) - nearest
            win_ev = 0.0
            if setback <= 1:
                win_ev = win_ev_after(t, context, kind, np.bool_(False), setback)
            ev = discard_ev(context, kind, win_ev)
            context.win_ev[kind] = win_ev
            context.ev[discard_action(t, kind)] = ev
            if ev > best.ev:
                best = DiscardChoice(np.int64(kind), ev)
    return best


@inner
def best_riichi_discard(t: np.record, context: np.record) -> DiscardChoice:
    """The best discard to declare riichi with."""
    p = t.seat[t.viewer]
    best = DiscardChoice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and can_discard(t, kind) and shanten_after(p, kind) == 0:
            ev = riichi_discard_ev(context, kind, win_ev_after(t, context, kind, np.bool_(True), np.int64(0)))
            context.ev[discard_action(t, kind)] = ev
            if ev > best.ev:
                best = DiscardChoice(np.int64(kind), ev)
    return best
