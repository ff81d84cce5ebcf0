"""Calls, kans and nukidora: the tiles move from the hand and the river to the melds, and the event is logged."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.events import ANKAN, DAIMINKAN, KAKAN, NUKIDORA, PON, pack
from engine.hand import add_tile, reds_held
from engine.table import (
    ANKAN_MELD,
    DAIMINKAN_MELD,
    KAKAN_MELD,
    OFFER_ANKAN,
    OFFER_KAKAN,
    OFFER_NUKIDORA,
    PON_MELD,
    RIVER_CALLED,
)
from engine.tiles import EAST, HAKU, KIND_OF, NONE, NORTH, RED_5P, RED_INDEX, is_red
from engine.wall import clear_drawn, log_event


@inner
def take_from_hand(p: np.record, kind: int, count: int, reds: int) -> None:
    """Remove `count` tiles of `kind` from the hand, `reds` of them red (negative: add them)."""
    add_tile(p, kind, -(count - reds))
    if reds != 0:
        add_tile(p, RED_5P + RED_INDEX[kind], -reds)


@inner
def add_meld(p: np.record, meld_type: int, kind: int, reds: int, called: int, giver: int) -> None:
    """Add a meld to seat record `p`: its fields are those of SEAT (`giver`: meld_from)."""
    m = p.n_melds
    p.meld_type[m] = meld_type
    p.meld_kind[m] = kind
    p.meld_red[m] = reds
    p.meld_called[m] = called
    p.meld_from[m] = giver
    p.n_melds += 1
    if meld_type != ANKAN_MELD:
        p.open = 1


@inner
def call_discard(t: np.record, seat: int, meld_type: int, event: int, count: int, reds: int) -> None:
    """Call the discard on offer with `count` tiles of the hand, `reds` of them red; `event` is logged."""
    p, giver = t.seat[seat], t.seat[t.turn]
    tile, kind = np.int64(t.offer), KIND_OF[t.offer]
    target = np.int64(t.turn)
    giver.river[giver.n_river - 1] |= RIVER_CALLED
    giver.nagashi = 0
    take_from_hand(p, kind, count, reds)
    add_meld(p, meld_type, kind, reds + (1 if is_red(tile) else 0), tile, target)
    t.seen[kind] += count
    log_event(t, pack(event, seat, target, tile, np.int64(0), reds, np.int64(0)))
    set_pao(p, kind, target)
    t.turn = seat
    t.first_turn = 0
    clear_drawn(t)
    t.offer = NONE


@inner
def call_pon(t: np.record, seat: int, with_red: bool) -> None:
    """Call pon on the discard on offer; its kind may not be discarded next (kuikae)."""
    kind = KIND_OF[t.offer]
    call_discard(t, seat, np.int64(PON_MELD), np.int64(PON), np.int64(2), np.int64(1 if with_red else 0))
    t.kuikae = kind


@inner
def call_daiminkan(t: np.record, seat: int) -> None:
    """Call daiminkan on the discard on offer; its dora indicator is pending."""
    reds = reds_held(t.seat[seat], KIND_OF[t.offer])
    call_discard(t, seat, np.int64(DAIMINKAN_MELD), np.int64(DAIMINKAN), np.int64(3), reds)
    t.n_kans += 1
    t.pending_indicators += 1


@inner
def declare_ankan(t: np.record, seat: int, kind: int) -> None:
    """Declare an ankan; only kokushi may rob it, if the rules allow that."""
    p = t.seat[seat]
    reds = reds_held(p, kind)
    take_from_hand(p, kind, np.int64(4), reds)
    add_meld(p, np.int64(ANKAN_MELD), kind, reds, np.int64(NONE), np.int64(NONE))
    t.seen[kind] += 4
    t.n_kans += 1
    log_event(t, pack(ANKAN, seat, seat, kind, np.int64(0), reds, np.int64(0)))
    offer(t, kind, np.int64(OFFER_ANKAN))


@inner
def declare_kakan(t: np.record, seat: int, kind: int) -> None:
    """Declare a kakan, the fourth tile of a pon; it may be robbed."""
    p = t.seat[seat]
    red_added = reds_held(p, kind)
    tile = RED_5P + RED_INDEX[kind] if red_added > 0 else kind
    add_tile(p, tile, np.int64(-1))
    red_in_pon = np.int64(0)
    for m in range(p.n_melds):
        if p.meld_type[m] == PON_MELD and p.meld_kind[m] == kind:
            red_in_pon = np.int64(p.meld_red[m])
            p.meld_type[m] = KAKAN_MELD
            p.meld_red[m] += red_added
    t.seen[kind] += 1
    t.n_kans += 1
    log_event(t, pack(KAKAN, seat, seat, tile, np.int64(0), red_in_pon, np.int64(0)))
    offer(t, tile, np.int64(OFFER_KAKAN))


@inner
def declare_nukidora(t: np.record, seat: int) -> None:
    """Declare nukidora with a north; it may be robbed."""
    p = t.seat[seat]
    add_tile(p, np.int64(NORTH), np.int64(-1))
    p.nukidora += 1
    t.seen[NORTH] += 1
    log_event(t, pack(NUKIDORA, seat, seat, np.int64(NORTH), np.int64(0), np.int64(0), np.int64(0)))
    offer(t, np.int64(NORTH), np.int64(OFFER_NUKIDORA))


@inner
def offer(t: np.record, tile: int, offer_type: int) -> None:
    """Put the tile of a kan or nukidora on offer to the others, and end the uninterrupted first turn."""
    t.first_turn = 0
    t.offer = tile
    t.offer_type = offer_type
    clear_drawn(t)


@inner
def set_pao(p: np.record, kind: int, giver: int) -> None:
    """Pao: the seat whose discard gives `p` its third dragon or fourth wind meld is liable for the yakuman."""
    dragons = winds = 0
    for m in range(p.n_melds):
        if p.meld_kind[m] >= HAKU:
            dragons += 1
        elif p.meld_kind[m] >= EAST:
            winds += 1
    if kind >= HAKU and dragons == 3:
        p.pao_daisangen = giver
    elif EAST <= kind < HAKU and winds == 4:
        p.pao_daisuushii = giver
