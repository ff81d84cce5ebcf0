"""Apply an event to the view of a seat by the rules of the table: the compiled part of `PlayerState`.

`apply_event` works in three steps: it writes the tiles that the event reveals where the rules expect them (a drawn tile
into the wall, a shown tile into the hand that shows it); it calls the functions that advance a whole table; and it
blanks again what the viewer may not know (`blank_for`). An action that the rules do not allow is rejected. For another
seat, whose hand is hidden, the rules are applied to the tiles that it shows.
"""

from __future__ import annotations

import numpy as np

from engine import events
from engine.actions import DAIMINKAN, PON, PON_RED, RIICHI, TSUMOGIRI
from engine.common.error_text import error_text
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

PLACEHOLDER = np.int64(0)  # a 1m, which stands for a hidden tile while the rules are applied
COPIES = np.bincount(KIND_OF[FULL_SET], minlength=N_KINDS)  # tiles of each kind in the set

# The result of `apply_event`: applied, or why the event is impossible in this position; and the reason in words.
APPLIED, NOT_THEIR_TURN, TOO_MANY_TILES, ILLEGAL, INDICATOR_MISSING, NO_INDICATOR_DUE = range(6)
REASONS = (
    "",
    error_text("not_their_turn", "it is not this seat's turn to do so"),
    error_text("too_many_tiles", "there are not that many such tiles"),
    error_text("not_allowed", "the rules do not allow it"),
    error_text("indicator_missing", "a dora indicator must be shown first"),
    error_text("no_indicator_due", "no dora indicator is due"),
)


@inner
def has_copies_left(t: np.record, kind: int, count: int) -> bool:
    """Whether `count` tiles of `kind` are among those that the viewer has not seen."""
    return np.int64(t.seat[t.viewer].hand[kind]) + np.int64(t.seen[kind]) + count <= COPIES[kind]


@inner
def apply_draw(t: np.record, seat: int, tile: int) -> int:
    """`seat` draws `tile`, which is ignored unless the seat is the viewer."""
    opening = t.n_log == 1
    if t.phase != RESPONSE and not opening:
        return NOT_THEIR_TURN
    called = not opening and t.offer == NONE  # after a daiminkan, which has taken the tile on offer
    declared = not opening and not called and t.offer_type != OFFER_DISCARD  # after an ankan, kakan or north
    replacing = called or declared
    drawer = np.int64(t.dealer) if opening else np.int64(t.turn) if replacing else (np.int64(t.turn) + 1) % 3
    if seat != drawer:
        return NOT_THEIR_TURN
    if t.live_left == 0 or (not replacing and four_kans_abort(t)):
        return ILLEGAL
    if declared and (t.pending_indicators > 0 or (t.offer_type == OFFER_ANKAN and t.n_indicators <= t.n_kans)):
        return INDICATOR_MISSING
    if seat == t.viewer and not has_copies_left(t, KIND_OF[tile], np.int64(1)):
        return TOO_MANY_TILES
    t.wall[replacement_index(t) if replacing else live_index(t)] = tile if seat == t.viewer else PLACEHOLDER
    close_menus(t)
    if opening:
        draw_live(t, seat)
        ask_turn(t)
    elif called:
        draw_replacement_and_ask(t, seat)
    elif declared:
        after_kan_or_nukidora_passed(t)
    else:
        after_offer_passed(t)
    return APPLIED


@inner
def apply_dora(t: np.record, tile: int) -> int:
    """An indicator is shown: one that is pending for a minkan, or that of the ankan just declared."""
    pending = t.pending_indicators > 0
    if not pending and (t.phase != RESPONSE or t.offer_type != OFFER_ANKAN or t.n_indicators > t.n_kans):
        return NO_INDICATOR_DUE
    if not has_copies_left(t, KIND_OF[tile], np.int64(1)):
        return TOO_MANY_TILES
    t.wall[DORA_AT[t.n_indicators]] = tile
    if not pending or t.phase != RESPONSE:  # with an indicator pending, a kan's or north's tile stays on offer
        close_menus(t)
    if pending:
        show_pending_indicators(t)
    else:
        show_indicator(t)
    return APPLIED


@inner
def apply_riichi_accepted(t: np.record, seat: int) -> int:
    """The discard with which `seat` declared riichi has passed; the stick is paid."""
    if t.phase != RESPONSE or t.riichi_pending == 0 or seat != t.turn:
        return NOT_THEIR_TURN
    close_menus(t)
    accept_riichi(t)
    return APPLIED


@inner
def viewer_menu(t: np.record) -> None:
    """Make the viewer's menu on its turn again: an indicator shown just before a discard has closed it."""
    if t.phase == RIICHI_DISCARD:
        riichi_menu(t)
    elif t.phase == AFTER_PON:
        pon_menu(t)
    else:
        turn_menu(t)


@inner
def other_menu(t: np.record, seat: int, tile: int, action: int) -> None:
    """Make the menu of another seat on its turn; its hand holds only what it shows.

    Its hand is hidden, so a riichi and its discard are taken to leave it tenpai.
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
def rules_allow(t: np.record, seat: int, action: int, tile: int) -> bool:
    """Whether the rules allow `action` of `seat`; the hand of another seat holds only what it shows. Keeps menus."""
    low, high = t.legal[seat, 0], t.legal[seat, 1]
    t.legal[seat, 0] = t.legal[seat, 1] = np.uint64(0)
    if t.phase == RESPONSE:
        offer_calls(t, seat)  # also where a riichi accepted in between has closed the menu
    elif seat == t.viewer:
        viewer_menu(t)
    else:
        other_menu(t, seat, tile, action)
    legal = is_legal(t, seat, action)
    t.legal[seat, 0], t.legal[seat, 1] = low, high
    return legal


@inner
def apply_action(t: np.record, seat: int, action: int, tile: int, count: int, reds: int) -> int:
    """`seat` discards, declares riichi, a north or a kan, or calls the discard; `count` tiles of its hand are shown."""
    if t.phase == RESPONSE:
        if action not in (PON, PON_RED, DAIMINKAN) or t.offer_type != OFFER_DISCARD or tile != t.offer:
            return NOT_THEIR_TURN
        if four_kans_abort(t):
            return ILLEGAL
    elif t.phase not in (TURN, AFTER_PON, RIICHI_DISCARD):
        return NOT_THEIR_TURN
    if (t.phase == RESPONSE) == (seat == t.turn):
        return NOT_THEIR_TURN
    if seat == t.viewer:
        if action == TSUMOGIRI and tile != t.drawn:
            return ILLEGAL
    elif has_copies_left(t, KIND_OF[tile], count):
        take_from_hand(t.seat[seat], KIND_OF[tile], -count, -reds)
    else:
        return TOO_MANY_TILES
    if not rules_allow(t, seat, action, tile):
        return ILLEGAL
    if action <= TSUMOGIRI and t.pending_indicators > 0:
        return INDICATOR_MISSING
    carry_out(t, seat, action)
    return APPLIED


@inner
def carry_out(t: np.record, seat: int, action: int) -> None:
    """Move the view by a legal action of `seat`, up to the others' responses to it."""
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


@kernel("uint8[::1], int64, int64, int64, int64, int64, int64")
def apply_event(raw: np.ndarray, event: int, seat: int, action: int, tile: int, count: int, reds: int) -> int:
    """Apply one event to the view in `raw`, uint8[TABLE.itemsize]; a refused event leaves the view unchanged.

    `event` is DRAW, NEW_DORA or REACH_ACCEPTED of `engine.events`; for any other, `seat` takes `action` and shows
    `count` tiles of its hand, `reds` of them red, of the kind of `tile` (a tile37). Returns APPLIED or why not.
    """
    t = raw.view(TABLE)[0]
    if event == events.DRAW:
        result = apply_draw(t, seat, tile)
    elif event == events.NEW_DORA:
        result = apply_dora(t, tile)
    elif event == events.REACH_ACCEPTED:
        result = apply_riichi_accepted(t, seat)
    else:
        result = apply_action(t, seat, action, tile, count, reds)
    blank_for(t, np.int64(t.viewer))
    return result


@kernel("uint8[::1]")
def deal_view(raw: np.ndarray) -> None:
    """Start a round in the view in `raw`, uint8[TABLE.itemsize], whose wall holds the known tiles."""
    t = raw.view(TABLE)[0]
    t.wall_given = 1
    deal_round(t)
    blank_for(t, np.int64(t.viewer))
