"""Who threatens the viewer, how much a deal-in would cost, and what each discard risks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.rule.placement import after_ron, after_tsumo, unchanged, winning_points
from agents.rule.safety import deal_in_rates, safe_kinds
from engine.compiling import inner
from engine.table import ANKAN_MELD, PON_MELD
from engine.tiles import DORA_OF, HAKU, N_KINDS, NORTH, SANMA_KINDS
from engine.table import DORA_AT

# Chance of an open hand to be tenpai, by its melds (0-4) and by thirds of the round (early, middle, late).
OPEN_TENPAI = np.array(
    [[0.01, 0.03, 0.06], [0.06, 0.18, 0.35], [0.20, 0.40, 0.60], [0.50, 0.70, 0.85], [0.95, 0.95, 0.95]]
)
RIICHI_HAN = 2.9  # riichi, ippatsu, ura, and the yaku an average riichi has
OPEN_HAN = 1.3
DORA_KEPT = 1.2  # players keep doras more than other tiles
THREAT_COUNTS = 0.45  # from this chance on a seat counts as threatening the speed of the round
TSUMO_SHARE = 0.35


class Danger(NamedTuple):
    """What the others may do to the viewer, in places."""

    risk: np.ndarray  # float64[34]: what discarding each kind costs on average
    chance: np.ndarray  # float64[34]: that it deals in at all
    otherwise: float  # the viewer's standing if it neither wins nor deals in
    usual: float  # risk of a discard at random
    level: int  # number of threatening seats


@inner
def dora_counts(t: np.record) -> np.ndarray:
    """int64[34]: how many doras a tile of each kind is, by the indicators shown."""
    counts = np.zeros(N_KINDS, dtype=np.int64)
    for i in range(t.n_indicators):
        kind = np.int64(t.wall[DORA_AT + i])
        kind = kind if kind < N_KINDS else np.int64(13 if kind == 35 else 22)
        counts[DORA_OF[kind]] += 1
    return counts


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
def visible_han(t: np.record, seat: int, dora: np.ndarray) -> float:
    """Han `seat` is seen to have: norths, doras and reds in melds, value triplets."""
    p = t.seat[seat]
    han = np.int64(p.nukidora) * (1 + dora[NORTH])
    seat_wind = 27 + (seat - np.int64(t.dealer) + 3) % 3
    for m in range(p.n_melds):
        kind = np.int64(p.meld_kind[m])
        tiles = 3 if p.meld_type[m] == PON_MELD else 4
        han += tiles * dora[kind] + np.int64(p.meld_red[m])
        if p.meld_type[m] != ANKAN_MELD or kind >= HAKU:
            han += (kind >= HAKU) + (kind == seat_wind) + (kind == 27 + np.int64(t.round_wind))
    return float(han)


@inner
def hidden_dora_share(unseen: np.ndarray, dora: np.ndarray) -> float:
    """Doras an unseen tile is on average; the reds count as two more among all."""
    tiles = doras = 0.0
    for kind in SANMA_KINDS:
        tiles += unseen[kind]
        doras += unseen[kind] * dora[kind]
    return (doras + 1.0) / max(tiles, 1.0)


@inner
def read_danger(t: np.record, unseen: np.ndarray, dora: np.ndarray) -> Danger:
    """Read the two others. `unseen` float64[34] counts the tiles the viewer does not see, `dora` is `dora_counts`."""
    viewer = np.int64(t.viewer)
    risk, chance, rates = np.zeros(N_KINDS), np.zeros(N_KINDS), np.empty(N_KINDS)
    safe = safe_kinds(t)
    untouched = unchanged(t)
    otherwise = untouched
    share = hidden_dora_share(unseen, dora)
    level = np.int64(0)
    for step in range(1, 3):
        seat = (viewer + step) % 3
        p = t.seat[seat]
        tenpai = tenpai_chance(t, seat)
        han = RIICHI_HAN if tenpai == 1.0 and p.open == 0 else OPEN_HAN
        han += visible_han(t, seat, dora) + DORA_KEPT * share * (13 - 3 * np.int64(p.n_melds))
        points = winning_points(t, seat, han)
        loss = untouched - after_ron(t, seat, viewer, points)
        richer = untouched - after_ron(t, seat, viewer, winning_points(t, seat, han + 1.0)) - loss
        otherwise += TSUMO_SHARE * tenpai * (after_tsumo(t, seat, points) - untouched)
        level += 1 if tenpai >= THREAT_COUNTS else 0
        deal_in_rates(unseen, safe[seat], rates)
        for kind in SANMA_KINDS:
            chance[kind] += tenpai * rates[kind]
            risk[kind] += tenpai * rates[kind] * (loss + richer * min(dora[kind], 2))
    tiles = usual = 0.0
    for kind in SANMA_KINDS:
        tiles += unseen[kind]
        usual += unseen[kind] * risk[kind]
    return Danger(risk, chance, otherwise, usual / max(tiles, 1.0), level)
