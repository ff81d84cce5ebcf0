"""What the network sees: numbers that follow from the rules, about a position and about each legal action.

Nothing here was learned from people or other bots, but it is more than the tiles: shanten, ukeire (tiles that lower
it), which tiles are certainly safe, and how far a hand is from tanyao and from one suit are computed, not learned.
All numbers are scaled to about -1 to 1. Seats are relative to the viewer: itself, the next, the one before.
"""

from __future__ import annotations

import numpy as np

from agents.bots.rule.safety import safe_kinds
from agents.bots.rule.value import PLAN_MASK, dora_han, restrict_keys, toitoi_shanten, value_han, value_triplet_han
from agents.compiled.dora import fill_dora
from agents.compiled.menu import only_action
from agents.compiled.seats import in_riichi, rank_of
from agents.compiled.unseen import count_unseen, unseen
from agents.rl.rows import ENCODE, Features
from agents.rl.suits import swap_row
from agents.selfplay.layout import (
    ACTION,
    ACTION_SUITS,
    BEST_AT,
    CLASS_OF,
    DANGER,
    GAME,
    HAND,
    N_ACTION,
    N_DANGER,
    N_PLANS,
    N_SEAT,
    N_STATE,
    N_TYPES,
    NEAR,
    OWN,
    SEAT,
    SHANTEN_AT,
    SHANTENS,
    STATE,
    STATE_SUITS,
    TILE,
    UKEIRE_AT,
    VALUE_CLASS,
)
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KAKAN,
    KYUSHU_KYUHAI,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    require_actions,
)
from engine.compiling import inner, kernel
from engine.hand import has_kind, in_river, move
from engine.kernels import write_legal
from engine.shanten import KEY_GROUP, KEY_WEIGHT, seven_pairs_shanten, shanten, ukeire_kinds
from engine.table import RESPONSE, TABLE, TURN, seat_wind
from engine.tiles import HONOUR, KIND_OF, N_KINDS, N_SANMA, NORTH, PIN, SANMA_KINDS, TERMINALS_HONOURS_MASK, is_red

FAR = 9  # more than any shanten

# Actions by type; number of an action -> its type.
ACTIONS_OF_TYPE = (
    range(TSUMOGIRI + 1), [RIICHI], [PON, PON_RED], [DAIMINKAN], [NUKIDORA], [TSUMO], [RON], [KYUSHU_KYUHAI], [PASS],
    range(ANKAN, ANKAN + N_KINDS), range(KAKAN, KAKAN + N_KINDS),
)  # fmt: skip
require_actions(
    "ACTIONS_OF_TYPE of agents/selfplay/features.py",
    (each for actions in ACTIONS_OF_TYPE for each in actions if RIICHI <= each < ANKAN),
)
TYPE_OF = np.zeros(128, dtype=np.int64)
for _type, _actions in enumerate(ACTIONS_OF_TYPE):
    TYPE_OF[list(_actions)] = _type


@inner
def seat_features(t: np.record, seat: int, dora: np.ndarray, out: np.ndarray) -> None:
    """Write what everybody sees of `seat` into `out` float32[N_SEAT]."""
    p = t.seat[seat]
    out[SEAT.score] = (np.float64(p.score) - 35000) / 20000
    out[SEAT.riichi] = in_riichi(t, seat)
    out[SEAT.ippatsu] = p.ippatsu
    out[SEAT.melds] = p.n_melds / 4
    out[SEAT.open] = p.open
    out[SEAT.nukidora] = p.nukidora / 4
    out[SEAT.discards] = p.n_river / 20
    out[SEAT.dealer] = t.dealer == seat
    for m in range(p.n_melds):
        kind = np.int64(p.meld_kind[m])
        out[SEAT.meld_dora] += (3 * dora[kind] + np.float64(p.meld_red[m])) / 4
        out[SEAT.meld_value] += np.float64(value_han(t, seat, kind)) / 2
        suit = kind // 9
        out[SEAT.meld_suits] += (suit == 1) / 4
        out[SEAT.meld_suits + 1] += (suit == 2) / 4


@inner
def game_features(t: np.record, out: np.ndarray) -> None:
    """Write the features of the game into `out` float32[N_GAME]."""
    seat = np.int64(t.viewer)
    out[GAME.round + min(np.int64(t.round_wind) * 3 + np.int64(t.dealer), np.int64(8))] = 1
    out[GAME.honba] = t.honba / 4
    out[GAME.sticks] = t.sticks / 3
    out[GAME.draws_left] = t.live_left / 55
    out[GAME.wind + seat_wind(t, seat)] = 1
    out[GAME.rank + rank_of(t, seat)] = 1
    out[GAME.phase + min(np.int64(t.phase), np.int64(RESPONSE))] = 1
    out[GAME.kans] = t.n_kans / 4


@inner
def own_features(t: np.record, dora: np.ndarray, plan_keys: np.ndarray, out: np.ndarray) -> None:
    """Write the features of the viewer's hand as a whole into `out` float32[N_OWN]."""
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds)
    now = shanten(p.hand_keys, n_melds)
    out[OWN.shanten + min(max(now + 1, np.int64(0)), np.int64(6))] = 1
    out[OWN.seven_pairs] = seven_pairs_shanten(p.hand_keys) / 6 if n_melds == 0 else 1
    for plan in range(N_PLANS):
        out[OWN.plans + plan] = shanten(plan_keys[plan], n_melds) / 6
    out[OWN.toitoi] = toitoi_shanten(p) / 6
    out[OWN.dora] = dora_han(p, dora) / 4
    out[OWN.value_triplets] = value_triplet_han(t, p) / 2
    out[OWN.passed] = p.temporary_furiten or p.riichi_furiten
    out[OWN.furiten] = in_river(p, p.waits)
    for kind in SANMA_KINDS:
        count = np.int64(p.hand[kind])
        out[OWN.pairs] += (count == 2) / 4
        out[OWN.triplets] += (count >= 3) / 4
        out[OWN.value_pairs] += (count == 2 and value_han(t, np.int64(t.viewer), kind) > 0) / 2
        out[OWN.outer] += count / 14 if has_kind(np.uint64(TERMINALS_HONOURS_MASK), kind) else 0
        out[OWN.suits + kind // 9] += count / 14
    out[OWN.replacement] = t.phase == TURN and t.after_replacement


@inner
def best_ukeire(t: np.record, n_melds: int, banned: int) -> int:
    """The largest ukeire of the viewer's hand of 14 tiles after a discard that keeps its shanten; `banned`: a kind."""
    p = t.seat[t.viewer]
    lowest = max(shanten(p.hand_keys, n_melds), np.int64(0))
    best = np.int64(0)
    for kind in SANMA_KINDS:
        if p.hand[kind] == 0 or kind == banned:
            continue
        move(p, kind, np.int64(-1))
        if shanten(p.hand_keys, n_melds) == lowest:
            best = max(best, count_unseen(t, ukeire_kinds(p.hand, p.hand_keys, n_melds)))
        move(p, kind, np.int64(1))
    return best


@inner
def hand_features(
    t: np.record,
    plan_keys: np.ndarray,
    kind: int,
    count: int,
    melds: int,
    discards: bool,
    discarded: bool,
    out: np.ndarray,
) -> None:
    """Write the features of the hand that is left without `count` tiles of `kind`, with more `melds`, into `out`.

    `discards`: a discard is to follow. `discarded`: the tile is discarded, so that a wait for it is furiten. `out` is
    float32[N_HAND]; `compare_hands` writes its last two.
    """
    p = t.seat[t.viewer]
    n_melds = np.int64(p.n_melds) + melds
    move(p, kind, -count)
    after = max(shanten(p.hand_keys, n_melds), np.int64(0))
    out[HAND.shantens + min(after, np.int64(SHANTENS - 1))] = 1
    if discards:
        out[HAND.ukeire] = best_ukeire(t, n_melds, kind if count == 2 else np.int64(-1)) / 30
    else:
        kinds = ukeire_kinds(p.hand, p.hand_keys, n_melds)
        out[HAND.ukeire] = count_unseen(t, kinds) / 30
        if after == 0:
            out[HAND.furiten] = in_river(p, kinds) or (discarded and has_kind(kinds, kind))
    out[HAND.shanten] = after / 6
    move(p, kind, count)
    for plan in range(N_PLANS):
        fits = has_kind(PLAN_MASK[plan], kind)
        step = count * KEY_WEIGHT[kind] if fits else np.int64(0)
        plan_keys[plan, KEY_GROUP[kind]] -= step
        out[HAND.plans + plan] = shanten(plan_keys[plan], n_melds) / 6
        plan_keys[plan, KEY_GROUP[kind]] += step
        lost = melds > 0 and not fits
        for m in range(p.n_melds):
            lost = lost or not has_kind(PLAN_MASK[plan], np.int64(p.meld_kind[m]))
        if lost:
            out[HAND.plans + plan] = FAR / 6


@inner
def tile_features(t: np.record, dora: np.ndarray, kind: int, out: np.ndarray) -> None:
    """Write the features of a tile of `kind` into `out` float32[N_TILE]."""
    p = t.seat[t.viewer]
    han = value_han(t, np.int64(t.viewer), kind)
    out[TILE.kind_class + (VALUE_CLASS if han > 0 else CLASS_OF[kind])] = 1
    out[TILE.value] = han / 2
    out[TILE.dora] = dora[kind]
    out[TILE.held] = p.hand[kind] / 4
    out[TILE.unseen] = unseen(t, kind) / 4
    if kind < HONOUR:
        for i in range(len(NEAR)):
            near = kind + NEAR[i]
            if near // 9 == kind // 9 and near >= 0:
                out[TILE.near + i] = p.hand[near] / 2


@inner
def danger_features(t: np.record, safe: np.ndarray, kind: int, out: np.ndarray) -> None:
    """Write how a discard of `kind` may deal in to each opponent into `out` float32[2 * N_DANGER]."""
    for step in range(2):
        seat = (np.int64(t.viewer) + step + 1) % 3
        at = step * N_DANGER
        if has_kind(safe[seat], kind):
            out[at + DANGER.safe] = 1
            continue
        sides = np.float64(0)
        if PIN <= kind < HONOUR:
            rank = kind % 9
            if rank <= 5 and not has_kind(safe[seat], kind + 3):
                sides += min(unseen(t, kind + 1), 1) * min(unseen(t, kind + 2), 1)
            if rank >= 3 and not has_kind(safe[seat], kind - 3):
                sides += min(unseen(t, kind - 1), 1) * min(unseen(t, kind - 2), 1)
        out[at + DANGER.ryanmen] = sides / 2
        if t.seat[seat].riichi > 0:
            out[at + DANGER.riichi] = 1
            out[at + DANGER.riichi_ryanmen] = sides / 2


@inner
def tile_of(t: np.record, action: int) -> int:
    """The tile37 that an action is about, or -1."""
    if action < TSUMOGIRI:
        return action
    if action == TSUMOGIRI:
        return np.int64(t.drawn)
    if action == NUKIDORA:
        return np.int64(NORTH)
    if PON <= action <= DAIMINKAN or action == PASS:
        return np.int64(t.offer)
    if action >= ANKAN:
        return (action - ANKAN) % N_KINDS
    return np.int64(-1)


# Type of action -> tiles that leave the hand, melds that it makes, whether a discard follows. The entries of types that
# leave no hand (nukidora leaves one) are not used.
TILES_OF_TYPE = np.array([1, 0, 2, 3, 1, 0, 0, 0, 0, 4, 1], dtype=np.int64)
MELDS_OF_TYPE = np.array([0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0], dtype=np.int64)
DISCARDS_AFTER = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], dtype=np.bool_)
LEAVES_HAND = np.array([1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1], dtype=np.bool_)


@inner
def action_features(
    t: np.record, dora: np.ndarray, plan_keys: np.ndarray, safe: np.ndarray, action: int, out: np.ndarray
) -> None:
    """Write the features of a legal `action` into `out` float32[N_ACTION], which is zero."""
    what = TYPE_OF[action]
    tile = tile_of(t, action)
    kind = KIND_OF[tile] if tile >= 0 else np.int64(0)
    out[ACTION.type + what] = 1
    out[ACTION.tsumogiri] = action == TSUMOGIRI
    out[ACTION.red] = (what == 0 and is_red(tile)) or action == PON_RED
    if LEAVES_HAND[what]:
        hand = out[ACTION.hand : ACTION.tile]
        n_tiles, n_melds = TILES_OF_TYPE[what], MELDS_OF_TYPE[what]
        hand_features(t, plan_keys, kind, n_tiles, n_melds, DISCARDS_AFTER[what], np.bool_(what == 0), hand)
    if tile >= 0:
        tile_features(t, dora, kind, out[ACTION.tile : ACTION.danger])
        if what == 0:
            danger_features(t, safe, kind, out[ACTION.danger :])


@inner
def compare_hands(actions: np.ndarray, n: int, state: np.ndarray) -> None:
    """Write how the hand each action leaves compares with the best: more shanten, its share of the best ukeire.

    Writes the best shanten and ukeire themselves into `state`.
    """
    lowest, best = np.float32(FAR), np.float32(0)
    for k in range(n):
        shanten_left, ukeire = actions[k, SHANTEN_AT], actions[k, UKEIRE_AT]
        if LEAVES_HAND[np.argmax(actions[k, :N_TYPES])]:
            if shanten_left < lowest:
                lowest, best = shanten_left, np.float32(0)
            if shanten_left == lowest:
                best = max(best, ukeire)
    if lowest == FAR:
        return
    state[BEST_AT], state[BEST_AT + 1] = lowest, best
    for k in range(n):
        if not LEAVES_HAND[np.argmax(actions[k, :N_TYPES])]:
            continue
        shanten_left = actions[k, SHANTEN_AT]
        actions[k, ACTION.hand + HAND.farther] = min((shanten_left - lowest) * 6, np.float32(2)) / 2
        if shanten_left == lowest and best > 0:
            actions[k, ACTION.hand + HAND.ukeire_share] = actions[k, UKEIRE_AT] / best


@inner
def prepare(t: np.record, dora: np.ndarray, plan_keys: np.ndarray) -> None:
    """Fill `dora` int64[N_KINDS], the dora a tile of each kind counts, and `plan_keys` int32[N_PLANS, 3]."""
    fill_dora(t, dora)
    for plan in range(N_PLANS):
        restrict_keys(t.seat[t.viewer], PLAN_MASK[plan], plan_keys[plan])


@inner
def state_features(t: np.record, dora: np.ndarray, plan_keys: np.ndarray, state: np.ndarray) -> None:
    """Write the features of the position into `state` float32[N_STATE], all but the two of `compare_hands`."""
    p = t.seat[t.viewer]
    state[:N_STATE] = 0
    for step in range(3):
        seat_features(t, (np.int64(t.viewer) + step) % 3, dora, state[STATE.seats + step * N_SEAT :])
    game_features(t, state[STATE.game : STATE.own])
    own_features(t, dora, plan_keys, state[STATE.own : STATE.held])
    for i in range(N_SANMA):
        kind = SANMA_KINDS[i]
        state[STATE.held + i] = p.hand[kind] / 2
        state[STATE.unseen + i] = unseen(t, kind) / 4


@inner
def encode(t: np.record, state: np.ndarray, actions: np.ndarray, numbers: np.ndarray) -> int:
    """Write the features of a view and of its legal actions, which are counted.

    `state` is float32[N_STATE], `actions` float32[at least 32, N_ACTION], `numbers` int64[at least 32]: the numbers of
    the actions, ascending.
    """
    dora = np.empty(N_KINDS, dtype=np.int64)
    plan_keys = np.empty((N_PLANS, 3), dtype=np.int32)
    prepare(t, dora, plan_keys)
    state_features(t, dora, plan_keys, state)
    safe = safe_kinds(t)
    n = write_legal(t, np.int64(t.viewer), numbers)
    for i in range(n):
        actions[i] = 0
        action_features(t, dora, plan_keys, safe, numbers[i], actions[i])
    compare_hands(actions, n, state)
    swap_row(t, state, actions, n, STATE_SUITS, ACTION_SUITS)
    return n


@kernel(ENCODE)
def encode_views(
    raw: np.ndarray,
    n: int,
    forced: np.ndarray,
    views_of: np.ndarray,
    states: np.ndarray,
    first: np.ndarray,
    actions: np.ndarray,
    numbers: np.ndarray,
    base: np.ndarray,
) -> int:
    """Write a row for each view with several legal actions; without the network they have the same logit."""
    views = raw.view(TABLE)
    rows = m = np.int64(0)
    first[0] = 0
    for k in range(n):
        forced[k] = only_action(views[k])
        if forced[k] < 0:
            legal = encode(views[k], states[rows], actions[m:], numbers[m:])
            views_of[rows] = k
            base[m : m + legal] = 0
            m += legal
            rows += legal > 0
            first[rows] = m
    return rows


FEATURES = Features("selfplay", N_STATE, N_ACTION, encode_views)
