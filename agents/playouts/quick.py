"""The playout policy `quick`: efficiency with dora and value pons, and folding; more than twice as fast as `linear`.

A discard keeps the lowest shanten, by ukeire and dora. When an opponent threatens, what the hand is still worth is
weighed against the chance that the discard deals in. The constants are guesses that were not tuned.
"""

from __future__ import annotations

import numpy as np

from agents.base import DECIDE, compiled_factory
from agents.bots.efficiency import DISCARD_PRIORITY
from agents.bots.rule.bot import declares_kyushu_kyuhai
from agents.bots.rule.threat import THREAT_CHANCE, tenpai_chance
from agents.bots.rule.value import value_han, value_triplet_han
from agents.compiled.dora import fill_dora
from agents.compiled.kan import ankan_keeping_shanten
from agents.compiled.menu import can_discard, discard_action, is_legal
from agents.compiled.unseen import count_unseen, unseen
from agents.linear.context import CONTEXT, CONTEXT_SIZE, fill_danger
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, PASS, PON, PON_RED, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.hand import has_kind, in_river, move, reds_held
from engine.shanten import discards_keeping_shanten, shanten, ukeire_kinds
from engine.table import TABLE
from engine.tiles import KIND_OF, N_KINDS, SANMA_KINDS

# What a hand is worth by its shanten, with no ukeire: 1,000 is what dealing in costs.
WORTH = np.array([180.0, 72.0, 24.0, 9.0, 3.0, 1.2, 0.6])
PER_TILE, MOST_TILES = 1 / 6, 24  # what each useful tile adds to it, as a factor, and how many count
FURITEN = 0.4  # factor
SHORT = 24  # with fewer draws left, a hand that is not tenpai is worth proportionally less
PER_DORA, PER_PRIORITY = 0.2, 1 / 30  # what a discarded dora costs and DISCARD_PRIORITY counts, as parts of WORTH
FAR = -1e6  # rating of a discard that raises the shanten while nobody threatens


@inner
def worth(t: np.record, distance: int) -> float:
    """What the hand of the viewer is worth, of 13 - 3m tiles and shanten `distance`."""
    p = t.seat[t.viewer]
    useful = np.uint64(ukeire_kinds(p.hand, p.hand_keys, np.int64(p.n_melds)))
    value = WORTH[distance] * (1.0 + PER_TILE * min(count_unseen(t, useful), np.int64(MOST_TILES)))
    if distance > 0:
        return value * min(1.0, np.int64(t.live_left) / SHORT)
    return value * FURITEN if in_river(p, useful) else value


@inner
def choose_discard(t: np.record, context: np.record) -> int:
    """The discard of the viewer; the threats of `context` are filled in."""
    p = t.seat[t.viewer]
    keeping = np.uint64(discards_keeping_shanten(p.hand, p.hand_keys, np.int64(p.n_melds)))
    distance = max(shanten(p.hand_keys, np.int64(p.n_melds)), np.int64(0))
    dora = np.empty(N_KINDS, dtype=np.int64)
    fill_dora(t, dora)
    best, best_rating = np.int64(-1), -np.inf
    for kind in SANMA_KINDS:
        if p.hand[kind] == 0 or not can_discard(t, kind):
            continue
        rating = -context.danger[kind]
        if has_kind(keeping, kind):
            red = np.int64(reds_held(p, kind) == np.int64(p.hand[kind]))
            move(p, kind, np.int64(-1))
            rating += worth(t, distance)
            move(p, kind, np.int64(1))
            rating += WORTH[distance] * (PER_PRIORITY * DISCARD_PRIORITY[kind] - PER_DORA * (dora[kind] + red))
        elif context.threats == 0:
            rating = FAR + DISCARD_PRIORITY[kind]
        if rating > best_rating:
            best, best_rating = np.int64(kind), rating
    return discard_action(t, best)


@inner
def choose_on_turn(t: np.record, context: np.record) -> int:
    """The action of a seat that has drawn or ponned."""
    p = t.seat[t.viewer]
    if is_legal(t, np.int64(NUKIDORA)):
        return np.int64(NUKIDORA)
    if is_legal(t, np.int64(KYUSHU_KYUHAI)) and declares_kyushu_kyuhai(p):
        return np.int64(KYUSHU_KYUHAI)
    if p.riichi:
        return np.int64(TSUMOGIRI)
    if is_legal(t, np.int64(RIICHI)):
        return np.int64(RIICHI)
    for kind in SANMA_KINDS:
        context.unseen[kind] = unseen(t, kind)
    fill_danger(t, context)
    if context.threats == 0:
        kan = ankan_keeping_shanten(t)
        if kan >= 0:
            return kan
    return choose_discard(t, context)


@inner
def choose_call(t: np.record) -> int:
    """Pon, with the red five where there is one, if it lowers the shanten and the hand has a value triplet; or pass."""
    red = is_legal(t, np.int64(PON_RED))
    if not red and not is_legal(t, np.int64(PON)):
        return np.int64(PASS)
    p = t.seat[t.viewer]
    kind, n_melds = KIND_OF[t.offer], np.int64(p.n_melds)
    before = shanten(p.hand_keys, n_melds)
    if before == 0 or value_han(t, np.int64(t.viewer), kind) + value_triplet_han(t, p) == 0:
        return np.int64(PASS)
    for step in range(1, 3):
        if before > 1 and tenpai_chance(t, (np.int64(t.viewer) + step) % 3) >= THREAT_CHANCE:
            return np.int64(PASS)
    move(p, kind, np.int64(-2))
    after = shanten(p.hand_keys, n_melds + 1)
    move(p, kind, np.int64(2))
    if after >= before:
        return np.int64(PASS)
    return np.int64(PON_RED) if red else np.int64(PON)


@inner
def choose(t: np.record, context: np.record) -> int:
    """The action of the viewer; `context` is scratch. A win is always taken."""
    if is_legal(t, np.int64(TSUMO)):
        return np.int64(TSUMO)
    if is_legal(t, np.int64(RON)):
        return np.int64(RON)
    return choose_call(t) if is_legal(t, np.int64(PASS)) else choose_on_turn(t, context)


@kernel(DECIDE)
def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
    """Write the action for each of the first `n` views of `raw` to `actions`."""
    views = raw.view(TABLE)
    contexts = np.zeros(CONTEXT_SIZE, dtype=np.uint8).view(CONTEXT)
    for k in range(n):
        actions[k] = choose(views[k], contexts[0])


make = compiled_factory("quick", decide)  # not registered: weaker than `linear`, which is fast enough for play
