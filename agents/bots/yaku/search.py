"""What each hand type still costs: the missing tiles of its cheapest completion, found by a depth-first search.

The cost of a missing tile depends on how many of its kind the viewer does not see (`TILE_COST`). Costs are additive, so
a search over the sets still missing, cheapest first, may stop as soon as the sets left, at the price of the cheapest,
exceed the best completion found (branch and bound).
"""

from __future__ import annotations

import numpy as np

from agents.bots.yaku.targets import (
    ALLOWED_PAIRS,
    ALLOWED_SETS,
    CHIITOITSU,
    CLOSED,
    CONCEALED_TRIPLETS,
    KOKUSHI,
    N_CHOSEN,
    N_RUNS,
    N_SETS,
    N_TYPES,
    NEEDED,
    PLAIN_PAIR,
    SET_TILES,
    TRIPLET_OF,
    TYPE_OF,
    YAKUHAI,
)
from agents.compiled.unseen import unseen
from engine.compiling import inner
from engine.hand import has_kind
from engine.table import ANKAN_MELD, record, seat_wind
from engine.tiles import HAKU, HONOUR, N_KINDS, SANMA_KINDS, TERMINALS_HONOURS

# The cost of a missing tile by how many of its kind are unseen; the last for one of which four are.
TILE_COST = np.array([10.0, 1.1, 1.0, 0.9, 0.8])
OUT_OF_REACH = 9.0  # the cost of a hand type that cannot be made, or costs more than this

HAND = record(
    [
        ("tiles", "i8", N_KINDS),  # the concealed tiles
        ("unseen", "i8", N_KINDS),
        ("meld", "i8", N_CHOSEN),  # kinds of the melds
        ("n_melds", "i8"),
        ("n_ankans", "i8"),
        ("open", "b1"),
        ("value_kinds", "u8"),  # bit mask of dragons, round wind and seat wind
        ("cost", "f8", N_TYPES),  # of each hand type
        ("demand", "i8", N_TYPES * N_KINDS),  # tiles of each kind that the cheapest completion of each hand type takes
        ("trial", "i8", N_KINDS),  # scratch: demand of the completion at hand
        ("best", "i8", N_KINDS),  # scratch: demand of the best completion of a target
    ]
)


@inner
def read_hand(t: np.record, hand: np.record) -> None:
    """Fill in what the viewer holds and sees."""
    p = t.seat[t.viewer]
    for kind in range(N_KINDS):
        hand.tiles[kind] = p.hand[kind]
        hand.unseen[kind] = unseen(t, kind)
    hand.n_melds = p.n_melds
    hand.open = p.open != 0
    hand.n_ankans = 0
    for number in range(p.n_melds):
        hand.meld[number] = p.meld_kind[number]
        hand.n_ankans += p.meld_type[number] == ANKAN_MELD
    winds = np.uint64(1) << np.uint64(HONOUR + t.round_wind) | np.uint64(1) << np.uint64(
        HONOUR + seat_wind(t, t.viewer)
    )
    hand.value_kinds = winds | np.uint64(7) << np.uint64(HAKU)


@inner
def tile_cost(hand: np.record, kind: int) -> float:
    """The cost of one more tile of `kind` beyond the demand of the trial."""
    missing = hand.trial[kind] - hand.tiles[kind]
    if missing < 0:
        return 0.0
    left = hand.unseen[kind] - missing
    return TILE_COST[left] if left > 0 else TILE_COST[0]


@inner
def take_set(hand: np.record, index: int) -> float:
    """Add a set to the demand of the trial; its cost."""
    cost = 0.0
    for tile in range(3):
        kind = SET_TILES[index, tile]
        cost += tile_cost(hand, kind)
        hand.trial[kind] += 1
    return cost


@inner
def drop_set(hand: np.record, index: int) -> None:
    """Undo `take_set`."""
    for tile in range(3):
        hand.trial[SET_TILES[index, tile]] -= 1


@inner
def cheapest_pair(hand: np.record, pairs: np.uint64, limit: float) -> tuple[float, int]:
    """Return the cheapest allowed pair in addition to the trial, and its cost; (`limit`, -1) if none costs less."""
    best, best_kind = limit, np.int64(-1)
    for kind in SANMA_KINDS:
        if has_kind(pairs, kind):
            cost = tile_cost(hand, kind)
            if cost < best:
                hand.trial[kind] += 1
                cost += tile_cost(hand, kind)
                hand.trial[kind] -= 1
                if cost < best:
                    best, best_kind = cost, kind
    return best, best_kind


@inner
def sorted_sets(hand: np.record, allowed: np.uint64, limit: float, order: np.ndarray, prices: np.ndarray) -> int:
    """Fill `order` with the allowed sets that add less than `limit`, cheapest first; return their number."""
    n = np.int64(0)
    for index in range(N_SETS):
        if not has_kind(allowed, index):
            continue
        price = take_set(hand, index)
        drop_set(hand, index)
        if price >= limit:
            continue
        place = n
        while place > 0 and prices[place - 1] > price:
            order[place], prices[place] = order[place - 1], prices[place - 1]
            place -= 1
        order[place], prices[place] = index, price
        n += 1
    return n


@inner
def complete(
    hand: np.record, sets: int, triplets: int, allowed: np.uint64, pairs: np.uint64, spent: float, limit: float
) -> float:
    """The cost of the cheapest completion of the trial, `limit` if none costs less; writes its demand to `best`.

    `sets` are still missing, of them `triplets` at least must be triplets; `spent` is the cost of the trial so far.
    """
    order, prices = np.empty(N_SETS, dtype=np.int64), np.empty(N_SETS)
    n = sorted_sets(hand, allowed, limit - spent, order, prices)
    # The state of the search: at depth d the set order[at[d]] is tried, costs[d] was spent before it.
    at, costs, found = np.zeros(N_CHOSEN + 1, dtype=np.int64), np.zeros(N_CHOSEN + 1), np.zeros(N_CHOSEN + 1, np.int64)
    depth, best = np.int64(0), limit
    costs[0] = spent
    while True:
        if depth == sets:
            pair_cost, pair = cheapest_pair(hand, pairs, best - costs[depth])
            if pair >= 0:
                best = costs[depth] + pair_cost
                hand.best[:] = hand.trial[:]
                hand.best[pair] += 2
        descended = False
        while depth < sets and at[depth] < n:
            index = order[at[depth]]
            if costs[depth] + (sets - depth) * prices[at[depth]] >= best:
                break
            is_triplet = np.int64(index >= N_RUNS)
            if triplets - found[depth] - is_triplet > sets - depth - 1:  # too few places left for the triplets
                at[depth] += 1
                continue
            cost = costs[depth] + take_set(hand, index)
            if cost < best:
                costs[depth + 1], found[depth + 1], at[depth + 1] = cost, found[depth] + is_triplet, at[depth]
                depth += 1
                descended = True
                break
            drop_set(hand, index)
            at[depth] += 1
        if descended:
            continue
        if depth == 0:
            return best
        depth -= 1
        drop_set(hand, order[at[depth]])
        at[depth] += 1


@inner
def target_cost(hand: np.record, target: int, limit: float) -> float:
    """The cost of one target, `limit` if it does not cost less; else its demand is in `best`."""
    if CLOSED[target] and hand.open:
        return limit
    hand.trial[:] = 0
    spent, sets = 0.0, N_CHOSEN - hand.n_melds
    triplets = CONCEALED_TRIPLETS[target] - hand.n_ankans
    made = np.int64(0)  # bit mask of the melds that are sets which the target needs
    for needed in NEEDED[target]:
        if needed < 0:
            break
        if TYPE_OF[target] == YAKUHAI and not has_kind(hand.value_kinds, SET_TILES[needed, 0]):
            return limit
        is_made = False
        for number in range(hand.n_melds):
            if not is_made and not (made >> number) & 1 and TRIPLET_OF[hand.meld[number]] == needed:
                made |= np.int64(1) << number
                is_made = True
        if not is_made:
            spent += take_set(hand, needed)
            sets -= 1
    for number in range(hand.n_melds):
        if not has_kind(ALLOWED_SETS[target], TRIPLET_OF[hand.meld[number]]):
            return limit
    if sets < 0 or spent >= limit or triplets > sets:
        return limit
    pairs = ALLOWED_PAIRS[target] & ~hand.value_kinds if PLAIN_PAIR[target] else ALLOWED_PAIRS[target]
    return complete(hand, sets, triplets, ALLOWED_SETS[target], pairs, spent, limit)


@inner
def seven_pairs_cost(hand: np.record, limit: float) -> float:
    """As `target_cost`, for the seven cheapest pairs of different kinds."""
    if hand.n_melds > 0:
        return limit
    hand.best[:] = 0
    total = 0.0
    for _ in range(7):
        hand.trial[:] = 0
        pairs = np.uint64(0)
        for kind in SANMA_KINDS:
            if hand.best[kind] == 0:
                pairs |= np.uint64(1) << np.uint64(kind)
        cost, kind = cheapest_pair(hand, pairs, 100.0)
        hand.best[kind] = 2
        total += cost
    return min(total, limit)


@inner
def thirteen_orphans_cost(hand: np.record, limit: float) -> float:
    """As `target_cost`, for one of each terminal and honour and a second one of any."""
    if hand.n_melds > 0:
        return limit
    hand.trial[:] = 0
    total = 0.0
    for kind in TERMINALS_HONOURS:
        total += tile_cost(hand, kind)
        hand.trial[kind] = 1
    second, second_kind = 100.0, np.int64(-1)
    for kind in TERMINALS_HONOURS:
        cost = tile_cost(hand, kind)
        if cost < second:
            second, second_kind = cost, kind
    hand.best[:] = hand.trial[:]
    hand.best[second_kind] += 1
    return min(total + second, limit)


@inner
def keep_if_cheaper(hand: np.record, hand_type: int, cost: float) -> None:
    """Keep the demand in `best` if it is the cheapest of its hand type so far."""
    if cost < hand.cost[hand_type]:
        hand.cost[hand_type] = cost
        for kind in range(N_KINDS):
            hand.demand[hand_type * N_KINDS + kind] = hand.best[kind]


@inner
def fill_costs(hand: np.record) -> None:
    """Fill `cost` and `demand` of all hand types."""
    hand.cost[:] = OUT_OF_REACH
    hand.demand[:] = 0
    for target in range(len(TYPE_OF)):
        hand_type = TYPE_OF[target]
        keep_if_cheaper(hand, hand_type, target_cost(hand, target, hand.cost[hand_type]))
    keep_if_cheaper(hand, CHIITOITSU, seven_pairs_cost(hand, OUT_OF_REACH))
    keep_if_cheaper(hand, KOKUSHI, thirteen_orphans_cost(hand, OUT_OF_REACH))
