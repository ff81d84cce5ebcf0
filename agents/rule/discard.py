"""Choosing a discard: what the hand left over promises against what the discard and the discards after it risk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.menu import discard_action, may_discard
from agents.rule.attack import Mind, attack, from_tenpai, move
from agents.rule.placement import stakes
from agents.rule.speed import DISCARDS_LEFT, MAX_TURNS
from agents.rule.threat import Danger, dora_counts, read_danger
from agents.rule.value import bonus_han
from agents.ukeire import unseen
from engine.actions import DISCARD, TSUMOGIRI
from engine.compiling import inner
from engine.shanten import shanten
from engine.tiles import N_KINDS, RED_5P, SANMA_KINDS

PUSH_RISK = 0.6  # of the later discards of a pushing hand, how many are as risky as one at random: it may still fold
LOCKED_RISK = 1.0  # the same in riichi
FOLD_RISK = 0.15  # the same for a folding hand
UNTOLD_RISK = 0.003  # places a riichi risks each discard although nobody threatens yet
STICK_LOST = 0.5  # how often a riichi stick does not come back
TIE_BREAK = 0.02  # how much a folding hand still minds its own chances


class Choice(NamedTuple):
    """A discard, and the places it promises."""

    kind: int
    worth: float


@inner
def read_mind(t: np.record) -> tuple[Mind, Danger]:
    """Everything about a view that does not depend on the choice."""
    left = np.zeros(N_KINDS)
    hidden = 0.0
    for kind in SANMA_KINDS:
        left[kind] = unseen(t, kind)
        hidden += left[kind]
    dora = dora_counts(t)
    danger = read_danger(t, left, dora)
    at_stake = stakes(t, danger.otherwise)
    turns = min(np.int64(t.live_left) // 3, np.int64(MAX_TURNS))
    keys = np.zeros(3, dtype=np.int32)
    mind = Mind(left, hidden, dora, at_stake.gain, at_stake.stick, turns, danger.level, keys, np.empty(N_KINDS))
    return mind, danger


@inner
def weigh(mind: Mind, danger: Danger, kind: int, promised: float) -> float:
    """Places a discard of `kind` promises that leaves a hand with `promised`, pushing or folding as is better."""
    to_come = DISCARDS_LEFT[mind.level, mind.turns] * danger.usual
    push, fold = promised - PUSH_RISK * to_come, -FOLD_RISK * to_come
    return (1 - danger.chance[kind]) * (max(push, fold) + TIE_BREAK * promised) - danger.risk[kind]


@inner
def weigh_riichi(mind: Mind, danger: Danger, kind: int, promised: float) -> float:
    """The same for a discard that declares riichi: from then on there is no folding, and the stick is lost unless it wins."""
    discards = DISCARDS_LEFT[mind.level, mind.turns]
    risk = discards * (LOCKED_RISK * danger.usual + UNTOLD_RISK)
    return (1 - danger.chance[kind]) * (promised * (1 + TIE_BREAK) - risk - STICK_LOST * mind.stick) - danger.risk[kind]


@inner
def red_place(action: int, drawn: int) -> int:
    """Place in SEAT.red of the red five that `action` discards, or -1."""
    tile = drawn if action == TSUMOGIRI else action - DISCARD
    return tile - RED_5P if tile >= RED_5P else np.int64(-1)


@inner
def promise_without(t: np.record, mind: Mind, kind: int, declaring: bool, deep: bool) -> float:
    """What the hand promises after the discard of a tile of `kind`; `deep` as in `attack`."""
    p = t.seat[t.viewer]
    red = red_place(discard_action(t, kind), np.int64(t.drawn))
    move(p, kind, np.int64(-1))
    if red >= 0:
        p.red[red] -= 1
    if declaring:
        promised = from_tenpai(t, p, mind, bonus_han(p, mind.dora), np.bool_(True))
    else:
        promised = attack(t, mind, np.bool_(False), deep)
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
def best_discard(t: np.record, mind: Mind, danger: Danger) -> Choice:
    """The best discard without riichi. One that sets the hand back a step is looked at less deeply, by two not at all."""
    p = t.seat[t.viewer]
    nearest = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    best = Choice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and may_discard(t, kind):
            back = shanten_without(p, kind) - nearest
            promised = 0.0
            if back <= 1:
                promised = promise_without(t, mind, kind, np.bool_(False), np.bool_(back == 0))
            worth = weigh(mind, danger, kind, promised)
            if worth > best.worth:
                best = Choice(np.int64(kind), worth)
    return best


@inner
def best_riichi(t: np.record, mind: Mind, danger: Danger) -> Choice:
    """The best discard to declare riichi with."""
    p = t.seat[t.viewer]
    best = Choice(np.int64(-1), -1e9)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and may_discard(t, kind) and shanten_without(p, kind) == 0:
            worth = weigh_riichi(mind, danger, kind, promise_without(t, mind, kind, np.bool_(True), np.bool_(False)))
            if worth > best.worth:
                best = Choice(np.int64(kind), worth)
    return best
