"""What going for a win with the present hand promises: chance to win times what the win is worth, over all plans.

All functions judge a hand of 13 - 3m tiles, that is after a discard or before a draw, and return places gained.
"""

from __future__ import annotations

import numpy as np

from agents.bots.rule.placement import MAX_HAN
from agents.bots.rule.speed import CHAIN_WINS, DRAWN_TENPAI, MAX_USEFUL, MAX_WAIT, TENPAI_WINS, WAIT_WINS
from agents.bots.rule.value import (
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
from engine.hand import has_kind, move
from engine.scoring.hand import score_hand
from engine.scoring.yaku import IN_DOUBLE_RIICHI, IN_RIICHI
from engine.shanten import (
    discards_keeping_shanten,
    shanten,
    thirteen_orphans_shanten,
    ukeire_kinds,
    waits,
)
from engine.table import seat_wind
from engine.tiles import SANMA_KINDS, TERMINALS_HONOURS

PON_RATE = 1.3  # a tile that may be ponned comes this much oftener than by one's own draw alone, in addition
FURITEN_WAIT = 0.35  # what a wait one cannot ron on is worth against an open one
BEYOND = 2  # plans that many steps farther than the nearest hand are looked at
TSUMO_LUCK = 0.2  # han a concealed or open win without riichi gains on average
TENPAI_STICKS = 1.5  # what being tenpai at a draw is worth in riichi sticks, against being noten
NOT_YET = 0.7  # what is left of a promise that tenpai comes with: riichi has its price, and others may be faster
YAKUMAN_SHANTEN = 3  # kokushi is looked at from here on


@inner
def gain_of(mind: np.record, han: float) -> float:
    """Places gained by a win with `han`, an expectation."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    return mind.gain[whole] * (1 - part) + mind.gain[whole + 1] * part


@inner
def count_of(mind: np.record, kinds: np.uint64) -> float:
    """Unseen tiles of `kinds`."""
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            total += mind.unseen[kind]
    return total


@inner
def useful_count(t: np.record, p: np.record, mind: np.record, kinds: np.uint64, calls: bool) -> float:
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
def chain(mind: np.record, steps: int, useful: float) -> float:
    """Chance to win of a hand `steps` from tenpai (at least 1) with that many useful tiles."""
    return useful * CHAIN_WINS[steps, min(np.int64(useful), np.int64(MAX_USEFUL)), mind.level, mind.turns]


@inner
def best_wait(p: np.record, mind: np.record) -> float:
    """Tiles the best tenpai waits for that one discard from this (14-3m)-tile hand leaves; furiten waits count less."""
    n_melds = np.int64(p.n_melds)
    keeping = discards_keeping_shanten(p.hand, p.hand_keys, n_melds)
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
def wait_after(p: np.record, mind: np.record, kind: int) -> float:
    """Tiles the best tenpai waits for that drawing `kind` leads to."""
    move(p, kind, np.int64(1))
    mind.unseen[kind] -= 1
    wait = min(best_wait(p, mind), float(MAX_WAIT))
    mind.unseen[kind] += 1
    move(p, kind, np.int64(-1))
    return wait


@inner
def from_iishanten(p: np.record, mind: np.record, useful: np.uint64, count: float, han: float, calls: bool) -> float:
    """Places a hand one step from tenpai promises, each useful tile judged by the wait it leads to.

    `count` is the number of useful tiles, those that may be ponned counted more than once.
    """
    in_all = min(np.int64(count), np.int64(MAX_USEFUL))
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(useful, kind) and mind.unseen[kind] > 0:
            tiles = mind.unseen[kind] * (1.0 + (PON_RATE if calls and p.hand[kind] >= 2 else 0.0))
            if mind.waits[kind] < 0:
                mind.waits[kind] = wait_after(p, mind, kind)
            chance = TENPAI_WINS[in_all, np.int64(mind.waits[kind]), mind.level, mind.turns]
            total += tiles * chance * gain_of(mind, han + mind.dora[kind])
    return total


@inner
def by_steps(
    t: np.record, p: np.record, mind: np.record, steps: int, useful: np.uint64, han: float, calls: bool, deep: bool
) -> float:
    """Places promised by a way to win `steps` (at least 1) from tenpai; `deep`: look at the waits it leads to."""
    count = useful_count(t, p, mind, useful, calls)
    if steps == 1 and deep:
        return from_iishanten(p, mind, useful, count, han, calls)
    return chain(mind, steps, count) * gain_of(mind, han)


@inner
def from_tenpai(t: np.record, p: np.record, mind: np.record, bonus: int, riichi: bool) -> float:
    """Places a tenpai hand promises, in riichi or not, each wait by its score; without a yaku only a tsumo wins."""
    seat = np.int64(t.viewer)
    waiting = np.uint64(waits(p.hand, p.hand_keys, np.int64(p.n_melds)))
    furiten = (waiting & np.uint64(p.discarded)) != np.uint64(0)
    total = min(count_of(mind, waiting), float(MAX_WAIT))
    situation = np.int64(0)
    if riichi:
        situation = np.int64(IN_DOUBLE_RIICHI if t.first_turn and p.n_river == 0 else IN_RIICHI)
    promised = 0.0
    for kind in SANMA_KINDS:
        if not has_kind(waiting, kind) or mind.unseen[kind] <= 0:
            continue
        move(p, kind, np.int64(1))
        han = np.int64(
            score_hand(
                p.hand, np.int64(p.n_melds), p.meld_type, p.meld_kind, kind, situation,
                seat_wind(t, seat), np.int64(t.round_wind), bonus + mind.dora[kind], np.int64(0),
                np.int64(0), np.int64(0), t.rules.double_yakuman != 0, mind.win,
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
def plans_within_reach(p: np.record, keys: np.ndarray) -> int:
    """Bit mask of the plans that are at most BEYOND steps farther than the nearest hand; `keys` int32[3] is scratch."""
    n_melds = np.int64(p.n_melds)
    limit = max(shanten(p.hand_keys, n_melds), np.int64(0)) + BEYOND
    laid = meld_kinds(p)
    plans = np.int64(0)
    for plan in range(N_PLANS):
        if (laid & ~PLAN_MASK[plan]) == np.uint64(0):
            restrict(p, PLAN_MASK[plan], keys)
            if shanten(keys, n_melds) <= limit:
                plans |= np.int64(1) << plan
    return plans


@inner
def by_plan(
    t: np.record, p: np.record, mind: np.record, plan: int, nearest: int, closed: float, opened: float, deep: bool
) -> float:
    """Places promised by keeping to the kinds of a plan; `closed` and `opened` are the han the hand has without it."""
    kinds = PLAN_MASK[plan]
    restrict(p, kinds, mind.keys)
    steps = shanten(mind.keys, np.int64(p.n_melds))
    if steps < 1 or steps > nearest + BEYOND:
        return 0.0
    useful = np.uint64(ukeire_kinds(p.hand, mind.keys, np.int64(p.n_melds))) & kinds
    promised = by_steps(t, p, mind, steps, useful, opened + PLAN_OPEN[plan], np.bool_(True), deep)
    if p.open == 0:
        han = closed + PLAN_CLOSED[plan]
        promised = max(promised, by_steps(t, p, mind, steps, useful, han, np.bool_(False), deep))
    return promised


@inner
def by_triplets(p: np.record, mind: np.record, nearest: int, opened: float) -> float:
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
def by_orphans(p: np.record, mind: np.record) -> float:
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
def at_draw(mind: np.record, steps: int) -> float:
    """Places promised by the noten payment at an exhaustive draw."""
    return TENPAI_STICKS * mind.stick * DRAWN_TENPAI[min(steps, np.int64(2)), mind.level, mind.turns]


@inner
def attack(t: np.record, mind: np.record, riichi: bool, deep: bool, by_any: bool) -> float:
    """Places the viewer's hand promises by its best way to win.

    `riichi`: it may still be declared when tenpai. `deep`: one step from tenpai, look at the waits each step leads to.
    `by_any`: look at winning by any way at all, not at the plans only.
    """
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    bonus = bonus_han(p, mind.dora)
    nearest = shanten(p.hand_keys, n_melds)
    if nearest == 0:
        promised = from_tenpai(t, p, mind, bonus, np.bool_(False))
        if riichi and p.open == 0:
            promised = max(promised, from_tenpai(t, p, mind, bonus, np.bool_(True)))
        return promised + at_draw(mind, nearest)
    mind.waits[:] = -1.0
    value = held_value(t, p, np.int64(3))
    opened, closed = float(bonus + value), bonus + value + hopes(t, p)
    promised = 0.0
    if by_any and (p.open == 0 or value > 0):
        useful = np.uint64(ukeire_kinds(p.hand, p.hand_keys, n_melds))
        han = opened if p.open else closed
        promised = by_steps(t, p, mind, nearest, useful, han, np.bool_(p.open != 0), deep)
    for plan in range(N_PLANS):
        if (mind.plans >> plan) & 1:
            promised = max(promised, by_plan(t, p, mind, np.int64(plan), nearest, closed, opened, deep))
    promised = max(promised, by_triplets(p, mind, nearest, opened), by_orphans(p, mind))
    return NOT_YET * promised + at_draw(mind, nearest)
