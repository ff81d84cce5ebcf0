"""One decision of the rule bot."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.calls import choose_call, choose_kan
from agents.bots.rule.discard import best_discard, best_riichi, read
from agents.bots.rule.mind import MIND
from agents.compiled.menu import discard_action, may
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.shanten import shanten, thirteen_orphans_shanten
from engine.table import RIICHI_DISCARD, TABLE
from engine.tiles import NORTH, TERMINALS_HONOURS

MIND_SIZE = MIND.itemsize
KINDS_FOR_KOKUSHI = 10  # with so many kinds of terminals and honours a hand is played, not dealt anew
NEAR_ENOUGH = 2  # the same for a hand of this shanten


@inner
def deal_anew(p: np.record) -> bool:
    """Whether to abort the round with nine kinds of terminals and honours."""
    kinds = np.int64(0)
    for kind in TERMINALS_HONOURS:
        kinds += p.hand[kind] > 0
    return kinds < KINDS_FOR_KOKUSHI and shanten(p.hand_keys, np.int64(p.n_melds)) > NEAR_ENOUGH


@inner
def north_for_kokushi(p: np.record) -> bool:
    """Whether the only north belongs to a kokushi that is the nearest hand."""
    if p.n_melds > 0 or p.hand[NORTH] > 1:
        return False
    orphans = thirteen_orphans_shanten(p.hand_keys)
    return orphans <= 2 and orphans == shanten(p.hand_keys, np.int64(0))


@inner
def choose_on_turn(t: np.record, mind: np.record) -> int:
    """The action of a seat that has drawn or ponned."""
    p = t.seat[t.viewer]
    if may(t, np.int64(NUKIDORA)) and not north_for_kokushi(p):
        return np.int64(NUKIDORA)
    if may(t, np.int64(KYUSHU_KYUHAI)) and deal_anew(p):
        return np.int64(KYUSHU_KYUHAI)
    if p.riichi:
        kan = choose_kan(t, np.int64(0))
        return kan if kan >= 0 else np.int64(TSUMOGIRI)
    read(t, mind)
    if t.phase == RIICHI_DISCARD:
        return discard_action(t, best_riichi(t, mind).kind)
    kan = choose_kan(t, mind.level)
    if kan >= 0:
        return kan
    declared = -np.inf
    if may(t, np.int64(RIICHI)):
        declared = best_riichi(t, mind).worth
    quiet = best_discard(t, mind)  # after the riichi: both put down what each discard is worth
    mind.worth[RIICHI] = declared
    return np.int64(RIICHI) if declared > quiet.worth else discard_action(t, quiet.kind)


@inner
def choose(t: np.record, mind: np.record) -> int:
    """The action for one view, and in `mind.worth` what the weighed ones promise. A win is always taken."""
    mind.worth[:] = -np.inf
    if may(t, np.int64(TSUMO)):
        return np.int64(TSUMO)
    if may(t, np.int64(RON)):
        return np.int64(RON)
    if not may(t, np.int64(PASS)):
        return choose_on_turn(t, mind)
    read(t, mind)
    return choose_call(t, mind)


@kernel
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """See `agents.base.Decide`."""
    views = raw.view(TABLE)
    minds = np.zeros(MIND_SIZE, dtype=np.uint8).view(MIND)
    for k in range(n):
        actions[k] = choose(views[k], minds[0])  # taken anew each time: a record does not keep its array alive


@kernel
def weigh(raw: np.ndarray, n: int, worths: np.ndarray) -> None:
    """See `agents.base.Weigh`. Where only one action was thought of, it has 0."""
    views = raw.view(TABLE)
    minds = np.zeros(MIND_SIZE, dtype=np.uint8).view(MIND)
    for k in range(n):
        chosen = choose(views[k], minds[0])
        worths[k] = minds[0].worth
        if worths[k, chosen] == -np.inf:
            worths[k, chosen] = 0.0
