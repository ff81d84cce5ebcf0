"""Which opponents threaten the viewer, and what each discard risks."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.placement import expected_ron_points, value_after_loss, value_after_ron, value_after_tsumo
from agents.bots.rule.safety import fill_deal_in_rates, safe_kinds
from agents.bots.rule.value import value_han
from engine.compiling import inner
from engine.table import ANKAN_MELD, PON_MELD
from engine.tiles import HAKU, NORTH, SANMA_KINDS

# Chance that an open hand is tenpai, by its melds (0-4) and by thirds of the round (early, middle, late).
OPEN_TENPAI_CHANCE = np.array(
    [[0.01, 0.03, 0.06], [0.06, 0.18, 0.35], [0.20, 0.40, 0.60], [0.50, 0.70, 0.85], [0.95, 0.95, 0.95]]
)
# Han of an opponent's hand beyond its dora and the value triplets it shows.
THREAT_RIICHI_HAN = 2.9  # riichi, ippatsu, ura dora, and the yaku of an average riichi
THREAT_OPEN_HAN = 1.3
DORA_KEPT = 1.2  # players keep dora longer than other tiles, by this factor
THREAT_CHANCE = 0.45  # an opponent counts towards the threat level from this chance of tenpai on
THREAT_TSUMO_CHANCE = 0.35  # chance that a tenpai opponent wins by tsumo


@inner
def tenpai_chance(t: np.record, seat: int) -> float:
    """Chance that `seat` is tenpai."""
    p = t.seat[seat]
    if p.riichi or (t.riichi_pending and t.turn == seat):
        return 1.0
    third = 0 if t.live_left > 36 else 1 if t.live_left > 18 else 2
    n_melds = np.int64(p.n_melds) if p.open else np.int64(0)
    return OPEN_TENPAI_CHANCE[n_melds, third]


@inner
def visible_han(t: np.record, seat: int, context: np.record) -> float:
    """Han `seat` shows: nukidora, dora and red fives in melds, value triplets."""
    p = t.seat[seat]
    han = np.int64(p.nukidora) * (1 + context.dora[NORTH])
    for m in range(p.n_melds):
        kind = np.int64(p.meld_kind[m])
        tiles = 3 if p.meld_type[m] == PON_MELD else 4
        han += tiles * context.dora[kind] + np.int64(p.meld_red[m])
        if p.meld_type[m] != ANKAN_MELD or kind >= HAKU:
            han += value_han(t, seat, kind)
    return float(han)


@inner
def hidden_dora_rate(context: np.record) -> float:
    """Average number of dora an unseen tile counts; the red fives count as one more among all."""
    tiles = dora = 0.0
    for kind in SANMA_KINDS:
        tiles += context.unseen[kind]
        dora += context.unseen[kind] * context.dora[kind]
    return (dora + 1.0) / max(tiles, 1.0)


@inner
def add_threat(t: np.record, seat: int, safe: np.uint64, unchanged: float, context: np.record) -> None:
    """Add the threat of `seat` to `context`.

    `safe` is the bit mask of kinds safe against it; `unchanged` is the placement value if the scores stay the same.
    """
    viewer = np.int64(t.viewer)
    p = t.seat[seat]
    tenpai = tenpai_chance(t, seat)
    han = THREAT_RIICHI_HAN if tenpai == 1.0 and p.open == 0 else THREAT_OPEN_HAN
    han += visible_han(t, seat, context) + DORA_KEPT * hidden_dora_rate(context) * (13 - 3 * np.int64(p.n_melds))
    points = expected_ron_points(t, seat, han)
    loss = unchanged - value_after_ron(t, seat, viewer, points)
    dora_loss = unchanged - value_after_ron(t, seat, viewer, expected_ron_points(t, seat, han + 1.0)) - loss
    context.no_win_value += THREAT_TSUMO_CHANCE * tenpai * (value_after_tsumo(t, seat, points) - unchanged)
    context.threat_level += 1 if tenpai >= THREAT_CHANCE else 0
    rates = context.rates
    fill_deal_in_rates(context.unseen, safe, rates)
    for kind in SANMA_KINDS:
        context.deal_in[kind] += tenpai * rates[kind]
        context.risk[kind] += tenpai * rates[kind] * (loss + dora_loss * min(context.dora[kind], np.int64(2)))


@inner
def fill_threats(t: np.record, context: np.record) -> None:
    """Fill in what both opponents threaten; `context.unseen` and `context.dora` must be filled in already."""
    viewer = np.int64(t.viewer)
    safe = safe_kinds(t)
    unchanged = value_after_loss(t, 0.0)
    context.risk[:] = 0.0
    context.deal_in[:] = 0.0
    context.no_win_value = unchanged
    context.threat_level = 0
    for step in range(1, 3):
        seat = (viewer + step) % 3
        add_threat(t, seat, safe[seat], unchanged, context)
    tiles = risk = 0.0
    for kind in SANMA_KINDS:
        tiles += context.unseen[kind]
        risk += context.unseen[kind] * context.risk[kind]
    context.mean_risk = risk / max(tiles, 1.0)
