"""What a seat hears, applied to its view: one event at a time, by the rules of the table.

What an event tells is laid where the rules take it from (a drawn tile in the wall, a tile that is shown in the hand
that shows it); then the functions that move a whole table move the view; then `blank_for` hides again what the viewer
may not know. Menus are made by the rules too, the viewer's own and that of another seat as far as it shows its tiles:
what is on none is refused.
"""

from __future__ import annotations

import numpy as np

from engine import events
from engine.actions import DAIMINKAN, PON, PON_RED, RIICHI, TSUMOGIRI
from engine.compiling import inner, kernel
from engine.hand import kinds_held
from engine.kernels import is_legal
from engine.legal import (
    allow,
    allow_discards,
    four_kans_abort,
    may_riichi_publicly,
    offer_calls,
    pon_menu,
    response_menus,
    riichi_menu,
    turn_menu,
)
from engine.melds import take_from_hand
from engine.table import AFTER_PON, DORA_AT, OFFER_ANKAN, OFFER_DISCARD, RESPONSE, RIICHI_DISCARD, TABLE, TURN
from engine.tiles import FULL_SET, KIND_OF, N_KINDS, NONE
from engine.turn import (
    accept_riichi,
    after_kan_or_nukidora_passed,
    after_offer_passed,
    ask_turn,
    close_menus,
    deal_round,
    declare_call,
    declare_kan_or_nukidora,
    declare_riichi,
    discard,
    draw_replacement_and_ask,
)
from engine.view import blank_for
from engine.wall import draw_live, live_index, replacement_index, show_indicator, show_pending_indicators

STAND_IN = np.int64(0)  # a 1m, which the rules handle in place of a hidden tile until it is blanked again
COPIES = np.bincount(KIND_OF[FULL_SET], minlength=N_KINDS)  # tiles of each kind in the set

# Why a message cannot follow what was heard before.
FINE, NOT_NOW, NO_SUCH_TILE, NOT_ALLOWED, DORA_OWED, NO_DORA_OWED = range(6)
REFUSALS = (
    "",
    "this seat has nothing of the kind to do now",
    "more such tiles than there are",
    "the rules do not allow it",
    "a dora indicator is to be shown first",
    "no dora indicator is to be shown",
)


@inner
def available(t: np.record, kind: int, count: int) -> bool:
    """Whether the viewer has not yet seen so many tiles of `kind` that there cannot be `count` more."""
    return np.int64(t.seat[t.viewer].hand[kind]) + np.int64(t.seen[kind]) + count <= COPIES[kind]


@inner
def hear_draw(t: np.record, seat: int, tile: int) -> int:
    """`seat` draws; `tile` is of no account where that is not the viewer."""
    opening = t.n_log == 1
    if t.phase != RESPONSE and not opening:
        return NOT_NOW
    called = not opening and t.offer == NONE  # a daiminkan, which has taken the tile on offer
    laid = not opening and not called and t.offer_type != OFFER_DISCARD
    replacing = called or laid
    drawer = np.int64(t.dealer) if opening else np.int64(t.turn) if replacing else (np.int64(t.turn) + 1) % 3
    if seat != drawer:
        return NOT_NOW
    if t.live_left == 0 or (not replacing and four_kans_abort(t)):
        return NOT_ALLOWED
    if laid and (t.pending_indicators > 0 or (t.offer_type == OFFER_ANKAN and t.n_indicators <= t.n_kans)):
        return DORA_OWED
    if seat == t.viewer and not available(t, KIND_OF[tile], np.int64(1)):
        return NO_SUCH_TILE
    t.wall[replacement_index(t) if replacing else live_index(t)] = tile if seat == t.viewer else STAND_IN
    close_menus(t)
    if opening:
        draw_live(t, seat)
        ask_turn(t)
    elif called:
        draw_replacement_and_ask(t, seat)
    elif laid:
        after_kan_or_nukidora_passed(t)
    else:
        after_offer_passed(t)
    return FINE


@inner
def hear_dora(t: np.record, tile: int) -> int:
    """An indicator is shown: one owed for a minkan, or that of the ankan just laid, which nobody has robbed."""
    owed = t.pending_indicators > 0
    if not owed and (t.phase != RESPONSE or t.offer_type != OFFER_ANKAN or t.n_indicators > t.n_kans):
        return NO_DORA_OWED
    if not available(t, KIND_OF[tile], np.int64(1)):
        return NO_SUCH_TILE
    t.wall[DORA_AT + t.n_indicators] = tile
    if not owed or t.phase != RESPONSE:  # a laid tile stays on offer; otherwise all who were asked have answered
        close_menus(t)
    if owed:
        show_pending_indicators(t)
    else:
        show_indicator(t)
    return FINE


@inner
def hear_accepted_riichi(t: np.record, seat: int) -> int:
    """The declaring discard of `seat` has passed."""
    if t.phase != RESPONSE or t.riichi_pending == 0 or seat != t.turn:
        return NOT_NOW
    close_menus(t)
    accept_riichi(t)
    return FINE


@inner
def own_menu(t: np.record) -> None:
    """Menu of the viewer on turn; once more, for an indicator shown just before a discard has closed it."""
    if t.phase == RIICHI_DISCARD:
        riichi_menu(t)
    elif t.phase == AFTER_PON:
        pon_menu(t)
    else:
        turn_menu(t)


@inner
def menu_of_shown(t: np.record, seat: int, tile: int, action: int) -> None:
    """Menu of another seat on turn whose hand holds what it shows.

    Whether a riichi and its discard leave the hand tenpai is not to be seen: they are taken to.
    """
    p = t.seat[seat]
    t.drawn = tile if action == TSUMOGIRI or p.riichi else NONE
    if t.phase == RIICHI_DISCARD:
        allow_discards(t, seat, kinds_held(p, np.int64(1)))
    elif t.phase == AFTER_PON:
        pon_menu(t)
    else:
        turn_menu(t)
        if may_riichi_publicly(t, p):
            allow(t, seat, np.int64(RIICHI))


@inner
def may(t: np.record, seat: int, action: int, tile: int) -> bool:
    """Whether the rules allow `action`, the hand of another seat holding what it shows; menus stay as they are."""
    low, high = t.legal[seat, 0], t.legal[seat, 1]
    t.legal[seat, 0] = t.legal[seat, 1] = np.uint64(0)
    if t.phase == RESPONSE:
        offer_calls(t, seat)  # also where a riichi accepted in between has closed the menu
    elif seat == t.viewer:
        own_menu(t)
    else:
        menu_of_shown(t, seat, tile, action)
    legal = is_legal(t, seat, action)
    t.legal[seat, 0], t.legal[seat, 1] = low, high
    return legal


@inner
def hear_action(t: np.record, seat: int, action: int, tile: int, count: int, reds: int) -> int:
    """`seat` discards, declares riichi, lays a north or a kan, or calls the discard, showing `count` tiles."""
    if t.phase == RESPONSE:
        if action not in (PON, PON_RED, DAIMINKAN) or t.offer_type != OFFER_DISCARD or tile != t.offer:
            return NOT_NOW
        if four_kans_abort(t):
            return NOT_ALLOWED
    elif t.phase not in (TURN, AFTER_PON, RIICHI_DISCARD):
        return NOT_NOW
    if (t.phase == RESPONSE) == (seat == t.turn):
        return NOT_NOW
    if seat == t.viewer:
        if action == TSUMOGIRI and tile != t.drawn:
            return NOT_ALLOWED
    elif available(t, KIND_OF[tile], count):
        take_from_hand(t.seat[seat], KIND_OF[tile], -count, -reds)
    else:
        return NO_SUCH_TILE
    if not may(t, seat, action, tile):
        return NOT_ALLOWED
    if action <= TSUMOGIRI and t.pending_indicators > 0:
        return DORA_OWED
    apply(t, seat, action)
    return FINE


@inner
def apply(t: np.record, seat: int, action: int) -> None:
    """Do what `seat` does, as far as the others' answers to it."""
    close_menus(t)
    if t.phase == RESPONSE:
        declare_call(t, seat, action)
    elif action == RIICHI:
        declare_riichi(t, seat)
    else:
        if action <= TSUMOGIRI:
            discard(t, seat, action)
        else:
            declare_kan_or_nukidora(t, seat, action)
        response_menus(t)
        t.phase = RESPONSE


@kernel
def follow(raw: np.ndarray, event: int, seat: int, action: int, tile: int, count: int, reds: int) -> int:
    """Apply one event to the view in `raw`; where that is refused (not FINE) the view stays as it is.

    `event` is DRAW, NEW_DORA, REACH_ACCEPTED, or any other for what a seat does of its own will: `action`, showing
    `count` tiles of its hand, `reds` of them red, of the kind of `tile`.
    """
    t = raw.view(TABLE)[0]
    if event == events.DRAW:
        refusal = hear_draw(t, seat, tile)
    elif event == events.NEW_DORA:
        refusal = hear_dora(t, tile)
    elif event == events.REACH_ACCEPTED:
        refusal = hear_accepted_riichi(t, seat)
    else:
        refusal = hear_action(t, seat, action, tile, count, reds)
    blank_for(t, np.int64(t.viewer))
    return refusal


@kernel
def deal_view(raw: np.ndarray) -> None:
    """Start the round whose wall, as far as it is known, lies in the view in `raw`."""
    t = raw.view(TABLE)[0]
    t.wall_given = 1
    deal_round(t)
    blank_for(t, np.int64(t.viewer))
