"""What going for a win with the present hand promises: chance to win times what the win is worth, over all plans.

All functions judge a hand of 13 - 3m tiles, that is after a discard or before a draw, and return places gained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.rule.placement import MAX_HAN
from agents.rule.speed import CHAIN_WINS, MAX_WAIT, STEP_SHARE, WAIT_WINS, after_step
from agents.rule.value import (
    N_PLANS,
    PINFU_HOPE,
    PLAN_CLOSED,
    PLAN_MASK,
    PLAN_OPEN,
    RIICHI_HAN,
    RIICHI_LUCK,
    TOITOI_HAN,
    VALUE_PAIR_HOPE,
    bonus_han,
    held_value,
    meld_kinds,
    restrict,
    toitoi_shanten,
    value_han,
)
from engine.compiling import inner
from engine.legal import has_kind
from engine.scoring.hand import score_hand
from engine.scoring.yaku import IN_RIICHI
from engine.shanten import (
    KEY_GROUP,
    KEY_WEIGHT,
    discards_keeping,
    improving,
    shanten,
    thirteen_orphans_shanten,
    waits,
)
from engine.tiles import SANMA_KINDS, TERMINALS_HONOURS

PON_RATE = 1.3  # a tile that may be ponned comes this much oftener than by one's own draw alone, in addition
FURITEN_WAIT = 0.35  # what a wait one cannot ron on is worth against an open one
BEYOND = 2  # plans that many steps farther than the nearest hand are looked at
MOST_OUTSIDE = 5  # tiles a plan may have to give up
TSUMO_LUCK = 0.2  # han a concealed or open win without riichi gains on average
NOT_YET = 0.8  # what is left of a promise that tenpai comes with: riichi has its price, and others may be faster
YAKUMAN_SHANTEN = 3  # kokushi is looked at from here on


class Mind(NamedTuple):
    """What stays the same while the viewer weighs one decision."""

    unseen: np.ndarray  # float64[34]: tiles the viewer does not see
    hidden: float  # their sum
    dora: np.ndarray  # int64[34]: doras a tile of each kind is
    gain: np.ndarray  # float64[MAX_HAN + 1]: places gained by a win, by han
    stick: float  # places a lost riichi stick costs
    turns: int  # own draws to come
    level: int  # threatening seats
    keys: np.ndarray  # int32[3], scratch
    waits: np.ndarray  # float64[34], scratch: `best_wait` after drawing each kind, negative where not known yet


@inner
def move(p: np.record, kind: int, count: int) -> None:
    """Put `count` tiles of `kind` into the hand (negative: take them out)."""
    p.hand[kind] += count
    p.hand_keys[KEY_GROUP[kind]] += count * KEY_WEIGHT[kind]


@inner
def gain_of(mind: Mind, han: float) -> float:
    """Places gained by a win with `han`, an expectation."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    return mind.gain[whole] * (1 - part) + mind.gain[whole + 1] * part


@inner
def count_of(mind: Mind, kinds: np.uint64) -> float:
    """Unseen tiles of `kinds`."""
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            total += mind.unseen[kind]
    return total


@inner
def useful_count(t: np.record, p: np.record, mind: Mind, kinds: np.uint64, calls: bool) -> float:
    """Unseen tiles of the useful `kinds`; those that could be ponned count for more, value tiles in any hand."""
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            rate = 1.0
            if p.hand[kind] >= 2 and (calls or value_han(t, np.int64(t.viewer), kind) > 0):
                rate += PON_RATE
            total += rate * mind.unseen[kind]
    return total


@inner
def step_chance(mind: Mind, useful: float) -> float:
    """Chance a draw to get one of so many useful tiles."""
    return min(STEP_SHARE * useful / mind.hidden, 1.0)


@inner
def chain(mind: Mind, steps: int, useful: float) -> float:
    """Chance to win of a hand `steps` from tenpai (at least 1) with that many useful tiles."""
    step = step_chance(mind, useful)
    return after_step(step, step, mind.level, mind.turns, CHAIN_WINS[steps - 1])


@inner
def best_wait(p: np.record, mind: Mind) -> float:
    """Tiles the best tenpai waits for that one discard from this (14-3m)-tile hand leaves; furiten waits count less."""
    n_melds = np.int64(p.n_melds)
    keeping = discards_keeping(p.hand, p.hand_keys, n_melds)
    best = 0.0
    for kind in SANMA_KINDS:
        if has_kind(keeping, kind) and p.hand[kind] > 0:
            move(p, kind, np.int64(-1))
            waiting = waits(p.hand, p.hand_keys, n_melds)
            count = count_of(mind, waiting)
            if (np.uint64(waiting) & np.uint64(p.discarded)) != np.uint64(0):
                count *= FURITEN_WAIT
            best = max(best, count)
            move(p, kind, np.int64(1))
    return best


@inner
def wait_after(p: np.record, mind: Mind, kind: int) -> float:
    """Tiles the best tenpai waits for that drawing `kind` leads to."""
    move(p, kind, np.int64(1))
    mind.unseen[kind] -= 1
    wait = min(best_wait(p, mind), float(MAX_WAIT))
    mind.unseen[kind] += 1
    move(p, kind, np.int64(-1))
    return wait


@inner
def from_iishanten(p: np.record, mind: Mind, useful: np.uint64, leave: float, han: float, calls: bool) -> float:
    """Places a hand one step from tenpai promises, each useful tile judged by the wait it leads to.

    `leave` counts the useful tiles, those that may be ponned more than once.
    """
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(useful, kind) and mind.unseen[kind] > 0:
            tiles = mind.unseen[kind] * (1.0 + (PON_RATE if calls and p.hand[kind] >= 2 else 0.0))
            if mind.waits[kind] < 0:
                mind.waits[kind] = wait_after(p, mind, kind)
            wins = WAIT_WINS[1, np.int64(mind.waits[kind])]
            chance = after_step(
                step_chance(mind, tiles), step_chance(mind, leave), mind.level, mind.turns, wins
            )
            total += chance * gain_of(mind, han + mind.dora[kind])
    return total


@inner
def by_steps(
    t: np.record, p: np.record, mind: Mind, steps: int, useful: np.uint64, han: float, calls: bool, deep: bool
) -> float:
    """Places promised by a way to win that is `steps` from tenpai, at least 1; `deep`: look at the waits it leads to."""
    count = useful_count(t, p, mind, useful, calls)
    if steps == 1 and deep:
        return from_iishanten(p, mind, useful, count, han, calls)
    return chain(mind, steps, count) * gain_of(mind, han)


@inner
def from_tenpai(t: np.record, p: np.record, mind: Mind, bonus: int, riichi: bool) -> float:
    """Places a tenpai hand promises, in riichi or not, each wait by its score; without a yaku only a tsumo wins."""
    seat = np.int64(t.viewer)
    waiting = np.uint64(waits(p.hand, p.hand_keys, np.int64(p.n_melds)))
    furiten = (waiting & np.uint64(p.discarded)) != np.uint64(0)
    total = min(count_of(mind, waiting), float(MAX_WAIT))
    promised = 0.0
    for kind in SANMA_KINDS:
        if not has_kind(waiting, kind) or mind.unseen[kind] <= 0:
            continue
        move(p, kind, np.int64(1))
        han = np.int64(
            score_hand(
                p.hand, np.int64(p.n_melds), p.meld_type, p.meld_kind, kind, np.int64(IN_RIICHI if riichi else 0),
                (seat - np.int64(t.dealer) + 3) % 3, np.int64(t.round_wind), bonus + mind.dora[kind], np.int64(0),
                np.int64(0), np.int64(0), t.rules.double_yakuman != 0, t.win[1],
            )
        )  # fmt: skip
        move(p, kind, np.int64(-1))
        by_ron = np.int64(han > 0 and not furiten)
        worth = han + (RIICHI_LUCK if riichi else TSUMO_LUCK)
        if han == 0:
            worth = 0.0 if p.open else 1.0 + bonus + mind.dora[kind]
        if worth > 0:
            chance = WAIT_WINS[by_ron, np.int64(total), mind.level, mind.turns] * mind.unseen[kind] / total
            promised += chance * gain_of(mind, worth)
    return promised


@inner
def hopes(t: np.record, p: np.record) -> float:
    """Han a concealed hand may expect beside doras and its value triplets."""
    triplets = value_pairs = False
    for kind in SANMA_KINDS:
        triplets = triplets or p.hand[kind] >= 3
        value_pairs = value_pairs or (p.hand[kind] == 2 and value_han(t, np.int64(t.viewer), kind) > 0)
    han = RIICHI_HAN + RIICHI_LUCK
    if value_pairs:
        return han + VALUE_PAIR_HOPE
    return han if triplets else han + PINFU_HOPE


@inner
def by_plan(
    t: np.record, p: np.record, mind: Mind, plan: int, nearest: int, closed: float, opened: float, deep: bool
) -> float:
    """Places promised by keeping to the kinds of a plan; `closed` and `opened` are the han the hand has without it."""
    kinds = PLAN_MASK[plan]
    if (meld_kinds(p) & ~kinds) != np.uint64(0) or restrict(p, kinds, mind.keys) > MOST_OUTSIDE:
        return 0.0
    steps = shanten(mind.keys, np.int64(p.n_melds))
    if steps < 1 or steps > nearest + BEYOND:
        return 0.0
    useful = np.uint64(improving(p.hand, mind.keys, np.int64(p.n_melds))) & kinds
    promised = by_steps(t, p, mind, steps, useful, opened + PLAN_OPEN[plan], np.bool_(True), deep)
    if p.open == 0:
        han = closed + PLAN_CLOSED[plan]
        promised = max(promised, by_steps(t, p, mind, steps, useful, han, np.bool_(False), deep))
    return promised


@inner
def by_triplets(p: np.record, mind: Mind, nearest: int, opened: float) -> float:
    """Places promised by toitoi."""
    steps = toitoi_shanten(p)
    if steps < 1 or steps > nearest + 1:
        return 0.0
    count = 0.0
    for kind in SANMA_KINDS:
        if p.hand[kind] == 2:
            count += mind.unseen[kind] * (1 + PON_RATE)
    return chain(mind, steps, count) * gain_of(mind, opened + TOITOI_HAN)


@inner
def by_orphans(p: np.record, mind: Mind) -> float:
    """Places promised by kokushi."""
    if p.n_melds > 0:
        return 0.0
    steps = thirteen_orphans_shanten(p.hand_keys)
    if steps < 1 or steps > YAKUMAN_SHANTEN:
        return 0.0
    count = 0.0
    for kind in TERMINALS_HONOURS:
        if p.hand[kind] == 0:
            count += mind.unseen[kind]
    return chain(mind, steps, count) * mind.gain[MAX_HAN]


@inner
def attack(t: np.record, mind: Mind, riichi: bool, deep: bool) -> float:
    """Places the viewer's hand promises by its best way to win.

    `riichi`: it may still be declared when tenpai. `deep`: one step from tenpai, look at the waits each step leads to.
    """
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    bonus = bonus_han(p, mind.dora)
    nearest = shanten(p.hand_keys, n_melds)
    if nearest == 0:
        promised = from_tenpai(t, p, mind, bonus, np.bool_(False))
        if riichi and p.open == 0:
            promised = max(promised, from_tenpai(t, p, mind, bonus, np.bool_(True)))
        return promised
    mind.waits[:] = -1.0
    value = held_value(t, p, np.int64(3))
    opened, closed = float(bonus + value), bonus + value + hopes(t, p)
    promised = 0.0
    if p.open == 0 or value > 0:
        useful = np.uint64(improving(p.hand, p.hand_keys, n_melds))
        han = opened if p.open else closed
        promised = by_steps(t, p, mind, nearest, useful, han, np.bool_(p.open != 0), deep)
    for plan in range(N_PLANS):
        promised = max(promised, by_plan(t, p, mind, np.int64(plan), nearest, closed, opened, deep))
    return NOT_YET * max(promised, by_triplets(p, mind, nearest, opened), by_orphans(p, mind))
