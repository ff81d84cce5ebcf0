"""Legal actions: each function writes a part of the menus, the bit masks of `engine.actions` in TABLE.legal."""

from __future__ import annotations

import numpy as np

from engine.actions import (
    ANKAN,
    DAIMINKAN,
    DISCARD,
    KAKAN,
    KYUSHU_KYUHAI,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.compiling import inner
from engine.hand import has_kind, is_furiten, kinds_held, move, reds_held
from engine.rules import RIICHI_STICK
from engine.scoring.table_scoring import is_kokushi, winning_han
from engine.scoring.yaku import (
    AFTER_REPLACEMENT,
    BY_TSUMO,
    FIRST_TURN,
    IN_DOUBLE_RIICHI,
    IN_RIICHI,
    LAST_TILE,
    ROBBING_KAN,
    WITH_IPPATSU,
)
from engine.shanten import shanten, waits
from engine.table import OFFER_ANKAN, OFFER_DISCARD, OFFER_KAKAN, PON_MELD
from engine.tiles import KIND_OF, NORTH, RED_5P, SANMA_KINDS, TERMINALS_HONOURS, is_red

MIN_LIVE_FOR_RIICHI = 3  # every seat must still have a draw. Source: Tenhou; see docs/rules.md
ONE = np.uint64(1)


@inner
def allow(t: np.record, seat: int, action: int) -> None:
    """Put `action` on the menu of `seat`."""
    t.legal[seat, action >> 6] |= ONE << np.uint64(action & 63)


@inner
def riichi_bits(p: np.record) -> int:
    """Situation bits (`engine.scoring.yaku`) of riichi and ippatsu of a seat."""
    bits = IN_RIICHI if p.riichi == 1 else IN_DOUBLE_RIICHI if p.riichi == 2 else 0
    return bits | (WITH_IPPATSU if p.ippatsu else 0)


@inner
def tsumo_situation(t: np.record, seat: int) -> int:
    """Situation bits of a win on the drawn tile."""
    p = t.seat[seat]
    bits = BY_TSUMO | riichi_bits(p)
    if t.after_replacement:
        bits |= AFTER_REPLACEMENT
    elif t.live_left == 0:
        bits |= LAST_TILE
    if t.first_turn and p.n_river == 0:
        bits |= FIRST_TURN
    return bits


@inner
def ron_situation(t: np.record, seat: int) -> int:
    """Situation bits of a win on the tile on offer. Robbing a north is not chankan. Source: Tenhou record."""
    bits = riichi_bits(t.seat[seat])
    if t.offer_type == OFFER_KAKAN or t.offer_type == OFFER_ANKAN:
        bits |= ROBBING_KAN
    elif t.offer_type == OFFER_DISCARD and t.live_left == 0:
        bits |= LAST_TILE
    return bits


@inner
def tenpai_without(p: np.record, kind: int) -> bool:
    """Whether the 14-tile hand is tenpai after a discard of `kind`."""
    n_melds = np.int64(p.n_melds)
    move(p, kind, np.int64(-1))
    tenpai = shanten(p.hand_keys, n_melds) == 0 and waits(p.hand, p.hand_keys, n_melds) != 0
    move(p, kind, np.int64(1))
    return tenpai


@inner
def may_riichi_publicly(t: np.record, p: np.record) -> bool:
    """Whether the public conditions of riichi hold: concealed, not in riichi, 1,000 points, at least 3 live tiles."""
    return p.riichi == 0 and p.open == 0 and p.score >= RIICHI_STICK and t.live_left >= MIN_LIVE_FOR_RIICHI


@inner
def may_riichi(t: np.record, p: np.record) -> bool:
    """Whether the seat on turn may declare riichi: the public conditions, and a discard that leaves the hand tenpai."""
    if not may_riichi_publicly(t, p):
        return False
    if p.shanten > 1 or shanten(p.hand_keys, np.int64(p.n_melds)) > 0:  # a draw lowers it by at most one
        return False
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and tenpai_without(p, kind):
            return True
    return False


@inner
def allow_discards(t: np.record, seat: int, kinds: np.uint64) -> None:
    """Allow every discard of `kinds` (a bit mask of held kinds): red or plain, from the hand or tsumogiri.

    The number of a kind is the action that discards its plain tile, so the mask itself is most of the menu.
    """
    p = t.seat[seat]
    menu = kinds
    for red in range(2):
        kind = KIND_OF[RED_5P + red]
        if p.red[red] > 0 and has_kind(kinds, kind):
            menu |= ONE << np.uint64(DISCARD + RED_5P + red)
            if p.hand[kind] == p.red[red]:
                menu &= ~(ONE << np.uint64(DISCARD + kind))
    if t.drawn >= 0 and has_kind(kinds, KIND_OF[t.drawn]):
        menu |= ONE << np.uint64(TSUMOGIRI)
        kind = KIND_OF[t.drawn]
        reds = reds_held(p, kind)
        twins = reds if is_red(np.int64(t.drawn)) else p.hand[kind] - reds
        if twins == 1:
            menu &= ~(ONE << np.uint64(DISCARD + np.int64(t.drawn)))
    t.legal[seat, 0] |= menu


@inner
def ankan_keeps_waits(p: np.record, kind: int) -> bool:
    """Whether an ankan of the drawn `kind` in riichi changes no wait.

    Source: Tenhou's manual: in riichi, an ankan with the drawn tile is allowed if the waits stay the same; shape and
    yaku may change. A recorded game of January 2026 has an ankan that removes one way to split the hand but no wait.
    """
    move(p, kind, np.int64(-4))
    after = waits(p.hand, p.hand_keys, np.int64(p.n_melds) + 1)
    move(p, kind, np.int64(4))
    return np.uint64(p.waits) == np.uint64(after)


@inner
def allow_own_kans(t: np.record, seat: int) -> None:
    """Allow ankan and kakan while a live tile is left and fewer than four kans have been declared."""
    p = t.seat[seat]
    if t.live_left == 0 or t.n_kans >= 4:
        return
    if p.riichi:
        kind = KIND_OF[t.drawn]
        if p.hand[kind] == 4 and ankan_keeps_waits(p, kind):
            allow(t, seat, ANKAN + kind)
        return
    fours = kinds_held(p, np.int64(4))
    t.legal[seat, 0] |= fours << np.uint64(ANKAN)
    t.legal[seat, 1] |= fours >> np.uint64(64 - ANKAN)
    for m in range(p.n_melds):
        if p.meld_type[m] == PON_MELD and p.hand[p.meld_kind[m]] > 0:
            allow(t, seat, KAKAN + np.int64(p.meld_kind[m]))


@inner
def has_kyushu_kyuhai(p: np.record) -> bool:
    """Whether the hand holds at least nine different terminals and honours (kyushu kyuhai)."""
    kinds = 0
    for kind in TERMINALS_HONOURS:
        if p.hand[kind] > 0:
            kinds += 1
    return kinds >= 9


@inner
def turn_menu(t: np.record) -> None:
    """Write the menu of the seat that has just drawn."""
    seat = np.int64(t.turn)
    p = t.seat[seat]
    if p.riichi:
        allow(t, seat, np.int64(TSUMOGIRI))
    else:
        allow_discards(t, seat, kinds_held(p, np.int64(1)))
        if may_riichi(t, p):
            allow(t, seat, np.int64(RIICHI))
    if has_kind(p.waits, KIND_OF[t.drawn]) and winning_han(t, seat, t.drawn, tsumo_situation(t, seat)) > 0:
        allow(t, seat, np.int64(TSUMO))
    allow_own_kans(t, seat)
    if t.live_left > 0 and p.hand[NORTH] > 0 and (p.riichi == 0 or t.drawn == NORTH):
        allow(t, seat, np.int64(NUKIDORA))
    if t.first_turn and p.n_river == 0 and has_kyushu_kyuhai(p):
        allow(t, seat, np.int64(KYUSHU_KYUHAI))


@inner
def pon_menu(t: np.record) -> None:
    """Write the menu after a pon: every discard but the called kind (kuikae)."""
    held = kinds_held(t.seat[t.turn], np.int64(1))
    allow_discards(t, np.int64(t.turn), held & ~(ONE << np.uint64(t.kuikae)))


@inner
def riichi_menu(t: np.record) -> None:
    """Write the menu after declaring riichi: the discards that leave the hand tenpai."""
    p = t.seat[t.turn]
    kinds = np.uint64(0)
    for kind in SANMA_KINDS:
        if p.hand[kind] > 0 and tenpai_without(p, kind):
            kinds |= ONE << np.uint64(kind)
    allow_discards(t, np.int64(t.turn), kinds)


@inner
def four_kans_abort(t: np.record) -> bool:
    """Whether there are four kans, declared by at least two seats."""
    if t.n_kans < 4:
        return False
    for seat in range(3):
        kans = 0
        for m in range(t.seat[seat].n_melds):
            if t.seat[seat].meld_type[m] > PON_MELD:
                kans += 1
        if kans == 4:
            return False
    return True


@inner
def offer_ron(t: np.record, seat: int) -> None:
    """Allow ron on the tile on offer. A seat whose hand it completes but that may not win becomes furiten."""
    p = t.seat[seat]
    kind = KIND_OF[t.offer]
    if not has_kind(p.waits, kind) or (t.offer_type == OFFER_ANKAN and not is_kokushi(p)):
        return
    if not is_furiten(p) and winning_han(t, seat, t.offer, ron_situation(t, seat)) > 0:
        allow(t, seat, np.int64(RON))
    else:
        set_furiten(p)


@inner
def set_furiten(p: np.record) -> None:
    """Make a seat furiten that does not win on a tile that completes its hand: for the round if it is in riichi."""
    p.temporary_furiten = 1
    if p.riichi:
        p.riichi_furiten = 1


@inner
def offer_calls(t: np.record, seat: int) -> None:
    """Allow pon and daiminkan of the discard on offer."""
    p = t.seat[seat]
    kind = KIND_OF[t.offer]
    held = np.int64(p.hand[kind])
    if held < 2 or p.riichi or t.live_left == 0:
        return
    reds = reds_held(p, kind)
    if held - reds >= 2:
        allow(t, seat, np.int64(PON))
    if reds > 0:
        allow(t, seat, np.int64(PON_RED))
    if held == 3 and t.n_kans < 4:
        allow(t, seat, np.int64(DAIMINKAN))


@inner
def response_menus(t: np.record) -> bool:
    """Write the menus of the two seats that may call or win on the tile on offer; return whether one of them can."""
    if t.offer_type == OFFER_ANKAN and not t.rules.kokushi_robs_ankan:
        return False
    calls = t.offer_type == OFFER_DISCARD and not four_kans_abort(t)
    any_asked = False
    for step in range(1, 3):
        seat = (t.turn + step) % 3
        offer_ron(t, seat)
        if calls:
            offer_calls(t, seat)
        if t.legal[seat, 0] != np.uint64(0):
            allow(t, seat, np.int64(PASS))
            any_asked = True
    return any_asked
