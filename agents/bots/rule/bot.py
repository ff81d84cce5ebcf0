"""One decision of the rule bot."""

from __future__ import annotations

import numpy as np

from agents.base import ACTION_VALUES, DECIDE
from agents.bots.rule.calls import choose_call, choose_kan
from agents.bots.rule.context import CONTEXT, CONTEXT_SIZE, fill_context
from agents.bots.rule.discard import best_discard, best_riichi_discard
from agents.compiled.menu import discard_action, is_legal
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.shanten import shanten, thirteen_orphans_shanten
from engine.table import RIICHI_DISCARD, TABLE
from engine.tiles import NORTH, TERMINALS_HONOURS

# A hand with this many kinds of terminals and honours, or of this shanten or less, is played on, not aborted.
KINDS_FOR_KOKUSHI = 10
MAX_SHANTEN_TO_PLAY = 2


@inner
def declares_kyushu_kyuhai(p: np.record) -> bool:
    """Whether to abort the round with nine kinds of terminals and honours."""
    kinds = np.int64(0)
    for kind in TERMINALS_HONOURS:
        kinds += p.hand[kind] > 0
    return kinds < KINDS_FOR_KOKUSHI and shanten(p.hand_keys, np.int64(p.n_melds)) > MAX_SHANTEN_TO_PLAY


@inner
def keeps_north_for_kokushi(p: np.record) -> bool:
    """Whether the hand's only north belongs to a kokushi that is nearest to tenpai."""
    if p.n_melds > 0 or p.hand[NORTH] > 1:
        return False
    orphans = thirteen_orphans_shanten(p.hand_keys)
    return orphans <= 2 and orphans == shanten(p.hand_keys, np.int64(0))


@inner
def choose_on_turn(t: np.record, context: np.record) -> int:
    """The action of a seat that has drawn or ponned."""
    p = t.seat[t.viewer]
    if is_legal(t, np.int64(NUKIDORA)) and not keeps_north_for_kokushi(p):
        return np.int64(NUKIDORA)
    if is_legal(t, np.int64(KYUSHU_KYUHAI)) and declares_kyushu_kyuhai(p):
        return np.int64(KYUSHU_KYUHAI)
    if p.riichi:
        kan = choose_kan(t, np.int64(0))
        return kan if kan >= 0 else np.int64(TSUMOGIRI)
    fill_context(t, context)
    if t.phase == RIICHI_DISCARD:
        return discard_action(t, best_riichi_discard(t, context).kind)
    kan = choose_kan(t, context.threat_level)
    if kan >= 0:
        return kan
    riichi_ev = -np.inf
    if is_legal(t, np.int64(RIICHI)):
        riichi_ev = best_riichi_discard(t, context).ev
    damaten = best_discard(t, context)  # after the riichi: both write the expected value of each discard
    context.ev[RIICHI] = riichi_ev
    return np.int64(RIICHI) if riichi_ev > damaten.ev else discard_action(t, damaten.kind)


@inner
def choose(t: np.record, context: np.record) -> int:
    """The action for one view; writes the expected values of those compared to `context.ev`. A win is always taken."""
    context.ev[:] = -np.inf
    if is_legal(t, np.int64(TSUMO)):
        return np.int64(TSUMO)
    if is_legal(t, np.int64(RON)):
        return np.int64(RON)
    if not is_legal(t, np.int64(PASS)):
        return choose_on_turn(t, context)
    fill_context(t, context)
    return choose_call(t, context)


@kernel(DECIDE)
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write the action for each of the first `n` views of `raw` to `actions`."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    for k in range(n):
        actions[k] = choose(views[k], contexts[0])  # indexed each time: a record does not keep its array alive


@kernel(ACTION_VALUES)
def action_values(raw: np.ndarray, n: int, values: np.ndarray) -> None:
    """Write the values of the actions that `choose` considers; where that is only one, its value is 0."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    for k in range(n):
        chosen = choose(views[k], contexts[0])
        values[k] = contexts[0].ev
        if values[k, chosen] == -np.inf:
            values[k, chosen] = 0.0
