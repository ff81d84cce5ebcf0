"""The context of one decision: a record with everything the rule bot derives from a view before it compares actions."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.attack import reachable_plans
from agents.bots.rule.placement import MAX_HAN, fill_win_gains
from agents.bots.rule.speed import MAX_DRAWS
from agents.bots.rule.threat import fill_threats
from agents.compiled.dora import fill_dora
from agents.compiled.unseen import unseen
from engine.actions import N_ACTIONS
from engine.compiling import inner
from engine.table import WIN, record
from engine.tiles import N_KINDS, SANMA_KINDS

CONTEXT = record(
    [
        ("ev", "f8", N_ACTIONS),  # expected gain of each action in placements, -inf where it was not evaluated
        ("win_ev", "f8", N_KINDS),  # expected value of the hand after each discard, its risks apart; see `best_discard`
        ("unseen", "f8", N_KINDS),  # tiles the viewer sees neither in its hand nor face up
        ("dora", "i8", N_KINDS),  # dora that a tile of each kind counts
        ("deal_in", "f8", N_KINDS),  # chance that discarding each kind deals in
        ("risk", "f8", N_KINDS),  # expected loss, in placements, from dealing in with each kind
        ("mean_risk", "f8"),  # risk of discarding a random unseen tile
        ("threat_level", "i8"),  # number of opponents that threaten to win (0-2)
        ("draws_left", "i8"),  # own draws to come
        ("no_win_value", "f8"),  # placement value if the viewer neither wins nor deals in
        ("win_gain", "f8", MAX_HAN + 1),  # placements gained by a win over `no_win_value`, by han
        ("stick_cost", "f8"),  # placements that losing a riichi stick costs
        ("plans", "i8"),  # bit mask of the plans that the present hand can reach
        ("keys", "i4", 3),  # scratch: shanten keys of part of the hand
        ("win", WIN),  # scratch: for the scorer
        ("rates", "f8", N_KINDS),  # scratch: chance that each kind is a wait of the opponent at hand
        ("wait_size", "f8", N_KINDS),  # scratch: tiles in the best wait after drawing each kind, negative: not computed
    ]
)
CONTEXT_SIZE = CONTEXT.itemsize


@inner
def fill_context(t: np.record, context: np.record) -> None:
    """Fill `context` with all that does not depend on the action chosen."""
    for kind in SANMA_KINDS:
        context.unseen[kind] = unseen(t, kind)
    fill_dora(t, context.dora)
    fill_threats(t, context)
    fill_win_gains(t, context)
    context.draws_left = min(np.int64(t.live_left) // 3, np.int64(MAX_DRAWS))
    context.plans = reachable_plans(t.seat[t.viewer], context.keys)
