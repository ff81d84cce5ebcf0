"""Who threatens the viewer, how much a deal-in would cost, and what each discard risks."""

from __future__ import annotations

import numpy as np

from agents.bots.rule.placement import after_losing, after_ron, after_tsumo, winning_points
from agents.bots.rule.safety import deal_in_rates, safe_kinds
from engine.compiling import inner
from engine.table import ANKAN_MELD, DORA_AT, PON_MELD, seat_wind
from engine.tiles import DORA_OF, EAST, HAKU, KIND_OF, NORTH, SANMA_KINDS

# Chance of an open hand to be tenpai, by its melds (0-4) and by thirds of the round (early, middle, late).
OPEN_TENPAI = np.array(
    [[0.01, 0.03, 0.06], [0.06, 0.18, 0.35], [0.20, 0.40, 0.60], [0.50, 0.70, 0.85], [0.95, 0.95, 0.95]]
)
RIICHI_HAN = 2.9  # riichi, ippatsu, ura, and the yaku an average riichi has
OPEN_HAN = 1.3
DORA_KEPT = 1.2  # players keep doras more than other tiles
THREAT_COUNTS = 0.45  # from this chance on a seat counts as threatening the speed of the round
TSUMO_SHARE = 0.35


@inner
def count_dora(t: np.record, mind: np.record) -> None:
    """Fill in how many doras a tile of each kind is, by the indicators shown."""
    mind.dora[:] = 0
    for i in range(t.n_indicators):
        mind.dora[DORA_OF[KIND_OF[t.wall[DORA_AT + i]]]] += 1


@inner
def tenpai_chance(t: np.record, seat: int) -> float:
    """Chance that `seat` waits for a tile."""
    p = t.seat[seat]
    if p.riichi or (t.riichi_pending and t.turn == seat):
        return 1.0
    third = 0 if t.live_left > 36 else 1 if t.live_left > 18 else 2
    n_melds = np.int64(p.n_melds) if p.open else np.int64(0)
    return OPEN_TENPAI[n_melds, third]


@inner
def visible_han(t: np.record, seat: int, mind: np.record) -> float:
    """Han `seat` is seen to have: norths, doras and reds in melds, value triplets."""
    p = t.seat[seat]
    han = np.int64(p.nukidora) * (1 + mind.dora[NORTH])
    own_wind = EAST + seat_wind(t, seat)
    for m in range(p.n_melds):
        kind = np.int64(p.meld_kind[m])
        tiles = 3 if p.meld_type[m] == PON_MELD else 4
        han += tiles * mind.dora[kind] + np.int64(p.meld_red[m])
        if p.meld_type[m] != ANKAN_MELD or kind >= HAKU:
            han += (kind >= HAKU) + (kind == own_wind) + (kind == EAST + np.int64(t.round_wind))
    return float(han)


@inner
def hidden_dora_share(mind: np.record) -> float:
    """Doras an unseen tile is on average; the reds count as one more among all."""
    tiles = doras = 0.0
    for kind in SANMA_KINDS:
        tiles += mind.unseen[kind]
        doras += mind.unseen[kind] * mind.dora[kind]
    return (doras + 1.0) / max(tiles, 1.0)


@inner
def add_threat(t: np.record, seat: int, safe: np.uint64, untouched: float, mind: np.record) -> None:
    """Add to `mind` what `seat`, against whom the kinds `safe` are safe, may do to the viewer."""
    viewer = np.int64(t.viewer)
    p = t.seat[seat]
    tenpai = tenpai_chance(t, seat)
    han = RIICHI_HAN if tenpai == 1.0 and p.open == 0 else OPEN_HAN
    han += visible_han(t, seat, mind) + DORA_KEPT * hidden_dora_share(mind) * (13 - 3 * np.int64(p.n_melds))
    points = winning_points(t, seat, han)
    loss = untouched - after_ron(t, seat, viewer, points)
    for_dora = untouched - after_ron(t, seat, viewer, winning_points(t, seat, han + 1.0)) - loss
    mind.otherwise += TSUMO_SHARE * tenpai * (after_tsumo(t, seat, points) - untouched)
    mind.level += 1 if tenpai >= THREAT_COUNTS else 0
    rates = mind.waits
    deal_in_rates(mind.unseen, safe, rates)
    for kind in SANMA_KINDS:
        mind.deal_in[kind] += tenpai * rates[kind]
        mind.risk[kind] += tenpai * rates[kind] * (loss + for_dora * min(mind.dora[kind], np.int64(2)))


@inner
def read_danger(t: np.record, mind: np.record) -> None:
    """Read the two others into `mind`; its unseen tiles and doras are there already."""
    viewer = np.int64(t.viewer)
    safe = safe_kinds(t)
    untouched = after_losing(t, 0.0)
    mind.risk[:] = 0.0
    mind.deal_in[:] = 0.0
    mind.otherwise = untouched
    mind.level = 0
    for step in range(1, 3):
        seat = (viewer + step) % 3
        add_threat(t, seat, safe[seat], untouched, mind)
    tiles = usual = 0.0
    for kind in SANMA_KINDS:
        tiles += mind.unseen[kind]
        usual += mind.unseen[kind] * mind.risk[kind]
    mind.usual_risk = usual / max(tiles, 1.0)
