"""The expected value of going for a win with the present hand: chance to win times gain, for the best way to win.

All functions evaluate a hand of 13 - 3m tiles (m melds), that is after a discard or before a draw. Expected values are
in placements.
"""

from __future__ import annotations

import numpy as np

from agents.bots.rule.placement import MAX_HAN
from agents.bots.rule.speed import (
    DRAW_TENPAI_CHANCE,
    IISHANTEN_WIN_CHANCE,
    MAX_UKEIRE,
    MAX_WAIT,
    SHANTEN_WIN_CHANCE,
    TENPAI_WIN_CHANCE,
)
from agents.bots.rule.value import (
    N_PLANS,
    PINFU_HAN,
    PLAN_CLOSED,
    PLAN_MASK,
    PLAN_OPEN,
    RIICHI_BONUS_HAN,
    RIICHI_HAN,
    TOITOI_HAN,
    VALUE_PAIR_HAN,
    dora_han,
    meld_kinds,
    restrict_keys,
    toitoi_shanten,
    value_han,
    value_triplet_han,
)
from engine.compiling import inner
from engine.hand import has_kind, in_river, move
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

PON_FACTOR = 1.3  # a tile that may be ponned counts this many times more in the ukeire, in addition
FURITEN_FACTOR = 0.35  # value of a furiten wait relative to one that may win by ron
MAX_DETOUR = 2  # plans this many shanten farther than the nearest hand are considered
TSUMO_BONUS_HAN = 0.2  # han that a hand without riichi gains on average by tsumo
TENPAI_STICKS = 1.5  # value of being tenpai at an exhaustive draw rather than noten, in riichi sticks
NOTEN_FACTOR = 0.7  # reduces the expected value before tenpai: riichi has its price, and others may be faster
MAX_KOKUSHI_SHANTEN = 3  # kokushi is considered from here on


@inner
def interpolate_gain(context: np.record, han: float) -> float:
    """Placements gained by a win with `han`, which may be a fraction: an expectation."""
    whole = min(np.int64(han), np.int64(MAX_HAN - 1))
    part = min(han - whole, 1.0)
    return context.win_gain[whole] * (1 - part) + context.win_gain[whole + 1] * part


@inner
def count_tiles(context: np.record, kinds: np.uint64) -> float:
    """Unseen tiles of `kinds` (bit mask)."""
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            total += context.unseen[kind]
    return total


@inner
def count_ukeire(t: np.record, p: np.record, context: np.record, kinds: np.uint64, calls: bool) -> float:
    """Unseen tiles of the ukeire `kinds` (bit mask); those that could be ponned count for more.

    Even if the hand makes no `calls`, value tiles may be ponned.
    """
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            rate = 1.0
            if p.hand[kind] >= 2 and (calls or value_han(t, np.int64(t.viewer), kind) > 0):
                rate += PON_FACTOR
            total += rate * context.unseen[kind]
    return total


@inner
def win_chance(context: np.record, distance: int, ukeire: float) -> float:
    """Chance to win of a hand of shanten `distance` (at least 1) with `ukeire` tiles."""
    tiles = min(np.int64(ukeire), np.int64(MAX_UKEIRE))
    return ukeire * SHANTEN_WIN_CHANCE[distance, tiles, context.threat_level, context.draws_left]


@inner
def best_wait(p: np.record, context: np.record) -> float:
    """Tiles in the best wait that one discard from this hand of 14 - 3m tiles leaves; furiten waits count less."""
    n_melds = np.int64(p.n_melds)
    keeping = discards_keeping_shanten(p.hand, p.hand_keys, n_melds)
    best = 0.0
    for kind in SANMA_KINDS:
        if has_kind(keeping, kind) and p.hand[kind] > 0:
            move(p, kind, np.int64(-1))
            waiting = waits(p.hand, p.hand_keys, n_melds)
            count = count_tiles(context, waiting)
            if in_river(p, waiting):
                count *= FURITEN_FACTOR
            best = max(best, count)
            move(p, kind, np.int64(1))
    return best


@inner
def wait_after_draw(p: np.record, context: np.record, kind: int) -> float:
    """Tiles in the best wait after drawing `kind`."""
    move(p, kind, np.int64(1))
    context.unseen[kind] -= 1
    wait = min(best_wait(p, context), float(MAX_WAIT))
    context.unseen[kind] += 1
    move(p, kind, np.int64(-1))
    return wait


@inner
def iishanten_ev(p: np.record, context: np.record, kinds: np.uint64, ukeire: float, han: float, calls: bool) -> float:
    """Expected value of a hand one step from tenpai, each tile of the ukeire judged by the wait it leads to.

    `kinds` is the ukeire as a bit mask, `ukeire` its size as `count_ukeire` counts it.
    """
    tiles_in_all = min(np.int64(ukeire), np.int64(MAX_UKEIRE))
    total = 0.0
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind) and context.unseen[kind] > 0:
            tiles = context.unseen[kind] * (1.0 + (PON_FACTOR if calls and p.hand[kind] >= 2 else 0.0))
            if context.wait_size[kind] < 0:
                context.wait_size[kind] = wait_after_draw(p, context, kind)
            wait = np.int64(context.wait_size[kind])
            chance = IISHANTEN_WIN_CHANCE[tiles_in_all, wait, context.threat_level, context.draws_left]
            total += tiles * chance * interpolate_gain(context, han + context.dora[kind])
    return total


@inner
def noten_ev(
    t: np.record, p: np.record, context: np.record, distance: int, kinds: np.uint64, han: float, calls: bool, deep: bool
) -> float:
    """Expected value of a way to win at shanten `distance` (at least 1) with `han`, its ukeire being `kinds`.

    `calls`: the hand may be opened. `deep`: one step from tenpai, look at the waits that each draw leads to.
    """
    ukeire = count_ukeire(t, p, context, kinds, calls)
    if distance == 1 and deep:
        return iishanten_ev(p, context, kinds, ukeire, han, calls)
    return win_chance(context, distance, ukeire) * interpolate_gain(context, han)


@inner
def tenpai_ev(t: np.record, p: np.record, context: np.record, bonus: int, riichi: bool) -> float:
    """Expected value of a tenpai hand, in riichi or not, with each wait scored; without a yaku only a tsumo wins.

    `bonus` is the han of dora in the hand.
    """
    seat = np.int64(t.viewer)
    waiting = np.uint64(waits(p.hand, p.hand_keys, np.int64(p.n_melds)))
    furiten = in_river(p, waiting)
    total = min(count_tiles(context, waiting), float(MAX_WAIT))
    situation = np.int64(0)
    if riichi:
        situation = np.int64(IN_DOUBLE_RIICHI if t.first_turn and p.n_river == 0 else IN_RIICHI)
    win_ev = 0.0
    for kind in SANMA_KINDS:
        if not has_kind(waiting, kind) or context.unseen[kind] <= 0:
            continue
        move(p, kind, np.int64(1))
        han = np.int64(
            score_hand(
                p.hand, np.int64(p.n_melds), p.meld_type, p.meld_kind, kind, situation,
                seat_wind(t, seat), np.int64(t.round_wind), bonus + context.dora[kind], np.int64(0),
                np.int64(0), np.int64(0), t.rules.double_yakuman != 0, context.win,
            )
        )  # fmt: skip
        move(p, kind, np.int64(-1))
        by_ron = np.int64(han > 0 and not furiten)
        expected_han = han + (RIICHI_BONUS_HAN if riichi else TSUMO_BONUS_HAN)
        if han == 0:
            expected_han = 0.0 if p.open else 1.0 + bonus + context.dora[kind]
        if expected_han > 0:
            chance = TENPAI_WIN_CHANCE[by_ron, np.int64(total), context.threat_level, context.draws_left]
            chance = chance * context.unseen[kind] / total
            win_ev += chance * interpolate_gain(context, expected_han)
    return win_ev


@inner
def concealed_han(t: np.record, p: np.record) -> float:
    """Expected han of a concealed hand beyond its dora and value triplets."""
    triplets = value_pairs = False
    for kind in SANMA_KINDS:
        triplets = triplets or p.hand[kind] >= 3
        value_pairs = value_pairs or (p.hand[kind] == 2 and value_han(t, np.int64(t.viewer), kind) > 0)
    han = RIICHI_HAN + RIICHI_BONUS_HAN
    if value_pairs:
        return han + VALUE_PAIR_HAN
    return han if triplets else han + PINFU_HAN


@inner
def reachable_plans(p: np.record, keys: np.ndarray) -> int:
    """Bit mask of the plans at most MAX_DETOUR shanten farther than the nearest hand; `keys` int32[3] is scratch."""
    n_melds = np.int64(p.n_melds)
    limit = max(shanten(p.hand_keys, n_melds), np.int64(0)) + MAX_DETOUR
    melded = meld_kinds(p)
    plans = np.int64(0)
    for plan in range(N_PLANS):
        if (melded & ~PLAN_MASK[plan]) == np.uint64(0):
            restrict_keys(p, PLAN_MASK[plan], keys)
            if shanten(keys, n_melds) <= limit:
                plans |= np.int64(1) << plan
    return plans


@inner
def plan_ev(
    t: np.record, p: np.record, context: np.record, plan: int, nearest: int, closed: float, opened: float, deep: bool
) -> float:
    """Expected value of keeping to the kinds of a plan; `closed` and `opened` are the han without its yaku."""
    allowed = PLAN_MASK[plan]
    restrict_keys(p, allowed, context.keys)
    distance = shanten(context.keys, np.int64(p.n_melds))
    if distance < 1 or distance > nearest + MAX_DETOUR:
        return 0.0
    kinds = np.uint64(ukeire_kinds(p.hand, context.keys, np.int64(p.n_melds))) & allowed
    win_ev = noten_ev(t, p, context, distance, kinds, opened + PLAN_OPEN[plan], np.bool_(True), deep)
    if p.open == 0:
        han = closed + PLAN_CLOSED[plan]
        win_ev = max(win_ev, noten_ev(t, p, context, distance, kinds, han, np.bool_(False), deep))
    return win_ev


@inner
def toitoi_ev(p: np.record, context: np.record, nearest: int, opened: float) -> float:
    """Expected value of going for toitoi."""
    distance = toitoi_shanten(p)
    if distance < 1 or distance > nearest + 1:
        return 0.0
    ukeire = 0.0
    for kind in SANMA_KINDS:
        if p.hand[kind] == 2:
            ukeire += context.unseen[kind] * (1 + PON_FACTOR)
    return win_chance(context, distance, ukeire) * interpolate_gain(context, opened + TOITOI_HAN)


@inner
def kokushi_ev(p: np.record, context: np.record) -> float:
    """Expected value of going for kokushi."""
    if p.n_melds > 0:
        return 0.0
    distance = thirteen_orphans_shanten(p.hand_keys)
    if distance < 1 or distance > MAX_KOKUSHI_SHANTEN:
        return 0.0
    ukeire = 0.0
    for kind in TERMINALS_HONOURS:
        if p.hand[kind] == 0:
            ukeire += context.unseen[kind]
    return win_chance(context, distance, ukeire) * context.win_gain[MAX_HAN]


@inner
def exhaustive_draw_ev(context: np.record, distance: int) -> float:
    """Expected value of the noten payment at an exhaustive draw, for a hand of shanten `distance`."""
    tenpai = DRAW_TENPAI_CHANCE[min(distance, np.int64(2)), context.threat_level, context.draws_left]
    return TENPAI_STICKS * context.stick_cost * tenpai


@inner
def attack_ev(t: np.record, context: np.record, riichi: bool, deep: bool, any_yaku: bool) -> float:
    """Expected value of the viewer's hand by its best way to win.

    `riichi`: it may still be declared when tenpai. `deep`: one step from tenpai, look at the waits that each draw leads
    to. `any_yaku`: consider winning with any yaku at all, not the plans only.
    """
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    bonus = dora_han(p, context.dora)
    nearest = shanten(p.hand_keys, n_melds)
    if nearest == 0:
        win_ev = tenpai_ev(t, p, context, bonus, np.bool_(False))
        if riichi and p.open == 0:
            win_ev = max(win_ev, tenpai_ev(t, p, context, bonus, np.bool_(True)))
        return win_ev + exhaustive_draw_ev(context, nearest)
    context.wait_size[:] = -1.0
    value = value_triplet_han(t, p)
    opened, closed = float(bonus + value), bonus + value + concealed_han(t, p)
    win_ev = 0.0
    if any_yaku and (p.open == 0 or value > 0):
        kinds = np.uint64(ukeire_kinds(p.hand, p.hand_keys, n_melds))
        han = opened if p.open else closed
        win_ev = noten_ev(t, p, context, nearest, kinds, han, np.bool_(p.open != 0), deep)
    for plan in range(N_PLANS):
        if (context.plans >> plan) & 1:
            win_ev = max(win_ev, plan_ev(t, p, context, np.int64(plan), nearest, closed, opened, deep))
    win_ev = max(win_ev, toitoi_ev(p, context, nearest, opened), kokushi_ev(p, context))
    return NOTEN_FACTOR * win_ev + exhaustive_draw_ev(context, nearest)
