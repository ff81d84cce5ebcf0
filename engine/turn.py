"""The flow of a game: start a round, apply an action, resolve the responses to a tile, go on to the next round."""

from __future__ import annotations

import numpy as np

from engine import ryukyoku
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KAKAN,
    KYUSHU_KYUHAI,
    NUKIDORA,
    PASS,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.compiling import inner
from engine.events import DAHAI, END_GAME, REACH, REACH_ACCEPTED, START_KYOKU, pack
from engine.hand import add_tile, has_kind
from engine.legal import four_kans_abort, pon_menu, response_menus, riichi_menu, set_furiten, turn_menu
from engine.melds import call_daiminkan, call_pon, declare_ankan, declare_kakan, declare_nukidora
from engine.rules import N_DRAWS, RIICHI_STICK
from engine.settle import abortive_draw, exhaustive_draw, game_ends, ron, top_seat, tsumo
from engine.shanten import shanten, waits
from engine.table import (
    AFTER_PON,
    GAME_OVER,
    OFFER_ANKAN,
    OFFER_DISCARD,
    OFFER_KAKAN,
    RESPONSE,
    RIICHI_DISCARD,
    RIVER_TSUMOGIRI,
    TURN,
)
from engine.tiles import KIND_OF, NONE, TERMINALS_HONOURS_MASK
from engine.view import clear_score
from engine.wall import (
    clear_drawn,
    deal,
    draw_live,
    draw_replacement,
    log_event,
    show_indicator,
    show_pending_indicators,
    shuffle_wall,
)

TERMINALS_HONOURS_BITS = np.uint64(TERMINALS_HONOURS_MASK)
ONE = np.uint64(1)


@inner
def start_game(t: np.record, seed: np.uint64) -> None:
    """Start a new game with this seed; the caller must have set `rules`, the scores, and `wall` if `wall_given`."""
    t.seed = seed
    t.viewer = NONE
    t.round_wind = t.dealer = t.honba = t.sticks = 0
    start_round(t)


@inner
def start_round(t: np.record) -> None:
    """Deal a round; the dealer draws."""
    deal_round(t)
    draw_live(t, np.int64(t.dealer))
    ask_turn(t)


@inner
def deal_round(t: np.record) -> None:
    """Shuffle unless the wall is given, deal, and turn over the first dora indicator."""
    t.n_log = t.n_wins = t.n_kans = t.n_indicators = t.pending_indicators = t.n_replacements = 0
    t.live_left = N_DRAWS
    t.ryukyoku_reason = 0
    t.dealer_stays = 0
    t.riichi_pending = 0
    t.kuikae = t.offer = NONE
    t.first_turn = 1
    t.log[:] = np.uint32(0)
    t.seen[:] = 0
    t.ryukyoku_deltas[:] = 0
    t.ryukyoku_tenpai[:] = 0
    t.answer[:] = NONE
    for seat in range(3):
        clear_seat(t.seat[seat])
    for w in range(2):
        clear_win(t.win[w])
    if t.wall_given == 0:
        shuffle_wall(t)
    t.wall_given = 0
    deal(t)
    for seat in range(3):
        update_waits(t.seat[seat])
    show_indicator(t)
    dealer = np.int64(t.dealer)
    log_event(t, pack(START_KYOKU, dealer, dealer, np.int64(0), np.int64(0), np.int64(0), np.int64(0)))


@inner
def clear_seat(p: np.record) -> None:
    """Reset everything about a seat but its score."""
    p.start_score = p.score
    p.discarded = p.waits = np.uint64(0)
    p.hand_keys[:] = 0
    p.hand[:] = 0
    p.red[:] = 0
    p.meld_type[:] = 0
    p.meld_kind[:] = 0
    p.meld_red[:] = 0
    p.meld_called[:] = NONE
    p.meld_from[:] = NONE
    p.river[:] = 0
    p.n_melds = p.nukidora = p.n_river = 0
    p.open = p.riichi = p.ippatsu = p.temporary_furiten = p.riichi_furiten = 0
    p.nagashi = 1
    p.riichi_river = p.pao_daisangen = p.pao_daisuushii = NONE


@inner
def clear_win(win: np.record) -> None:
    """Reset a WIN record."""
    clear_score(win)
    win.points = 0
    win.deltas[:] = 0
    win.winner = win.target = win.tile = win.pao = 0


@inner
def next_round(t: np.record) -> None:
    """Deal the next round or end the game, after ROUND_OVER. At the end the top seat gets the riichi sticks left."""
    if game_ends(t):
        t.seat[top_seat(t)].score += RIICHI_STICK * t.sticks
        t.sticks = 0
        t.phase = GAME_OVER
        log_event(t, pack(END_GAME, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)))
        return
    if t.dealer_stays or t.n_wins == 0:
        t.honba += 1
    else:
        t.honba = 0
    if t.dealer_stays == 0:
        t.dealer += 1
        if t.dealer == 3:
            t.dealer = 0
            t.round_wind += 1
    start_round(t)


@inner
def update_waits(p: np.record) -> None:
    """Recompute `shanten` and `waits` of a 13-tile hand."""
    n_melds = np.int64(p.n_melds)
    p.shanten = shanten(p.hand_keys, n_melds)
    if p.shanten == 0:
        p.waits = waits(p.hand, p.hand_keys, n_melds)
    else:
        p.waits = np.uint64(0)


@inner
def ask_turn(t: np.record) -> None:
    """Ask the seat that has drawn for its action."""
    t.phase = TURN
    turn_menu(t)


@inner
def act(t: np.record, seat: int, action: int) -> None:
    """Apply the action of `seat`. Once all asked seats have answered, play on until a seat is asked or the round ends.

    The action must be legal: nothing is checked here.
    """
    if t.phase != RESPONSE:
        t.legal[seat, 0] = np.uint64(0)
        t.legal[seat, 1] = np.uint64(0)
        act_on_turn(t, seat, action)
        return
    t.answer[seat] = action
    for other in range(3):
        if t.legal[other, 0] != np.uint64(0) and t.answer[other] < 0:
            return
    resolve_response(t)


@inner
def act_on_turn(t: np.record, seat: int, action: int) -> None:
    """Apply an action of the seat on turn."""
    if action <= TSUMOGIRI:
        show_pending_indicators(t)  # before the discard. Source: Tenhou records
        discard(t, seat, action)
        offer_to_others(t)
    elif action == RIICHI:
        declare_riichi(t, seat)
    elif action == TSUMO:
        tsumo(t)
    elif action == KYUSHU_KYUHAI:
        abortive_draw(t, np.int64(ryukyoku.KYUSHU_KYUHAI))
    else:
        declare_kan_or_nukidora(t, seat, action)
        show_pending_indicators(t)
        offer_to_others(t)


@inner
def declare_riichi(t: np.record, seat: int) -> None:
    """Declare riichi; the seat is asked for its discard next."""
    t.riichi_pending = 2 if t.first_turn and t.seat[seat].n_river == 0 else 1
    log_event(t, pack(REACH, seat, seat, np.int64(0), np.int64(0), np.int64(0), np.int64(0)))
    t.phase = RIICHI_DISCARD
    riichi_menu(t)


@inner
def declare_kan_or_nukidora(t: np.record, seat: int, action: int) -> None:
    """Declare nukidora, kakan or ankan; the others may win on the tile."""
    if action == NUKIDORA:
        declare_nukidora(t, seat)
    elif action >= KAKAN:
        declare_kakan(t, seat, action - KAKAN)
    else:
        declare_ankan(t, seat, action - ANKAN)


@inner
def discard(t: np.record, seat: int, action: int) -> None:
    """Discard a tile; the others may call it or win on it."""
    p = t.seat[seat]
    tsumogiri = np.int64(1) if action == TSUMOGIRI else np.int64(0)
    tile = np.int64(t.drawn) if tsumogiri else np.int64(action)
    kind = KIND_OF[tile]
    add_tile(p, tile, np.int64(-1))
    log_event(t, pack(DAHAI, seat, seat, tile, tsumogiri, np.int64(0), np.int64(0)))
    if t.riichi_pending:
        p.riichi_river = p.n_river
    p.river[p.n_river] = tile | (RIVER_TSUMOGIRI if tsumogiri else 0)
    p.n_river += 1
    p.discarded |= ONE << np.uint64(kind)
    if not has_kind(TERMINALS_HONOURS_BITS, kind):
        p.nagashi = 0
    p.temporary_furiten = 0
    p.ippatsu = 0
    t.seen[kind] += 1
    if p.riichi == 0:
        update_waits(p)
    clear_drawn(t)
    t.kuikae = NONE
    t.offer = tile
    t.offer_type = OFFER_DISCARD


@inner
def offer_to_others(t: np.record) -> None:
    """Ask the seats that may call or win on the tile on offer; if there are none, play on."""
    if response_menus(t):
        t.phase = RESPONSE
    else:
        after_offer_passed(t)


@inner
def resolve_response(t: np.record) -> None:
    """Resolve the answers of all asked seats: ron takes precedence over calls, calls over the next draw."""
    first = (np.int64(t.turn) + 1) % 3
    second = (np.int64(t.turn) + 2) % 3
    by_first, by_second = np.int64(t.answer[first]), np.int64(t.answer[second])
    close_menus(t)
    if by_first == RON or by_second == RON:
        ron(t, by_first == RON, by_second == RON)
    elif by_first >= 0 and by_first != PASS:
        make_call(t, first, by_first)
    elif by_second >= 0 and by_second != PASS:
        make_call(t, second, by_second)
    else:
        after_offer_passed(t)


@inner
def close_menus(t: np.record) -> None:
    """Clear all menus and answers; a seat that could have won by ron and did not becomes furiten."""
    for seat in range(3):
        if (t.legal[seat, 0] >> np.uint64(RON)) & ONE != np.uint64(0) and t.answer[seat] != RON:
            set_furiten(t.seat[seat])
    t.legal[:] = np.uint64(0)
    t.answer[:] = NONE


@inner
def make_call(t: np.record, seat: int, action: int) -> None:
    """`seat` calls the discard; after a daiminkan it draws a replacement."""
    declare_call(t, seat, action)
    if action == DAIMINKAN:
        draw_replacement_and_ask(t, seat)


@inner
def declare_call(t: np.record, seat: int, action: int) -> None:
    """`seat` calls the discard on offer: pon or daiminkan, without the replacement draw."""
    accept_riichi(t)
    clear_ippatsu(t)
    if action == DAIMINKAN:
        call_daiminkan(t, seat)
    else:
        call_pon(t, seat, action == PON_RED)
        t.phase = AFTER_PON
        pon_menu(t)


@inner
def after_offer_passed(t: np.record) -> None:
    """Play on after a discard, kan or nukidora that nobody has called or won on."""
    seat = np.int64(t.turn)
    if t.offer_type != OFFER_DISCARD:
        if t.offer_type == OFFER_ANKAN:
            show_indicator(t)
        after_kan_or_nukidora_passed(t)
        return
    accept_riichi(t)
    if four_kans_abort(t):
        abortive_draw(t, np.int64(ryukyoku.FOUR_KANS))
    elif t.live_left == 0:
        exhaustive_draw(t)
    else:
        draw_live(t, (seat + 1) % 3)
        ask_turn(t)


@inner
def after_kan_or_nukidora_passed(t: np.record) -> None:
    """Play on after a kan or nukidora that nobody has robbed: end ippatsu, and draw the replacement.

    The new indicator of a kakan becomes pending; that of an ankan has been turned over before.
    """
    clear_ippatsu(t)
    if t.offer_type == OFFER_KAKAN:
        t.pending_indicators += 1
    draw_replacement_and_ask(t, np.int64(t.turn))


@inner
def draw_replacement_and_ask(t: np.record, seat: int) -> None:
    """`seat` draws a replacement tile and is asked for its action."""
    p = t.seat[seat]
    if p.riichi == 0:
        update_waits(p)
    t.offer = NONE
    draw_replacement(t, seat)
    ask_turn(t)


@inner
def accept_riichi(t: np.record) -> None:
    """Complete a riichi whose discard nobody has won on: the declarer pays the stick, and its ippatsu begins."""
    if t.riichi_pending == 0:
        return
    seat = np.int64(t.turn)
    p = t.seat[seat]
    p.riichi = t.riichi_pending
    p.ippatsu = 1
    p.score -= RIICHI_STICK
    t.sticks += 1
    t.riichi_pending = 0
    log_event(t, pack(REACH_ACCEPTED, seat, seat, np.int64(0), np.int64(0), np.int64(0), np.int64(0)))


@inner
def clear_ippatsu(t: np.record) -> None:
    """End the ippatsu of all seats, as a call, kan or nukidora does."""
    for seat in range(3):
        t.seat[seat].ippatsu = 0
