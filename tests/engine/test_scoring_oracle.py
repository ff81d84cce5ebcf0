"""Random winning hands of all forms, scored by this engine and by the package ``mahjong``."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.hand_calculating.yaku_config import YakuConfig
from mahjong.meld import Meld

from engine.scoring import yaku as y
from engine.scoring.batch import HAND, score_batch
from engine.scoring.points import payments
from engine.table import ANKAN_MELD, DAIMINKAN_MELD, KAKAN_MELD, PON_MELD, WIN
from engine.tiles import EAST, HATSU, HONOUR, NORTH, PIN, SANMA_KINDS, SOU, TERMINALS_HONOURS, from_tile136

KINDS = [int(kind) for kind in SANMA_KINDS]
OUTSIDE = [int(kind) for kind in TERMINALS_HONOURS]
HONOURS = list(range(HONOUR, HONOUR + 7))
SUITS = [list(range(first, first + 9)) for first in (PIN, SOU)]
GREENS = [SOU + 1, SOU + 2, SOU + 3, SOU + 5, SOU + 7, HATSU]
RED_FIVES = (52, 88)
MELDS = (PON_MELD, DAIMINKAN_MELD, ANKAN_MELD, KAKAN_MELD)
BATCH = 10_000

# number of the yaku in `mahjong` -> ours; it has no nukidora, which count among its dora
OUR_NUMBER = {
    0: y.MENZEN_TSUMO, 1: y.RIICHI, 3: y.IPPATSU, 4: y.CHANKAN, 5: y.RINSHAN, 6: y.HAITEI, 7: y.HOUTEI,
    8: y.DOUBLE_RIICHI, 12: y.PINFU, 13: y.TANYAO, 14: y.IIPEIKOU, 15: y.HAKU, 16: y.HATSU, 17: y.CHUN,
    18: y.SEAT_WIND, 19: y.SEAT_WIND, 20: y.SEAT_WIND, 22: y.ROUND_WIND, 23: y.ROUND_WIND, 24: y.ROUND_WIND,
    26: y.SANSHOKU, 27: y.ITTSU, 28: y.CHANTA, 29: y.HONROUTOU, 30: y.TOITOI, 31: y.SANANKOU, 32: y.SANKANTSU,
    33: y.SANSHOKU_DOUKOU, 34: y.CHIITOI, 35: y.SHOUSANGEN, 36: y.HONITSU, 37: y.JUNCHAN, 38: y.RYANPEIKOU,
    39: y.CHINITSU, 100: y.KOKUSHI, 101: y.CHUUREN, 102: y.SUUANKOU, 103: y.DAISANGEN, 104: y.SHOUSUUSHII,
    105: y.RYUUIISOU, 106: y.SUUKANTSU, 107: y.TSUUIISOU, 108: y.CHINROUTOU, 111: y.DAISUUSHII, 112: y.KOKUSHI_13,
    113: y.SUUANKOU_TANKI, 114: y.PURE_CHUUREN, 115: y.TENHOU, 116: y.CHIIHOU, 120: y.DORA, 121: y.RED_DORA,
    122: y.URA_DORA,
}  # fmt: skip


@dataclass
class Case:
    """One won hand. Tiles are 0-135."""

    concealed: list[int]  # the winning tile included
    melds: list[tuple[int, list[int]]]
    won: int
    situation: int
    seat_wind: int
    round_wind: int
    nuki: int
    dora: list[int]
    ura: list[int] = field(default_factory=list)


def random_sets(rng: random.Random, pool: list[int], n_melds: int) -> tuple[list[int], list[tuple[int, int]]] | None:
    """Concealed kinds and melds (type, kind) of four sets and a pair; None if a kind would occur five times."""
    left = dict.fromkeys(pool, 4)
    starts = [kind for kind in pool if PIN <= kind < HONOUR and kind % 9 < 7 and kind + 1 in left and kind + 2 in left]
    run_share = rng.choice((0.0, 0.6, 1.0)) if starts else 0.0
    concealed: list[int] = []
    melds: list[tuple[int, int]] = []
    for i in range(5):
        if i < n_melds:
            meld_type, kind = rng.choice(MELDS), rng.choice(pool)
            melds.append((meld_type, kind))
            group = [kind] * (3 if meld_type == PON_MELD else 4)
        elif i == 4:
            group = [rng.choice(pool)] * 2
        elif rng.random() < run_share:
            start = rng.choice(starts)
            group = [start, start + 1, start + 2]
        else:
            group = [rng.choice(pool)] * 3
        for kind in group:
            left[kind] -= 1
        if i >= n_melds:
            concealed += group
    return None if min(left.values()) < 0 else (concealed, melds)


def random_shape(rng: random.Random) -> tuple[list[int], list[tuple[int, int]]]:
    """Concealed kinds and melds of a complete hand."""
    suit = rng.choice(SUITS)
    shape = rng.random()
    if shape < 0.08:
        return sorted(rng.sample(rng.choice((KINDS, KINDS, OUTSIDE, HONOURS, suit, suit + HONOURS)), 7) * 2), []
    if shape < 0.10:
        return [*OUTSIDE, rng.choice(OUTSIDE)], []
    if shape < 0.12:
        return [*suit, suit[0], suit[0], suit[8], suit[8], rng.choice(suit)], []
    first = rng.randrange(6)
    narrow = suit[first : first + 4]
    simples = [kind for kind in KINDS if kind not in OUTSIDE]
    ends = [*suit[:3], *suit[6:], 0, 8, HONOUR]
    pools = (
        KINDS, KINDS, suit, suit + HONOURS, simples, OUTSIDE, OUTSIDE[:6], HONOURS, GREENS, narrow,
        narrow + HONOURS[4:], ends,
    )  # fmt: skip
    while True:
        n_melds = rng.choice((0, 0, 0, 1, 2, 3, 4))
        found = random_sets(rng, rng.choice(pools), n_melds)
        if found:
            return found


def random_situation(rng: random.Random, concealed: bool, untouched: bool) -> int:
    """Situation bits that can occur together; `untouched`: no melds and no nukidora."""
    situation = 0
    if concealed and rng.random() < 0.5:
        situation |= rng.choice((y.IN_RIICHI, y.IN_RIICHI, y.IN_DOUBLE_RIICHI))
        if rng.random() < 0.3:
            situation |= y.WITH_IPPATSU
    special = rng.random()
    if rng.random() < 0.5:
        situation |= y.BY_TSUMO
        if special < 0.1:
            situation |= y.LAST_TILE
        elif special < 0.2:
            situation |= y.AFTER_REPLACEMENT
        elif special < 0.23 and untouched:
            situation = y.BY_TSUMO | y.FIRST_TURN
    elif special < 0.1:
        situation |= y.LAST_TILE
    elif special < 0.2:
        situation |= y.ROBBING_KAN
    return situation


def random_case(rng: random.Random) -> Case:
    kinds, shapes = random_shape(rng)
    copies = {kind: rng.sample(range(kind * 4, kind * 4 + 4), 4) for kind in KINDS}
    concealed = [copies[kind].pop() for kind in kinds]
    melds = [(meld, [copies[kind].pop() for _ in range(3 if meld == PON_MELD else 4)]) for meld, kind in shapes]
    nuki = rng.choice((0, 0, 1, 2, 3, 4))
    nuki = min(nuki, len(copies[NORTH]))
    copies[NORTH] = copies[NORTH][nuki:]
    situation = random_situation(rng, all(meld == ANKAN_MELD for meld, _ in melds), not melds and nuki == 0)
    wall = [tile for left in copies.values() for tile in left]
    n = rng.choice((1, 1, 1, 2, 3, 4, 5))
    shown = rng.sample(wall, 2 * n)
    in_riichi = situation & (y.IN_RIICHI | y.IN_DOUBLE_RIICHI)
    return Case(
        concealed, melds, rng.choice(concealed), situation, rng.randrange(3), rng.randrange(3), nuki, shown[:n],
        shown[n:] if in_riichi else [],
    )  # fmt: skip


def packed(cases: list[Case]) -> np.ndarray:
    """The cases as HAND records."""
    hands = np.zeros(len(cases), dtype=HAND)
    for case, hand in zip(cases, hands, strict=True):
        for tile in case.concealed:
            hand.hand[tile // 4] += 1
        hand.n_melds = len(case.melds)
        for i, (meld, tiles) in enumerate(case.melds):
            hand.meld_type[i], hand.meld_kind[i] = meld, tiles[0] // 4
        hand.win_kind, hand.situation = case.won // 4, case.situation
        hand.seat_wind, hand.round_wind, hand.nuki = case.seat_wind, case.round_wind, case.nuki
        hand.red = sum(tile in RED_FIVES for tiles in (case.concealed, *(m[1] for m in case.melds)) for tile in tiles)
        hand.n_dora, hand.n_ura = len(case.dora), len(case.ura)
        hand.dora[: len(case.dora)] = [from_tile136(tile) for tile in case.dora]
        hand.ura[: len(case.ura)] = [from_tile136(tile) for tile in case.ura]
    return hands


Result = tuple[dict[int, int], int, int, tuple[int, int]]  # han of each yaku, han, fu, what the two others pay
NO_YAKU: Result = ({}, 0, 0, (0, 0))


def ours(case: Case, win: Any) -> Result:
    if win.han == 0:
        return NO_YAKU
    found = {int(number): int(win.yaku[number]) for number in np.flatnonzero(win.yaku)}
    if laid := found.pop(y.NUKI_DORA, 0):
        found[y.DORA] = found.get(y.DORA, 0) + laid
    dealer, tsumo = case.seat_wind == 0, bool(case.situation & y.BY_TSUMO)
    return found, int(win.han), int(win.fu), payments(int(win.basic), dealer, tsumo)


class Oracle:
    """The package `mahjong` with Tenhou's three-player rules, or with double yakuman."""

    def __init__(self, double_yakuman: bool) -> None:
        self.options = OptionalRules(
            has_open_tanyao=True,
            has_aka_dora=True,
            has_double_yakuman=double_yakuman,
            limit_to_sextuple_yakuman=False,
            is_three_player=True,
        )
        self.yaku = YakuConfig()

    def score(self, case: Case) -> Result:
        tsumo, dealer = bool(case.situation & y.BY_TSUMO), case.seat_wind == 0
        config = HandConfig(
            is_tsumo=tsumo,
            is_riichi=bool(case.situation & y.IN_RIICHI),
            is_daburu_riichi=bool(case.situation & y.IN_DOUBLE_RIICHI),
            is_ippatsu=bool(case.situation & y.WITH_IPPATSU),
            is_haitei=tsumo and bool(case.situation & y.LAST_TILE),
            is_houtei=not tsumo and bool(case.situation & y.LAST_TILE),
            is_rinshan=bool(case.situation & y.AFTER_REPLACEMENT),
            is_chankan=bool(case.situation & y.ROBBING_KAN),
            is_tenhou=dealer and bool(case.situation & y.FIRST_TURN),
            is_chiihou=not dealer and bool(case.situation & y.FIRST_TURN),
            player_wind=EAST + case.seat_wind,
            round_wind=EAST + case.round_wind,
            options=self.options,
            num_nuki_dora=case.nuki,
        )
        config.yaku = self.yaku  # as it would make anew for each hand
        melds = [
            Meld(Meld.PON if meld == PON_MELD else Meld.KAN, tiles, opened=meld != ANKAN_MELD)
            for meld, tiles in case.melds
        ]
        tiles = [*case.concealed, *(tile for _, meld in case.melds for tile in meld)]
        found = HandCalculator.estimate_hand_value(
            tiles, case.won, melds, case.dora, config, ura_dora_indicators=case.ura
        )
        if found.error == HandCalculator.ERR_NO_YAKU:
            return NO_YAKU
        assert found.error is None, (found.error, case)
        han = {
            OUR_NUMBER[yaku.yaku_id]: yaku.han_open if found.is_open_hand and yaku.han_open else yaku.han_closed
            for yaku in found.yaku
        }
        return han, found.han, found.fu, (found.cost["main"], found.cost["additional"])


@pytest.mark.slow
@pytest.mark.parametrize("double_yakuman", [False, True])
def test_random_hands_score_as_in_mahjong(double_yakuman: bool, n_hands: int) -> None:
    rng = random.Random(20_250_401 + double_yakuman)
    n_hands //= 2  # the other half scores by the other rule
    oracle = Oracle(double_yakuman)
    seen: defaultdict[int, int] = defaultdict(int)
    for start in range(0, n_hands, BATCH):
        cases = [random_case(rng) for _ in range(min(BATCH, n_hands - start))]
        wins = np.zeros(len(cases), dtype=WIN)
        score_batch(packed(cases), double_yakuman, wins)
        for case, win in zip(cases, wins, strict=True):
            mine = ours(case, win)
            assert mine == oracle.score(case), case
            for number in mine[0]:
                seen[number] += 1
    if n_hands >= BATCH:
        impossible = {y.SANSHOKU}  # no man tiles 2-8
        merged = {y.NUKI_DORA}
        assert {yaku.number for yaku in y.YAKU} - seen.keys() == impossible | merged
