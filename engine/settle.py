"""Payments, and what follows a round: wins, draws, the next round, the end of the game."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.events import END_KYOKU, HORA, RYUKYOKU, pack
from engine.legal import ron_situation, tsumo_situation
from engine.rules import NOTEN_POOL, RIICHI_STICK, TARGET_POINTS
from engine.scoring.points import payment
from engine.scoring.table_scoring import score_win
from engine.scoring.yaku import DAISANGEN, DAISUUSHII
from engine.table import EXHAUSTIVE, FOUR_KANS, NAGASHI, NINE_KINDS, ROUND_OVER
from engine.tiles import NONE
from engine.wall import append

YAKUMAN_BASIC = 8_000
MANGAN_BASIC = 2_000
HONBA_PER_PAYER = 100  # ron 200: as much as both payers would give. Source: Tenhou records


@inner
def liable_seat(p: np.record, win: np.record) -> int:
    """The seat liable for a yakuman of this win (pao: daisangen and daisuushii only), or NONE."""
    if win.yaku[DAISANGEN] > 0 and p.pao_daisangen >= 0:
        return np.int64(p.pao_daisangen)
    if win.yaku[DAISUUSHII] > 0 and p.pao_daisuushii >= 0:
        return np.int64(p.pao_daisuushii)
    return np.int64(NONE)


@inner
def liable_basic(t: np.record, win: np.record) -> int:
    """Base points the liable seat answers for: the whole hand (Tenhou) or the liable yakuman alone (Mahjong Soul)."""
    if t.rules.pao_covers_all:
        return np.int64(win.basic)
    liable = DAISANGEN if win.yaku[DAISANGEN] > 0 else DAISUUSHII
    return YAKUMAN_BASIC * np.int64(win.yaku[liable]) // 13


@inner
def tsumo_share(t: np.record, winner: int, payer: int, basic: int) -> int:
    """What `payer` owes for a tsumo. The missing north's share is simply not paid (tsumo loss)."""
    return payment(basic, np.int64(2) if winner == t.dealer or payer == t.dealer else np.int64(1))


@inner
def settle_tsumo(t: np.record, winner: int, basic: int, win: np.record, payer: int) -> None:
    """Add to the deltas of `win` a tsumo worth `basic` base points; `payer` pays all of it unless NONE."""
    for seat in range(3):
        if seat != winner:
            share = tsumo_share(t, winner, np.int64(seat), basic)
            win.points += share
            win.deltas[winner] += share
            win.deltas[payer if payer >= 0 else seat] -= share


@inner
def settle_ron(t: np.record, winner: int, basic: int, win: np.record, payer: int) -> None:
    """Add to the deltas of `win` a ron worth `basic`; a liable `payer` and the discarder share it half and half."""
    points = payment(basic, np.int64(6) if winner == t.dealer else np.int64(4))
    win.points += points
    win.deltas[winner] += points
    half = points // 2 if payer >= 0 else np.int64(0)
    win.deltas[win.target] -= points - half
    if payer >= 0:
        win.deltas[payer] -= half


@inner
def settle_win(t: np.record, winner: int, target: int, tile: int) -> None:
    """Score and pay one win. The first of a round takes honba and sticks."""
    win = t.win[t.n_wins]
    situation = tsumo_situation(t, winner) if winner == target else ron_situation(t, winner)
    score_win(t, winner, tile, situation, win)
    win.winner, win.target, win.tile = winner, target, tile
    win.points = 0
    win.deltas[:] = 0
    liable = liable_seat(t.seat[winner], win)
    win.pao = liable
    covered = liable_basic(t, win) if liable >= 0 else np.int64(0)
    basic = np.int64(win.basic)
    if winner == target:
        if covered > 0:
            settle_tsumo(t, winner, covered, win, liable)
        if basic > covered:
            settle_tsumo(t, winner, basic - covered, win, np.int64(NONE))
    else:
        if covered > 0:
            settle_ron(t, winner, covered, win, liable)
        if basic > covered:
            settle_ron(t, winner, basic - covered, win, np.int64(NONE))
    if t.n_wins == 0:
        pay_honba_and_sticks(t, win, liable)
    for seat in range(3):
        t.seat[seat].score += win.deltas[seat]
    append(t, pack(HORA, winner, target, tile, np.int64(0), np.int64(0), np.int64(t.n_wins)))
    t.n_wins += 1


@inner
def pay_honba_and_sticks(t: np.record, win: np.record, liable: int) -> None:
    """Honba from each payer on tsumo, 200 from the discarder on ron, all from a liable seat. Sticks to the winner."""
    for seat in range(3):
        if seat != win.winner:
            payer = liable if liable >= 0 else np.int64(seat if win.target == win.winner else win.target)
            win.deltas[payer] -= HONBA_PER_PAYER * t.honba
            win.deltas[win.winner] += HONBA_PER_PAYER * t.honba
    win.deltas[win.winner] += RIICHI_STICK * t.sticks
    t.sticks = 0


@inner
def tsumo(t: np.record) -> None:
    """The seat on turn wins on the drawn tile."""
    winner = np.int64(t.turn)
    settle_win(t, winner, winner, np.int64(t.drawn))
    t.dealer_stays = winner == t.dealer
    end_round(t)


@inner
def ron(t: np.record, first: bool, second: bool) -> None:
    """The next seat (`first`), the one after (`second`) or both win on the tile on offer."""
    target = np.int64(t.turn)
    t.dealer_stays = 0
    for step in range(1, 3):
        if (step == 1 and first) or (step == 2 and second):
            winner = (target + step) % 3
            settle_win(t, winner, target, np.int64(t.offer))
            if winner == t.dealer:
                t.dealer_stays = 1
    end_round(t)


@inner
def exhaustive_draw(t: np.record) -> None:
    """No tiles left: nagashi mangan, or 2,000 points from those without tenpai to those with it."""
    n_tenpai = np.int64(0)
    nagashi = False
    for seat in range(3):
        tenpai = t.seat[seat].waits != np.uint64(0)
        t.draw_tenpai[seat] = tenpai
        n_tenpai += 1 if tenpai else 0
        nagashi = nagashi or t.seat[seat].nagashi != 0
    if nagashi:
        pay_nagashi(t)
    elif 0 < n_tenpai < 3:
        for seat in range(3):
            t.draw_deltas[seat] = NOTEN_POOL // n_tenpai if t.draw_tenpai[seat] else -NOTEN_POOL // (3 - n_tenpai)
    t.dealer_stays = t.draw_tenpai[t.dealer]
    end_draw(t, np.int64(NAGASHI) if nagashi else np.int64(EXHAUSTIVE))


@inner
def pay_nagashi(t: np.record) -> None:
    """Each seat whose discards were all terminals and honours, none called, gets a mangan tsumo without honba."""
    for winner in range(3):
        if t.seat[winner].nagashi:
            for seat in range(3):
                if seat != winner:
                    share = tsumo_share(t, np.int64(winner), np.int64(seat), np.int64(MANGAN_BASIC))
                    t.draw_deltas[winner] += share
                    t.draw_deltas[seat] -= share


@inner
def abort(t: np.record, reason: int) -> None:
    """The round ends without payments and is played again by the same dealer."""
    t.dealer_stays = 1
    end_draw(t, reason)


@inner
def end_draw(t: np.record, reason: int) -> None:
    """Apply and log a draw."""
    t.draw_reason = reason
    for seat in range(3):
        t.seat[seat].score += t.draw_deltas[seat]
    actor = np.int64(t.turn)
    append(t, pack(RYUKYOKU, actor, actor, np.int64(0), np.int64(0), np.int64(0), reason))
    end_round(t)


@inner
def end_round(t: np.record) -> None:
    """The round is over; `engine.turn.next_round` goes on."""
    append(t, pack(END_KYOKU, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)))
    t.phase = ROUND_OVER
    t.legal[:] = np.uint64(0)
    t.riichi_pending = 0


@inner
def top_seat(t: np.record) -> int:
    """The seat in first place; ties go to the seat nearer the first dealer."""
    top = np.int64(0)
    for seat in range(1, 3):
        if t.seat[seat].score > t.seat[top].score:
            top = np.int64(seat)
    return top


@inner
def game_ends(t: np.record) -> bool:
    """Whether the game is over after the settled round.

    Source: Tenhou. Somebody is below zero; or, in the last scheduled round or later, the dealer stays, is top with
    40,000 and won or was tenpai (an abortive draw never ends the game), or the deal passes and somebody has 40,000, or
    West 3 (South 3 in an East-only game) is over.
    """
    for seat in range(3):
        if t.seat[seat].score < 0:
            return True
    last_wind = t.rules.last_wind
    if t.round_wind < last_wind or (t.round_wind == last_wind and t.dealer < 2):
        return False
    top = top_seat(t)
    enough = t.seat[top].score >= TARGET_POINTS
    if t.dealer_stays:
        return enough and top == t.dealer and t.draw_reason != NINE_KINDS and t.draw_reason != FOUR_KANS
    return enough or (t.round_wind > last_wind and t.dealer == 2)
