"""Choosing a discard: what the hand left over promises against what the discard and the discards after it risk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.bots.rule.attack import attack, from_tenpai, plans_within_reach
from agents.bots.rule.placement import read_stakes
from agents.bots.rule.speed import DISCARDS_LEFT, MAX_TURNS
from agents.bots.rule.threat import count_dora, read_danger
from agents.bots.rule.value import bonus_han
from agents.compiled.menu import discard_action, may_discard
from agents.compiled.unseen import unseen
from engine.actions import DISCARD, TSUMOGIRI
from engine.compiling import inner
from engine.hand import move
from engine.shanten import shanten
from engine.tiles import RED_5P, SANMA_KINDS

PUSH_RISK = 0.35  # of the later discards of a pushing hand, how many are as risky as one at random: it may still fold
LOCKED_RISK = 0.4  # the same in riichi
FOLD_RISK = 0.15  # the same for a folding hand
UNTOLD_RISK = 0.001  # places a riichi risks each discard although nobody threatens yet
STICK_LOST = 0.2  # how often a riichi stick does not come back
TIE_BREAK = 0.02  # how much a folding hand still minds its own chances


class Choice(NamedTuple):
    """A discard, and the places it promises."""

    kind: int
    worth: float


@inner
def read(t: np.record, mind: np.record) -> None:
    """Fill `mind` with everything about a view that does not depend on the choice."""
    for kind in SANMA_KINDS:
        mind.unseen[kind] = unseen(t, kind)
    count_dora(t, mind)
    read_danger(t, mind)
    read_stakes(t, mind)
    mind.turns = min(np.int64(t.live_left) // 3, np.int64(MAX_TURNS))
    mind.plans = plans_within_reach(t.seat[t.viewer], mind.keys)


@inner
def weigh(mind: np.record, kind: int, promised: float) -> float:
    """Places a discard of `kind` promises that leaves a hand with `promised`, pushing or folding as is better."""
    to_come = DISCARDS_LEFT[mind.level, mind.turns] * mind.usual_risk
    push, fold = promised - PUSH_RISK * to_come, -FOLD_RISK * to_come
    return (1 - mind.deal_in[kind]) * (max(push, fold) + TIE_BREAK * promised) - mind.risk[kind]


@inner
def weigh_riichi(mind: np.record, kind: int, promised: float) -> float:
    """The same for a discard that declares riichi: no folding any more, and the stick is lost unless it wins."""
    discards = DISCARDS_LEFT[mind.level, mind.turns]
    risk = discards * (LOCKED_RISK * mind.usual_risk + UNTOLD_RISK)
    return (1 - mind.deal_in[kind]) * (promised * (1 + TIE_BREAK) - risk - STICK_LOST * mind.stick) - mind.risk[kind]


@inner
def red_place(action: int, drawn: int) -> int:
    """Place in SEAT.red of the red five that `action` discards, or -1."""
    tile = drawn if action == TSUMOGIRI else action - DISCARD
    return tile - RED_5P if tile >= RED_5P else np.int64(-1)


@inner
def promise_without(t: np.record, mind: np.record, kind: int, declaring: bool, back: int) -> float:
    """What the hand promises after the discard of a tile of `kind` that sets it `back` by so many steps.

    Going back a step is worth a look at the plans, and at everything where a threat makes safe discards precious.
    """
    p = t.seat[t.viewer]
    red = red_place(discard_action(t, kind), np.int64(t.drawn))
    move(p, kind, np.int64(-1))
    if red >= 0:
        p.red[red] -= 1
    if declaring:
        promised = from_tenpai(t, p, mind, bonus_han(p, mind.dora), np.bool_(True))
    else:
        by_any = back == 0 or mind.level > 0
        promised = attack(t, mind, np.bool_(False), np.bool_(back == 0), np.bool_(by_any))
    if red >= 0:
        p.red[red] += 1
    move(p, kind, np.int64(1))
    return promised


@inner
def shanten_without(p: np.record, kind: int) -> int:
    """Shanten after the discard of a tile of `kind`."""
    move(p, kind, np.int64(-1))
    after = shanten(p.hand_keys, np.int64(p.n_melds))
    move(p, kind, np.int64(1))
    return after


@inner
def best_discard(t: np.record, mind: np.record) -> Choice:
    """The best discard without riichi; what the hand promises after going back two steps is not looked at."""
    p = t.seat[t.viewer]
    nearest = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    best = Choice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and may_discard(t, kind):
            back = shanten_without(p, kind) - nearest
            promised = 0.0
            if back <= 1:
                promised = promise_without(t, mind, kind, np.bool_(False), back)
            worth = weigh(mind, kind, promised)
            mind.worth[discard_action(t, kind)] = worth
            if worth > best.worth:
                best = Choice(np.int64(kind), worth)
    return best


@inner
def best_riichi(t: np.record, mind: np.record) -> Choice:
    """The best discard to declare riichi with."""
    p = t.seat[t.viewer]
    best = Choice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and may_discard(t, kind) and shanten_without(p, kind) == 0:
            worth = weigh_riichi(mind, kind, promise_without(t, mind, kind, np.bool_(True), np.int64(0)))
            mind.worth[discard_action(t, kind)] = worth
            if worth > best.worth:
                best = Choice(np.int64(kind), worth)
    return best
