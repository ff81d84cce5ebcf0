"""The yaku of a hand, as sets of yaku: integers with a bit for each number of `engine/scoring/yaku.py`.

Masks of kinds and run words are those of `engine/scoring/decompose.py`. The functions ignore whether the hand is open:
`allowed` removes the yaku that need a concealed hand.
"""

from __future__ import annotations

import numpy as np

from engine import tiles
from engine.compiling import inner
from engine.scoring import yaku as y
from engine.scoring.decompose import (
    DRAGONS_MASK,
    EACH_RUN,
    HONOURS_MASK,
    MAN_MASK,
    PIN_MASK,
    RANKS,
    SOU_MASK,
    SOU_RUNS_SHIFT,
    Concealed,
    popcount,
)

WINDS_MASK = 0b1111 << tiles.EAST
GREEN_MASK = sum(1 << tiles.SOU + rank for rank in (1, 2, 3, 5, 7)) | 1 << tiles.HATSU
NINE_GATES_ENDS = 0b100000001

PIN_RUNS = 0xFFFFFFF
OUTSIDE_RUNS = 0xF00000F | 0xF00000F << SOU_RUNS_SHIFT  # 123 and 789
STRAIGHT_RUNS = 0x1001001  # 123, 456 and 789

ALL_YAKU = sum(1 << yaku.number for yaku in y.YAKU)
OPEN_YAKU = sum(1 << yaku.number for yaku in y.YAKU if yaku.open)
YAKUMAN = sum(1 << yaku.number for yaku in y.YAKU if yaku.closed >= y.YAKUMAN_HAN)
DOUBLE_YAKUMAN = sum(1 << yaku.number for yaku in y.YAKU if yaku.closed > y.YAKUMAN_HAN)


def _situation_yaku() -> np.ndarray:
    """Yaku of each situation, int64[2, 256]: [1] for the dealer."""
    table = np.zeros((2, 256), dtype=np.int64)
    for situation in range(256):
        tsumo = bool(situation & y.BY_TSUMO)
        in_double_riichi = bool(situation & y.IN_DOUBLE_RIICHI)
        holds = {
            y.MENZEN_TSUMO: tsumo,
            y.RIICHI: bool(situation & y.IN_RIICHI) and not in_double_riichi,
            y.DOUBLE_RIICHI: in_double_riichi,
            y.IPPATSU: bool(situation & y.WITH_IPPATSU),
            y.HAITEI: bool(situation & y.LAST_TILE) and tsumo,
            y.HOUTEI: bool(situation & y.LAST_TILE) and not tsumo,
            y.RINSHAN: bool(situation & y.AFTER_REPLACEMENT) and tsumo,
            y.CHANKAN: bool(situation & y.ROBBING_KAN) and not tsumo,
        }
        first_turn = bool(situation & y.FIRST_TURN) and tsumo
        for dealer, blessing in enumerate((y.CHIIHOU, y.TENHOU)):
            holds_here = holds | {blessing: first_turn}
            table[dealer, situation] = sum(1 << number for number, held in holds_here.items() if held)
    return table


SITUATION_YAKU = _situation_yaku()


@inner
def allowed(yaku: int, concealed: bool) -> int:
    """`yaku` without those that an open hand may not have; if there is a yakuman, only the yakuman."""
    yaku &= ALL_YAKU if concealed else OPEN_YAKU
    return yaku & YAKUMAN if yaku & YAKUMAN else yaku


@inner
def tile_yaku(present: int) -> int:
    """Yaku that depend only on the kinds in the hand and its melds (mask `present`), for all forms but kokushi."""
    n_suits = np.int64(present & MAN_MASK != 0) + np.int64(present & PIN_MASK != 0) + np.int64(present & SOU_MASK != 0)
    outside = present & tiles.TERMINALS_HONOURS_MASK
    yaku = np.int64(0)
    if outside == 0:
        yaku |= 1 << y.TANYAO
    elif outside == present:
        yaku |= 1 << y.HONROUTOU
        if present & HONOURS_MASK == 0:
            yaku |= 1 << y.CHINROUTOU
    if n_suits == 0:
        yaku |= 1 << y.TSUUIISOU
    elif n_suits == 1:
        yaku |= 1 << (y.HONITSU if present & HONOURS_MASK else y.CHINITSU)
    if present & ~GREEN_MASK == 0:
        yaku |= 1 << y.RYUUIISOU
    return yaku


@inner
def honour_yaku(triplets: int, pair: int, seat_wind: int, round_wind: int) -> int:
    """Yaku of the honour triplets and kans (mask `triplets`, other kinds ignored) and the pair (a mask of one kind)."""
    yaku = (triplets & DRAGONS_MASK) >> tiles.HAKU << y.HAKU
    yaku |= (triplets >> tiles.EAST + seat_wind & 1) << y.SEAT_WIND
    yaku |= (triplets >> tiles.EAST + round_wind & 1) << y.ROUND_WIND
    n_dragons, n_winds = popcount(triplets & DRAGONS_MASK), popcount(triplets & WINDS_MASK)
    if n_dragons == 3:
        yaku |= 1 << y.DAISANGEN
    elif n_dragons == 2 and pair & DRAGONS_MASK:
        yaku |= 1 << y.SHOUSANGEN
    if n_winds == 4:
        yaku |= 1 << y.DAISUUSHII
    elif n_winds == 3 and pair & WINDS_MASK:
        yaku |= 1 << y.SHOUSUUSHII
    return yaku


@inner
def run_yaku(runs: int, outside: bool, has_honours: bool) -> int:
    """Yaku of the run word `runs`; `outside`: pair and triplets are all terminals and honours."""
    if runs == 0:
        return 1 << y.TOITOI
    yaku = np.int64(0)
    if outside and runs & ~OUTSIDE_RUNS == 0:
        yaku |= 1 << (y.CHANTA if has_honours else y.JUNCHAN)
    twice, four_times = runs >> 1 & EACH_RUN, runs >> 2 & EACH_RUN
    if twice | four_times:
        n_equal_pairs = popcount(twice) + 2 * popcount(four_times)
        yaku |= 1 << (y.IIPEIKOU if n_equal_pairs == 1 else y.RYANPEIKOU)
    kinds_of_runs = (runs | runs >> 1 | runs >> 2) & EACH_RUN
    for straight in (kinds_of_runs & PIN_RUNS, kinds_of_runs >> SOU_RUNS_SHIFT):
        if straight & STRAIGHT_RUNS == STRAIGHT_RUNS:
            yaku |= 1 << y.ITTSU
    return yaku


@inner
def triplet_yaku(triplets: int, n_kans: int) -> int:
    """Yaku of all triplets and kans (mask `triplets`), open or concealed."""
    yaku = np.int64(0)
    if triplets & triplets >> tiles.PIN & triplets >> tiles.SOU & RANKS:
        yaku |= 1 << y.SANSHOKU_DOUKOU
    if n_kans == 3:
        yaku |= 1 << y.SANKANTSU
    elif n_kans == 4:
        yaku |= 1 << y.SUUKANTSU
    return yaku


@inner
def concealed_triplet_yaku(n_concealed: int, pair_wait: bool) -> int:
    """Yaku of the number of concealed triplets and kans; `pair_wait`: the winning tile completes the pair."""
    if n_concealed == 4:
        return 1 << (y.SUUANKOU_TANKI if pair_wait else y.SUUANKOU)
    return np.int64(n_concealed == 3) << y.SANANKOU


@inner
def nine_gates(held: Concealed, n_won_kind: int) -> int:
    """Chuuren poutou of fourteen concealed tiles; `n_won_kind`: copies of the winning kind among them."""
    for first in (tiles.PIN, tiles.SOU):
        ends = held.tripled >> first & NINE_GATES_ENDS
        if held.present >> first == RANKS and held.present & ~(RANKS << first) == 0 and ends == NINE_GATES_ENDS:
            # Without the winning tile a pure hand is 1112345678999: the winning tile is then a second or a fourth copy.
            return 1 << (y.PURE_CHUUREN if n_won_kind % 2 == 0 else y.CHUUREN)
    return np.int64(0)
