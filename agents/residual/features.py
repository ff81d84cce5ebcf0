"""What the network sees: the features of `selfplay`, what `rule` thinks, the rivers, two draws, kinds and plans.

The network adds its output to the logits of `rule`: an action that `rule` values lower than its best by one
TEMPERATURE has a logit lower by 1. So a network whose output is 0 plays as `rule`, except for the choice among actions
that `rule` values alike.
"""

from __future__ import annotations

import numpy as np

from agents.blocks import Block, offsets_of
from agents.bots.rule.bot import declares_kyushu_kyuhai, keeps_north_for_kokushi
from agents.bots.rule.calls import choose_call, choose_kan
from agents.bots.rule.context import CONTEXT, CONTEXT_SIZE, fill_context
from agents.bots.rule.discard import best_discard, best_riichi_discard
from agents.bots.rule.placement import rounds_after
from agents.bots.rule.safety import safe_kinds
from agents.bots.rule.threat import tenpai_chance
from agents.compiled.menu import is_legal, only_action
from agents.residual.draws import N_DRAWS, write_draw_features
from agents.residual.plans import N_LEFT, N_TILES, left_features, left_suits, tiles_features, tiles_suits
from agents.residual.rivers import (
    N_NEAR,
    N_OPPONENTS,
    N_RIVER,
    NEAR,
    near_features,
    read_rivers,
    river_features,
    river_suits,
    wait_features,
)
from agents.rl.rows import ENCODE, Features
from agents.rl.suits import side_by_side, swap_row
from agents.selfplay import layout as plain
from agents.selfplay.features import action_features, compare_hands, prepare, state_features, tile_of
from agents.selfplay.layout import BEST_AT, N_PLANS, SHANTEN_AT
from engine.actions import DAIMINKAN, KYUSHU_KYUHAI, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.game import MAX_MENU
from engine.hand import has_kind
from engine.kernels import write_legal
from engine.table import RIICHI_DISCARD, RIVER_TSUMOGIRI, TABLE
from engine.tiles import KIND_OF, N_KINDS, SANMA_KINDS

GAIN_HANS = np.array([1, 2, 3, 4, 5, 6, 8, 11, 13], dtype=np.int64)  # whose gains are features
RECENT = 3  # discards of an opponent whose tedashi are counted

# What `rule` thinks of the position. Those of two are of the next seat and of the one after.
RULE_STATE = (
    Block("threat_level", 3, "one of three levels of threat"),
    Block("draws_left", 1, "the own draws left, / 19"),
    Block("mean_risk", 1, "risk of discarding a random unseen tile, times 20"),
    Block("no_win_value", 1, "value if the viewer neither wins nor deals in, plus 2"),
    Block("best", 1, "the highest value of all actions, times 5"),
    Block("promised", 1, "the highest expected value of a hand that a discard leaves, its risks apart, times 5"),
    Block("win_gains", len(GAIN_HANS), "what a win of each number of han gains"),
    Block("stick_cost", 1, "what a riichi stick costs, times 20"),
    Block("rounds", 1, "rounds still to come, / 8"),
    Block("is_last", 1, "1 in the last round"),
    Block("rounds_inverse", 1, "1 / (1 + rounds still to come)"),
    Block("safe_tiles", N_OPPONENTS, "held tiles that are safe against an opponent, / 6"),
    Block("risks", 2, "the lowest risk of a held tile and the second lowest, times 20"),
    Block("tenpai", N_OPPONENTS, "the chance that an opponent is in tenpai"),
    Block("tedashi", N_OPPONENTS, f"share of tedashi in the last {RECENT} discards of an opponent"),
    Block("honba", 1, "honba, / 4"),
    Block("leads", N_OPPONENTS, "points ahead of an opponent, in ten thousands"),
)
# What `rule` thinks of an action. The last four are those of a discard.
RULE_ACTION = (
    Block("prior_logit", 1, "the prior logit, / 6, at least -2"),
    Block("gap", 1, "value below that of the best action, times 20, at least -2"),
    Block("has_value", 1, "1 if `rule` values the action"),
    Block("is_best", 1, "1 if `rule` would take it"),
    Block("win_value", 1, "expected value of the hand that it leaves, its risks apart, times 5"),
    Block("win_gap", 1, "that value below the highest, times 10, at least -3"),
    Block("risk", 1, "its risk, times 10, at most 3"),
    Block("deal_in", 1, "chance to deal in, times 5"),
)
STATE, N_RULE_STATE = offsets_of(RULE_STATE)
ACTION, N_RULE_ACTION = offsets_of(RULE_ACTION)

# The features of `selfplay` come first, then what `rule` thinks, then the rivers, then what two draws make of the hand,
# then kinds and plans.
RULE_STATE_AT, RULE_ACTION_AT = plain.N_STATE, plain.N_ACTION
RIVERS_AT = RULE_STATE_AT + N_RULE_STATE
TILES_AT = RIVERS_AT + N_OPPONENTS * N_RIVER
N_STATE = TILES_AT + N_TILES
NEAR_AT = RULE_ACTION_AT + N_RULE_ACTION
DRAWS_AT = NEAR_AT + N_NEAR
LEFT_AT = DRAWS_AT + N_DRAWS
N_ACTION = LEFT_AT + N_LEFT
STATE_SUITS = np.array(
    [*plain.STATE_SUITS, *river_suits(RIVERS_AT), *river_suits(RIVERS_AT + N_RIVER), *tiles_suits(TILES_AT)]
)
ACTION_SUITS = np.array([*plain.ACTION_SUITS, *side_by_side([NEAR_AT + NEAR.suits]), *left_suits(LEFT_AT)])
TEMPERATURE = 0.008  # placements
MAX_GAP = 0.07  # placements: actions that `rule` values lower than its best by more are never played
OFF = 5.0  # logits: if `rule` takes an action without comparing it, the others are lower by this


@inner
def think(t: np.record, context: np.record) -> int:
    """Fill `context`, with the values of the actions that `rule` compares; returns what it takes unasked, or -1.

    A win is for the caller. Kans, nukidora and kyushu kyuhai have no values.
    """
    p = t.seat[t.viewer]
    context.ev[:] = -np.inf
    context.win_ev[:] = 0.0
    fill_context(t, context)
    if is_legal(t, np.int64(PASS)):
        choose_call(t, context)
        return np.int64(-1)
    taken = np.int64(-1)
    if is_legal(t, np.int64(NUKIDORA)) and not keeps_north_for_kokushi(p):
        taken = np.int64(NUKIDORA)
    elif is_legal(t, np.int64(KYUSHU_KYUHAI)) and declares_kyushu_kyuhai(p):
        taken = np.int64(KYUSHU_KYUHAI)
    if p.riichi:
        kan = choose_kan(t, np.int64(0))
        return taken if taken >= 0 else kan if kan >= 0 else np.int64(TSUMOGIRI)
    if t.phase == RIICHI_DISCARD:
        best_riichi_discard(t, context)
        return np.int64(-1)
    if taken < 0:
        taken = choose_kan(t, context.threat_level)
    riichi = -np.inf
    if is_legal(t, np.int64(RIICHI)):
        riichi = best_riichi_discard(t, context).ev
    best_discard(t, context)
    context.ev[RIICHI] = riichi
    return taken


@inner
def highest_promise(context: np.record) -> float:
    """The highest expected value of a hand that a discard leaves, its risks apart."""
    promised = 0.0
    for kind in SANMA_KINDS:
        promised = max(promised, context.win_ev[kind])
    return promised


@inner
def candidates(
    t: np.record, context: np.record, taken: int, best: float, numbers: np.ndarray, prior_logits: np.ndarray
) -> int:
    """Write the actions that may be played to `numbers` int64[:] and the logits of `rule` to `prior_logits`.

    Returns their number. `best` is the highest value of all actions. Of equal discards, from the hand or just drawn,
    red or plain, only the one that `rule` would make is included.
    """
    n = np.int64(0)
    for i in range(write_legal(t, np.int64(t.viewer), numbers)):
        action = numbers[i]
        ev = context.ev[action]
        if action == taken:
            prior_logits[n] = 0.0
        elif ev > -np.inf:
            if best - ev > MAX_GAP:
                continue
            prior_logits[n] = (ev - best) / TEMPERATURE - (OFF if taken >= 0 else 0.0)
        elif action >= DAIMINKAN and action != PASS:
            prior_logits[n] = -OFF
        elif action == TSUMOGIRI and t.seat[t.viewer].riichi:
            prior_logits[n] = -OFF
        else:
            continue
        numbers[n] = action
        n += 1
    return n


@inner
def rule_action_features(
    t: np.record,
    context: np.record,
    taken: int,
    best: float,
    promised: float,
    action: int,
    prior_logits: float,
    out: np.ndarray,
) -> None:
    """Write what `rule` thinks of `action` into `out` float32[N_RULE_ACTION].

    `best` is the highest value of all actions, `promised` that of all hands that discards leave.
    """
    ev = context.ev[action]
    out[ACTION.prior_logit] = max(prior_logits, -12.0) / 6
    if ev > -np.inf:
        out[ACTION.gap] = max((ev - best) * 20, -2.0)
        out[ACTION.has_value] = 1
    out[ACTION.is_best] = action == taken or (ev > -np.inf and ev == best)  # in riichi no action has a value
    if action <= TSUMOGIRI:
        kind = KIND_OF[tile_of(t, action)]
        out[ACTION.win_value] = context.win_ev[kind] * 5
        out[ACTION.win_gap] = max((context.win_ev[kind] - promised) * 10, -3.0)
        out[ACTION.risk] = min(context.risk[kind] * 10, 3.0)
        out[ACTION.deal_in] = context.deal_in[kind] * 5


@inner
def rule_state_features(
    t: np.record, context: np.record, safe: np.ndarray, best: float, promised: float, out: np.ndarray
) -> None:
    """Write what `rule` thinks of the position into `out` float32[N_RULE_STATE], which is zero."""
    me = np.int64(t.viewer)
    p = t.seat[me]
    out[STATE.threat_level + context.threat_level] = 1
    out[STATE.draws_left] = context.draws_left / 19
    out[STATE.mean_risk] = context.mean_risk * 20
    out[STATE.no_win_value] = context.no_win_value + 2
    out[STATE.best] = 0.0 if best == -np.inf else max(best * 5, -2.0)
    out[STATE.promised] = promised * 5
    for i in range(len(GAIN_HANS)):
        out[STATE.win_gains + i] = context.win_gain[GAIN_HANS[i]]
    out[STATE.stick_cost] = context.stick_cost * 20
    rounds = rounds_after(t, np.bool_(False))
    out[STATE.rounds] = rounds / 8
    out[STATE.is_last] = rounds == 0.0
    out[STATE.rounds_inverse] = 1 / (1 + rounds)
    least, second = 1.0, 1.0
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0:
            risk = context.risk[kind]
            if risk < least:
                least, second = risk, least
            elif risk < second:
                second = risk
            if p.hand[kind] > 1 and risk < second:
                second = risk
            for step in range(N_OPPONENTS):
                if has_kind(safe[(me + step + 1) % 3], kind):
                    out[STATE.safe_tiles + step] += p.hand[kind] / 6
    out[STATE.risks] = least * 20
    out[STATE.risks + 1] = second * 20
    for step in range(N_OPPONENTS):
        seat = (me + step + 1) % 3
        q = t.seat[seat]
        out[STATE.tenpai + step] = tenpai_chance(t, seat)
        for i in range(max(np.int64(q.n_river) - RECENT, 0), np.int64(q.n_river)):
            if (q.river[i] & RIVER_TSUMOGIRI) == 0:
                out[STATE.tedashi + step] += 1 / RECENT
    out[STATE.honba] = t.honba / 4
    out[STATE.leads] = (p.score - t.seat[(me + 1) % 3].score) / 10000
    out[STATE.leads + 1] = (p.score - t.seat[(me + 2) % 3].score) / 10000


@inner
def find_choice(
    t: np.record, context: np.record, numbers: np.ndarray, prior_logits: np.ndarray
) -> tuple[int, int, float, int]:
    """Return the forced action or -1, what `rule` takes unasked or -1, the highest value, and how many `candidates`.

    Fills `context`, `numbers` and `prior_logits` as `think` and `candidates` do. A win is always taken. Where no action
    is forced, there is a choice if there are several candidates.
    """
    for win in (TSUMO, RON):
        if is_legal(t, np.int64(win)):
            return np.int64(win), np.int64(-1), 0.0, np.int64(0)
    forced = only_action(t)
    if forced >= 0:
        return forced, np.int64(-1), 0.0, np.int64(0)
    taken = think(t, context)
    best = np.float64(context.ev.max())
    count = candidates(t, context, taken, best, numbers, prior_logits)
    return numbers[0] if count == 1 else np.int64(-1), taken, best, count


@inner
def write_position(
    t: np.record,
    context: np.record,
    best: float,
    promised: float,
    dora: np.ndarray,
    safe: np.ndarray,
    state: np.ndarray,
    numbers: np.ndarray,
    actions: np.ndarray,
) -> None:
    """Write the features of the position into `state`, and those of `selfplay` of the actions `numbers` into `actions`.

    `best` is the highest value of all actions, `promised` that of all hands that discards leave. Fills `dora`.
    """
    plan_keys = np.empty((N_PLANS, 3), dtype=np.int32)
    prepare(t, dora, plan_keys)
    state_features(t, dora, plan_keys, state)
    state[RULE_STATE_AT:] = 0
    rule_state_features(t, context, safe, best, promised, state[RULE_STATE_AT:RIVERS_AT])
    for step in range(N_OPPONENTS):
        at = RIVERS_AT + step * N_RIVER
        river_features(t, (np.int64(t.viewer) + step + 1) % 3, state[at : at + N_RIVER])
    tiles_features(t, dora, safe, state[TILES_AT:])
    for i in range(len(numbers)):
        actions[i] = 0
        action_features(t, dora, plan_keys, safe, np.int64(numbers[i]), actions[i])
    compare_hands(actions, len(numbers), state)


@inner
def write_features(
    t: np.record,
    context: np.record,
    taken: int,
    best: float,
    state: np.ndarray,
    numbers: np.ndarray,
    prior_logits: np.ndarray,
    actions: np.ndarray,
) -> None:
    """Write the features of the position into `state`, and those of the actions `numbers` into `actions`.

    `best` is the highest value of all actions.
    """
    dora, safe, rivers = np.empty(N_KINDS, dtype=np.int64), safe_kinds(t), read_rivers(t)
    promised = highest_promise(context)
    write_position(t, context, best, promised, dora, safe, state, numbers, actions)
    for i in range(len(numbers)):
        number = np.int64(numbers[i])
        rule_action_features(
            t, context, taken, best, promised, number, prior_logits[i], actions[i, RULE_ACTION_AT:NEAR_AT]
        )
        tile = tile_of(t, number)
        if tile >= 0:
            left_features(t, dora, number, tile, actions[i, LEFT_AT:])
            kind = KIND_OF[tile]
            near_features(t, dora, rivers, kind, actions[i, NEAR_AT:DRAWS_AT])
            if number <= TSUMOGIRI and actions[i, SHANTEN_AT] == 0:  # it leaves tenpai; other hands have no waits
                wait_features(t, safe, kind, actions[i, NEAR_AT + NEAR.waits : DRAWS_AT])
    write_draw_features(t, numbers, actions, state[BEST_AT], np.int64(DRAWS_AT))
    swap_row(t, state, actions, len(numbers), STATE_SUITS, ACTION_SUITS)


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
    prior_logits: np.ndarray,
) -> int:
    """Write a row for each view that has several `candidates`."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    rows = m = np.int64(0)
    first[0] = 0
    for k in range(n):
        t, context = views[k], contexts[0]
        forced[k], taken, best, count = find_choice(t, context, numbers[m:], prior_logits[m:])
        if count < 2:
            continue
        end = m + count
        views_of[rows] = k
        write_features(t, context, taken, best, states[rows], numbers[m:end], prior_logits[m:end], actions[m:end])
        m = end
        rows += 1
        first[rows] = m
    return rows


@kernel("uint8[::1], int64[::1], int64[::1], float32[:, ::1]")
def encode_positions(raw: np.ndarray, forced: np.ndarray, views_of: np.ndarray, states: np.ndarray) -> int:
    """Write and return what `encode_views` does, without the actions: all that a critic needs, in half the time."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    numbers, prior_logits = np.empty(MAX_MENU, dtype=np.int64), np.empty(MAX_MENU, dtype=np.float32)
    actions, dora = np.empty((MAX_MENU, plain.N_ACTION), dtype=np.float32), np.empty(N_KINDS, dtype=np.int64)
    rows = np.int64(0)
    for k in range(len(views)):
        t, context = views[k], contexts[0]
        forced[k], _, best, count = find_choice(t, context, numbers, prior_logits)
        if count < 2:
            continue
        views_of[rows] = k
        state, menu = states[rows], numbers[:count]
        write_position(t, context, best, highest_promise(context), dora, safe_kinds(t), state, menu, actions)
        swap_row(t, state, actions, np.int64(0), STATE_SUITS, ACTION_SUITS)
        rows += 1
    return rows


FEATURES = Features("residual", N_STATE, N_ACTION, encode_views)
