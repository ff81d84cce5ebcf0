"""The score of a winning hand: yaku, han and fu of the highest-scoring of all its readings.

A *reading* is a way to split the hand into sets and a pair (or chiitoitsu, or kokushi), and the part of it that the
winning tile completes. Readings are compared by one integer, `rank`: number of yakuman, base points, han and fu, from
the high bits down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiling import inner
from engine.scoring import yaku as y
from engine.scoring.decompose import (
    HONOURS_MASK,
    NO_RUNS_MASK,
    RANKS,
    SOU_RUNS_SHIFT,
    SPREAD,
    Concealed,
    concealed_tiles,
    next_split,
    next_subset,
    popcount,
    possible_pairs,
    runs_of,
)
from engine.scoring.fu import (
    BASE_FU,
    CHIITOI_FU,
    CLOSED_WAITS,
    CONCEALED_RON_FU,
    PINFU_RON_FU,
    PINFU_TSUMO_FU,
    TSUMO_FU,
    TWO_SIDED_WAITS,
    WAIT_FU,
    pair_fu,
    rounded_fu,
    triplets_fu,
)
from engine.scoring.patterns import (
    DOUBLE_YAKUMAN,
    SITUATION_YAKU,
    YAKUMAN,
    allowed,
    concealed_triplet_yaku,
    honour_yaku,
    nine_gates,
    run_yaku,
    tile_yaku,
    triplet_yaku,
)
from engine.scoring.points import basic_points
from engine.table import ANKAN_MELD, PON_MELD
from engine.tiles import DORA_OF, KIND_OF, NORTH, PIN, SOU, TERMINALS_HONOURS_MASK

# Bits of a rank, from the high ones down: number of yakuman, base points, han, fu.
FU_BITS, HAN_BITS, BASIC_BITS = 8, 8, 20
BASIC_SHIFT = HAN_BITS + FU_BITS
YAKUMAN_SHIFT = BASIC_SHIFT + BASIC_BITS


LAST_ORDINARY_YAKU = 30  # greatest number of a yaku that HAN_SUMS adds up
for _yaku in y.YAKU:
    if _yaku.number > LAST_ORDINARY_YAKU and _yaku.closed < y.YAKUMAN_HAN and _yaku.number not in y.BONUS:
        raise ImportError(
            f"yaku {_yaku.number} ({_yaku.name}) is greater than {LAST_ORDINARY_YAKU}, the last one in HAN_SUMS: "
            "renumber it in engine/scoring/yaku.py, or add a part to _han_sums and better of engine/scoring/hand.py"
        )


def _han_sums() -> np.ndarray:
    """Sums of han of the sets of ordinary yaku (1-30), for ten yaku at a time: int64[2, 3, 1024], [1] concealed."""
    sums = np.zeros((2, 3, 1024), dtype=np.int64)
    for concealed, han in enumerate((y.HAN_OPEN, y.HAN_CLOSED)):
        for part in range(3):
            for bits in range(1024):
                sums[concealed, part, bits] = sum(int(han[10 * part + bit + 1]) for bit in range(10) if bits >> bit & 1)
    return sums


HAN_SUMS = _han_sums()


class Melds(NamedTuple):
    """What scoring needs to know about the melds."""

    kinds: int  # mask of kinds
    fu: int
    n_melds: int
    n_kans: int
    n_ankans: int
    concealed: bool  # only ankan, or no melds


class Win(NamedTuple):
    """The circumstances of the win, the same for all readings of the hand."""

    yaku: int  # set of yaku by the situation and by the kinds in the hand
    kind: int  # of the winning tile
    tsumo: bool
    seat_wind: int
    round_wind: int
    bonus_han: int  # dora, red fives, ura dora and nukidora
    double_yakuman: bool


class Best(NamedTuple):
    """The best reading so far."""

    rank: int
    yaku: int


@inner
def melds_of(n_melds: int, meld_type: np.ndarray, meld_kind: np.ndarray) -> Melds:
    """Summary of the melds, given as the fields of SEAT."""
    kinds = fu = n_kans = n_ankans = np.int64(0)
    for i in range(n_melds):
        kind = np.int64(1) << np.int64(meld_kind[i])
        open_fu = triplets_fu(kind) // 2
        kinds |= kind
        if meld_type[i] == PON_MELD:
            fu += open_fu
            continue
        n_kans += 1
        if meld_type[i] == ANKAN_MELD:
            n_ankans += 1
            fu += 8 * open_fu
        else:
            fu += 4 * open_fu
    return Melds(kinds, fu, np.int64(n_melds), n_kans, n_ankans, n_ankans == n_melds)


@inner
def better(best: Best, yaku: int, fu: int, concealed: bool, win: Win) -> Best:
    """The better of `best` and a reading with these `yaku` and `fu`; a reading without yaku does not count."""
    yaku = allowed(yaku, concealed)
    if yaku == 0:
        return best
    yakuman = np.int64(0)
    if yaku & YAKUMAN:
        yakuman = popcount(yaku) + (popcount(yaku & DOUBLE_YAKUMAN) if win.double_yakuman else 0)
        han = y.YAKUMAN_HAN * yakuman
    else:
        sums = HAN_SUMS[np.int64(concealed)]
        han = sums[0, yaku >> 1 & 1023] + sums[1, yaku >> 11 & 1023] + sums[2, yaku >> 21] + win.bonus_han
    basic = basic_points(han, fu, yakuman)
    rank = yakuman << YAKUMAN_SHIFT | basic << BASIC_SHIFT | han << FU_BITS | fu
    return Best(rank, yaku) if rank > best.rank else best


@inner
def best_wait(best: Best, triplets: int, runs: int, pair: int, yaku: int, melds: Melds, win: Win) -> Best:
    """The best of `best` and the readings of one split: the winning tile completes the pair, a triplet or a run."""
    won = np.int64(1) << win.kind
    n_triplets = popcount(triplets)
    n_concealed = n_triplets + melds.n_ankans
    value_pair_fu = pair_fu(pair, win.seat_wind, win.round_wind)
    fu = BASE_FU + melds.fu + triplets_fu(triplets) + value_pair_fu
    if win.tsumo:
        fu += TSUMO_FU
    elif melds.concealed:
        fu += CONCEALED_RON_FU

    if pair == won:
        here = yaku | concealed_triplet_yaku(n_concealed, np.bool_(True))
        best = better(best, here, rounded_fu(fu + WAIT_FU, melds.concealed), melds.concealed, win)
    elif triplets & won:
        taken = np.int64(not win.tsumo)  # a triplet completed by another seat's tile counts as open
        here = yaku | concealed_triplet_yaku(n_concealed - taken, np.bool_(False))
        wait_fu = fu - taken * (triplets_fu(won) // 2)
        best = better(best, here, rounded_fu(wait_fu, melds.concealed), melds.concealed, win)
    yaku |= concealed_triplet_yaku(n_concealed, np.bool_(False))
    if runs & CLOSED_WAITS[win.kind]:
        best = better(best, yaku, rounded_fu(fu + WAIT_FU, melds.concealed), melds.concealed, win)
    if runs & TWO_SIDED_WAITS[win.kind]:
        if n_triplets + melds.n_melds == 0 and value_pair_fu == 0:
            pinfu_fu = PINFU_TSUMO_FU if win.tsumo else PINFU_RON_FU
            best = better(best, yaku | 1 << y.PINFU, pinfu_fu, np.bool_(True), win)
        else:
            best = better(best, yaku, rounded_fu(fu, melds.concealed), melds.concealed, win)
    return best


@inner
def best_split(best: Best, held: Concealed, melds: Melds, win: Win) -> Best:
    """The best of `best` and all readings as four sets and a pair."""
    present = held.present | melds.kinds
    has_honours = present & HONOURS_MASK != 0
    pairs = possible_pairs(held)
    while pairs:
        pair = pairs & -pairs
        pairs ^= pair
        pin = held.pin - 2 * SPREAD[pair >> PIN & RANKS]
        sou = held.sou - 2 * SPREAD[pair >> SOU & RANKS]
        may_be_triplets = held.tripled & ~pair
        alone = may_be_triplets & NO_RUNS_MASK
        pin_choices, sou_choices = may_be_triplets >> PIN & RANKS, may_be_triplets >> SOU & RANKS
        honours = honour_yaku(alone | melds.kinds, pair, win.seat_wind, win.round_wind)
        pin_triplets = next_split(pin, pin_choices, pin_choices)
        while pin_triplets >= 0:
            pin_runs = runs_of(pin - 3 * SPREAD[pin_triplets])
            sou_triplets = next_split(sou, sou_choices, sou_choices)
            while sou_triplets >= 0:
                runs = pin_runs | runs_of(sou - 3 * SPREAD[sou_triplets]) << SOU_RUNS_SHIFT
                triplets = alone | pin_triplets << PIN | sou_triplets << SOU
                outside = (triplets | melds.kinds | pair) & ~TERMINALS_HONOURS_MASK == 0
                yaku = win.yaku | honours | run_yaku(runs, outside, has_honours)
                yaku |= triplet_yaku(triplets | melds.kinds, melds.n_kans)
                best = best_wait(best, triplets, runs, pair, yaku, melds, win)
                sou_triplets = next_split(sou, sou_choices, next_subset(sou_choices, sou_triplets))
            pin_triplets = next_split(pin, pin_choices, next_subset(pin_choices, pin_triplets))
    return best


@inner
def best_special(best: Best, held: Concealed, n_won_kind: int, win: Win) -> Best:
    """The best of `best`, chiitoitsu and kokushi, without melds; `n_won_kind`: copies of the winning kind."""
    if held.present == held.paired and held.tripled == 0 and popcount(held.present) == 7:
        best = better(best, win.yaku | 1 << y.CHIITOI, np.int64(CHIITOI_FU), np.bool_(True), win)
    elif held.present == TERMINALS_HONOURS_MASK and held.tripled == 0 and popcount(held.paired) == 1:
        kokushi = y.KOKUSHI_13 if n_won_kind == 2 else y.KOKUSHI
        best = better(best, win.yaku | 1 << kokushi, np.int64(0), np.bool_(True), win)
    return best


@inner
def score_hand(
    hand: np.ndarray,
    n_melds: int,
    meld_type: np.ndarray,
    meld_kind: np.ndarray,
    win_kind: int,
    situation: int,
    seat_wind: int,
    round_wind: int,
    dora: int,
    red: int,
    ura: int,
    nuki: int,
    double_yakuman: bool,
    win: np.record,
) -> int:
    """Score a hand of 14 tiles (a meld counts as three) into the WIN record `win`; returns its han.

    `hand` int8[34]: concealed tiles with the winning one, of kind `win_kind`. `n_melds`, `meld_type`, `meld_kind`:
    as in SEAT. `situation`: bits of `engine/scoring/yaku.py`. Winds: 0 East, 1 South, 2 West.
    `dora`, `red`, `ura`, `nuki`: number of each, `ura` 0 unless in riichi. `double_yakuman`: the rule switch.

    Writes `yaku`, `han`, `fu`, `yakuman` and `basic`; the other fields are left to the caller. Returns 0, with all five
    zero, if the hand is not complete or has no yaku (dora are not yaku). The fu of a yakuman are counted as usual
    (mjlog: open daisangen with a concealed triplet and a pair wait, ``ten="40,48000,5"``); kokushi has 0 fu.
    """
    held = concealed_tiles(hand)
    melds = melds_of(n_melds, meld_type, meld_kind)
    n_won_kind = np.int64(hand[win_kind])
    yaku = SITUATION_YAKU[np.int64(seat_wind == 0), situation] | tile_yaku(held.present | melds.kinds)
    if n_melds == 0:
        yaku |= nine_gates(held, n_won_kind)
    tsumo = situation & y.BY_TSUMO != 0
    won = Win(yaku, win_kind, tsumo, seat_wind, round_wind, dora + red + ura + nuki, double_yakuman)
    best = Best(np.int64(0), np.int64(0))
    if n_melds == 0:
        best = best_special(best, held, n_won_kind, won)
    best = best_split(best, held, melds, won)
    return _store(best, melds.concealed, double_yakuman, dora, red, ura, nuki, win)


@inner
def _store(
    best: Best, concealed: bool, double_yakuman: bool, dora: int, red: int, ura: int, nuki: int, win: np.record
) -> int:
    """Write the best reading into `win`; return its han."""
    han = best.rank >> FU_BITS & (1 << HAN_BITS) - 1
    win.fu = best.rank & (1 << FU_BITS) - 1
    win.han = han
    win.basic = best.rank >> BASIC_SHIFT & (1 << BASIC_BITS) - 1
    win.yakuman = best.rank >> YAKUMAN_SHIFT
    han_of = y.HAN_CLOSED if concealed else y.HAN_OPEN
    most = 2 * y.YAKUMAN_HAN if double_yakuman else y.YAKUMAN_HAN
    for number in range(y.N_YAKU):
        win.yaku[number] = min(han_of[number], most) * (best.yaku >> number & 1)
    if best.yaku != 0 and best.yaku & YAKUMAN == 0:
        win.yaku[y.DORA], win.yaku[y.RED_DORA], win.yaku[y.URA_DORA], win.yaku[y.NUKI_DORA] = dora, red, ura, nuki
    return han


@inner
def count_dora(
    hand: np.ndarray,
    n_melds: int,
    meld_type: np.ndarray,
    meld_kind: np.ndarray,
    nukidora: int,
    indicator: int,
) -> int:
    """Dora count by one `indicator` (tile37) in the hand, its melds, and the nukidora if N is dora."""
    dora = DORA_OF[KIND_OF[indicator]]
    count = np.int64(hand[dora])
    for meld in range(n_melds):
        if meld_kind[meld] == dora:
            count += 3 if meld_type[meld] == PON_MELD else 4
    return count + np.int64(nukidora) if dora == NORTH else count
