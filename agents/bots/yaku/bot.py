"""One decision of the yaku bot: the hand type with the lowest cost decides what is kept, called and discarded.

The **score** of a hand type is its cost minus how often it is won (`FREQUENCIES`): less is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.base import ACTION_VALUES, DECIDE, CompiledValueAgent
from agents.bots.efficiency import fastest_discard
from agents.bots.rule.safety import fill_deal_in_rates, safe_kinds
from agents.bots.yaku.frequencies import FREQUENCIES
from agents.bots.yaku.search import HAND, OUT_OF_REACH, TILE_COST, fill_costs, read_hand
from agents.bots.yaku.targets import KOKUSHI, N_TYPES, NAMES
from agents.compiled.kan import ankan_keeping_shanten
from agents.compiled.menu import can_discard, discard_action, is_legal
from engine.actions import (
    KAKAN,
    KYUSHU_KYUHAI,
    N_ACTIONS,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.compiling import inner, kernel
from engine.table import N_SEATS, RIICHI_DISCARD, TABLE, raw_bytes
from engine.tiles import HONOUR, KIND_OF, N_KINDS, NORTH, PIN, SANMA_KINDS

FREQUENCY = np.array([FREQUENCIES[name] for name in NAMES])
# What the best, second and third hand type count in the choice of a discard: the others only while the best is far.
FAR = 2.0
WEIGHTS = np.array([1.0, 0.01, 0.005])
# The priority of keeping a tile that no hand type needs: honours and manzu, which connect with nothing, go first, then
# 1 and 9, then 2 and 8, then 3 to 7.
LEFTOVER = np.zeros(N_KINDS)
LEFTOVER[PIN:HONOUR] = 0.001 * np.array([1, 2, 3, 3, 3, 3, 3, 2, 1] * 2)
# A pon must lower the score by this: the hand is open after it, and has fewer tiles to defend with.
PON_GAIN = 0.5
FOLD_COST = 2.5  # against a riichi, a hand that costs more than this is folded
KOKUSHI_COST = 4.0  # a hand of nine kinds whose kokushi costs no more than this is played on
HAND_SIZE = HAND.itemsize
PLACEMENTS = 0.05  # what a cost of 1 counts in action values, in placements


@inner
def best_types(hand: np.record) -> np.ndarray:
    """The three hand types of the lowest scores, lowest first: int64[3]. Ties go to the first in HAND_TYPES."""
    best = np.zeros(3, dtype=np.int64)
    scores = np.full(3, np.inf)
    for hand_type in range(N_TYPES):
        score = hand.cost[hand_type] - FREQUENCY[hand_type]
        for place in range(3):
            if score < scores[place]:
                for lower in range(2, place, -1):
                    best[lower], scores[lower] = best[lower - 1], scores[lower - 1]
                best[place], scores[place] = hand_type, score
                break
    return best


@inner
def score_of(hand: np.record, hand_type: int) -> float:
    """The score of one hand type."""
    return hand.cost[hand_type] - FREQUENCY[hand_type]


@inner
def cost_without(hand: np.record, hand_type: int, kind: int) -> float:
    """Return what the discard of `kind` adds to the cost of a hand type: a tile that it needs has to be drawn again."""
    if hand.demand[hand_type * N_KINDS + kind] < hand.tiles[kind]:
        return 0.0
    return TILE_COST[hand.unseen[kind]]


@inner
def fill_discards(t: np.record, hand: np.record, best: np.ndarray, values: np.ndarray) -> int:
    """Write the value of each legal discard to `values`; the best action."""
    weights = WEIGHTS if hand.cost[best[0]] > FAR else WEIGHTS[:1]
    choice, choice_value = np.int64(-1), -np.inf
    for kind in SANMA_KINDS:
        if hand.tiles[kind] == 0 or not can_discard(t, kind):
            continue
        cost = score_of(hand, best[0]) + LEFTOVER[kind]
        for place in range(len(weights)):
            cost += weights[place] * cost_without(hand, best[place], kind)
        action = discard_action(t, kind)
        values[action] = -PLACEMENTS * cost
        if values[action] > choice_value:
            choice, choice_value = action, values[action]
    return choice


@inner
def folds(t: np.record, hand: np.record, best: np.ndarray) -> bool:
    """Return whether to fold: an opponent is in riichi and the hand is far from complete."""
    for seat in range(N_SEATS):
        if seat != t.viewer and t.seat[seat].riichi:
            return hand.cost[best[0]] > FOLD_COST
    return False


@inner
def safest_discard(t: np.record, hand: np.record, values: np.ndarray) -> int:
    """Add what dealing in costs to the `values` of the discards; the best action.

    The chance to deal in is estimated as by the rule bot; a deal-in counts as one placement.
    """
    safe, rates, unseen = safe_kinds(t), np.zeros(N_KINDS), np.zeros(N_KINDS)
    for kind in range(N_KINDS):
        unseen[kind] = hand.unseen[kind]
    for seat in range(N_SEATS):
        if seat == t.viewer or not t.seat[seat].riichi:
            continue
        fill_deal_in_rates(unseen, safe[seat], rates)
        for action in range(TSUMOGIRI + 1):
            if values[action] > -np.inf:
                values[action] -= rates[KIND_OF[t.drawn if action == TSUMOGIRI else action]]
    return np.int64(np.argmax(values[: TSUMOGIRI + 1]))


@inner
def choose_call(t: np.record, hand: np.record, values: np.ndarray) -> int:
    """Pon or pass; daiminkan is never called."""
    before = score_of(hand, best_types(hand)[0])
    values[PASS] = -PLACEMENTS * (before - PON_GAIN)
    pon = np.int64(PON) if is_legal(t, np.int64(PON)) else np.int64(PON_RED)
    if not is_legal(t, pon) or folds(t, hand, best_types(hand)):
        return np.int64(PASS)
    kind = KIND_OF[t.offer]
    hand.tiles[kind] -= 2
    hand.meld[hand.n_melds] = kind
    hand.n_melds += 1
    hand.open = True
    fill_costs(hand)
    after = score_of(hand, best_types(hand)[0])
    values[pon] = -PLACEMENTS * after
    return pon if after < before - PON_GAIN else np.int64(PASS)


@inner
def choose_kan(t: np.record, hand: np.record, best: np.ndarray) -> int:
    """A kan whose tiles the best hand type does not need otherwise, or -1."""
    kan = ankan_keeping_shanten(t)
    if kan >= 0:
        return kan
    for kind in SANMA_KINDS:
        if is_legal(t, KAKAN + kind) and hand.demand[best[0] * N_KINDS + kind] == 0 and not folds(t, hand, best):
            return KAKAN + kind
    return np.int64(-1)


@inner
def choose_on_turn(t: np.record, hand: np.record, values: np.ndarray) -> int:
    """The action of a seat that has drawn or ponned."""
    p = t.seat[t.viewer]
    best = best_types(hand)
    if is_legal(t, np.int64(NUKIDORA)) and hand.demand[best[0] * N_KINDS + NORTH] == 0:
        return np.int64(NUKIDORA)
    if is_legal(t, np.int64(KYUSHU_KYUHAI)) and hand.cost[KOKUSHI] > KOKUSHI_COST:
        return np.int64(KYUSHU_KYUHAI)
    if is_legal(t, np.int64(RIICHI)):
        return np.int64(RIICHI)
    if t.phase == RIICHI_DISCARD:  # the widest wait
        return discard_action(t, fastest_discard(t))
    kan = choose_kan(t, hand, best)
    if kan >= 0:
        return kan
    if p.riichi:
        return np.int64(TSUMOGIRI)
    choice = fill_discards(t, hand, best, values)
    return safest_discard(t, hand, values) if folds(t, hand, best) else choice


@inner
def choose(t: np.record, hand: np.record, values: np.ndarray) -> int:
    """The action for one view; writes the values of those compared. A win is always taken."""
    values[:] = -np.inf
    if is_legal(t, np.int64(TSUMO)):
        return np.int64(TSUMO)
    if is_legal(t, np.int64(RON)):
        return np.int64(RON)
    read_hand(t, hand)
    fill_costs(hand)
    if is_legal(t, np.int64(PASS)):
        return choose_call(t, hand, values)
    return choose_on_turn(t, hand, values)


@kernel(DECIDE)
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write the action for each of the first `n` views of `raw` to `actions`."""
    views = raw.view(TABLE)
    hands = np.zeros(HAND_SIZE, dtype=np.uint8).view(HAND)
    values = np.empty(N_ACTIONS)
    for k in range(n):
        actions[k] = choose(views[k], hands[0], values)  # indexed each time: a record does not keep its array alive


@kernel(ACTION_VALUES)
def action_values(raw: np.ndarray, n: int, values: np.ndarray) -> None:
    """Write the values of the actions that `choose` considers; where that is only one, its value is 0."""
    views = raw.view(TABLE)
    hands = np.zeros(HAND_SIZE, dtype=np.uint8).view(HAND)
    row = np.empty(N_ACTIONS)
    for k in range(n):
        chosen = choose(views[k], hands[0], row)
        if row[chosen] == -np.inf:
            row[chosen] = 0.0
        values[k] = row


@kernel("uint8[::1], int64, float64[:, ::1]")
def hand_type_costs(raw: np.ndarray, n: int, costs: np.ndarray) -> None:
    """Write the cost of each hand type for the first `n` views: `costs` float64[n, N_TYPES]."""
    views = raw.view(TABLE)
    hands = np.zeros(HAND_SIZE, dtype=np.uint8).view(HAND)
    for k in range(n):
        read_hand(views[k], hands[0])
        fill_costs(hands[0])
        costs[k] = hands[0].cost


class Yaku(CompiledValueAgent):
    """The bot; it annotates its replies with the hand it goes for."""

    _last: np.ndarray | None = None

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose actions, and keep the last view for `annotate`."""
        actions = super().act(views)
        if len(views):
            self._last = views[-1:].copy()
        return actions

    def annotate(self) -> dict[str, Any]:
        """The hand type gone for and the cost of each within reach, lowest first: see `agents.base.Annotating`.

        ``{"goes_for": "pinfu", "costs": {"pinfu": 1.9, "riichi": 2.7, …}}``
        """
        if self._last is None:
            return {}
        costs = np.empty((1, N_TYPES))
        hand_type_costs(raw_bytes(self._last), 1, costs)
        best = NAMES[int(np.argmin(costs[0] - FREQUENCY))]
        reachable = sorted((cost, name) for name, cost in zip(NAMES, costs[0].tolist()) if cost < OUT_OF_REACH)
        return {"goes_for": best, "costs": {name: round(cost, 2) for cost, name in reachable}}
