"""The end of a round: wins and ryukyoku with their payments, and whether the game is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine import ryukyoku
from engine.compiling import inner
from engine.events import END_KYOKU, HORA, RYUKYOKU, pack
from engine.legal import ron_situation, tsumo_situation
from engine.rules import N_SEATS, NOTEN_POOL, RIICHI_STICK, TARGET_POINTS
from engine.scoring.points import MANGAN_BASIC, YAKUMAN_BASIC, payment
from engine.scoring.table_scoring import score_win
from engine.scoring.yaku import DAISANGEN, DAISUUSHII, YAKUMAN_HAN
from engine.table import ROUND_OVER
from engine.tiles import NONE
from engine.wall import log_event

HONBA_PER_PAYER = 100  # the discarder pays for both on ron. Source: Tenhou records


@inner
def pao_seat(p: np.record, win: np.record) -> int:
    """The seat liable (pao) for the daisangen or daisuushii of this win by `p`, or NONE."""
    if win.yaku[DAISANGEN] > 0 and p.pao_daisangen >= 0:
        return np.int64(p.pao_daisangen)
    if win.yaku[DAISUUSHII] > 0 and p.pao_daisuushii >= 0:
        return np.int64(p.pao_daisuushii)
    return np.int64(NONE)


@inner
def pao_basic(t: np.record, win: np.record) -> int:
    """Base points that the liable seat pays for: the whole hand (Tenhou) or the pao yakuman alone (Mahjong Soul)."""
    if t.rules.pao_covers_all:
        return np.int64(win.basic)
    liable = DAISANGEN if win.yaku[DAISANGEN] > 0 else DAISUUSHII
    return YAKUMAN_BASIC * np.int64(win.yaku[liable]) // YAKUMAN_HAN


@inner
def tsumo_share(t: np.record, winner: int, payer: int, basic: int) -> int:
    """What `payer` pays for a tsumo of `basic` base points; nobody pays the absent north's share (tsumo loss)."""
    return payment(basic, np.int64(2) if winner == t.dealer or payer == t.dealer else np.int64(1))


@inner
def settle_tsumo(t: np.record, winner: int, basic: int, win: np.record, payer: int) -> None:
    """Add a tsumo of `basic` base points to `win`. A liable `payer` pays all; if it is NONE, each seat its share."""
    for seat in range(3):
        if seat != winner:
            share = tsumo_share(t, winner, np.int64(seat), basic)
            win.points += share
            win.deltas[winner] += share
            win.deltas[payer if payer >= 0 else seat] -= share


@inner
def settle_ron(t: np.record, winner: int, basic: int, win: np.record, payer: int) -> None:
    """Add a ron of `basic` base points to `win`; a liable `payer`, if not NONE, pays half of it."""
    points = payment(basic, np.int64(6) if winner == t.dealer else np.int64(4))
    win.points += points
    win.deltas[winner] += points
    half = points // 2 if payer >= 0 else np.int64(0)
    win.deltas[win.target] -= points - half
    if payer >= 0:
        win.deltas[payer] -= half


@inner
def settle_win(t: np.record, winner: int, target: int, tile: int) -> None:
    """Score and pay one win on `tile`. The first win of a round takes the honba and the riichi sticks."""
    win = t.win[t.n_wins]
    situation = tsumo_situation(t, winner) if winner == target else ron_situation(t, winner)
    score_win(t, winner, tile, situation, win)
    win.winner, win.target, win.tile = winner, target, tile
    win.points = 0
    win.deltas[:] = 0
    liable = pao_seat(t.seat[winner], win)
    win.pao = liable
    covered = pao_basic(t, win) if liable >= 0 else np.int64(0)
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
    log_event(t, pack(HORA, winner, target, tile, np.int64(0), np.int64(0), np.int64(t.n_wins)))
    t.n_wins += 1


@inner
def pay_honba_and_sticks(t: np.record, win: np.record, liable: int) -> None:
    """Pay honba (100 from each on tsumo, 200 from the discarder on ron, 200 from a liable seat) and riichi sticks."""
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
    """No tiles left: nagashi mangan, or noten payments of 2,000 points in all to the seats in tenpai."""
    n_tenpai = np.int64(0)
    nagashi = False
    for seat in range(3):
        tenpai = t.seat[seat].waits != np.uint64(0)
        t.ryukyoku_tenpai[seat] = tenpai
        n_tenpai += 1 if tenpai else 0
        nagashi = nagashi or t.seat[seat].nagashi != 0
    if nagashi:
        pay_nagashi(t)
    elif 0 < n_tenpai < 3:
        for seat in range(3):
            t.ryukyoku_deltas[seat] = (
                NOTEN_POOL // n_tenpai if t.ryukyoku_tenpai[seat] else -NOTEN_POOL // (3 - n_tenpai)
            )
    t.dealer_stays = t.ryukyoku_tenpai[t.dealer]
    end_in_ryukyoku(t, np.int64(ryukyoku.NAGASHI_MANGAN if nagashi else ryukyoku.EXHAUSTIVE))


@inner
def pay_nagashi(t: np.record) -> None:
    """Pay each seat with nagashi mangan a mangan tsumo without honba."""
    for winner in range(3):
        if t.seat[winner].nagashi:
            for seat in range(3):
                if seat != winner:
                    share = tsumo_share(t, np.int64(winner), np.int64(seat), np.int64(MANGAN_BASIC))
                    t.ryukyoku_deltas[winner] += share
                    t.ryukyoku_deltas[seat] -= share


@inner
def abortive_draw(t: np.record, reason: int) -> None:
    """End the round without payments; the dealer repeats. `reason` is a number of `engine.ryukyoku`."""
    t.dealer_stays = 1
    end_in_ryukyoku(t, reason)


@inner
def end_in_ryukyoku(t: np.record, reason: int) -> None:
    """Pay `ryukyoku_deltas`, log the ryukyoku with its `reason`, and end the round."""
    t.ryukyoku_reason = reason
    for seat in range(3):
        t.seat[seat].score += t.ryukyoku_deltas[seat]
    actor = np.int64(t.turn)
    log_event(t, pack(RYUKYOKU, actor, actor, np.int64(0), np.int64(0), np.int64(0), reason))
    end_round(t)


@inner
def end_round(t: np.record) -> None:
    """End the round: phase ROUND_OVER, nobody is asked."""
    log_event(t, pack(END_KYOKU, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)))
    t.phase = ROUND_OVER
    t.legal[:] = np.uint64(0)
    t.riichi_pending = 0


@inner
def top_seat(t: np.record) -> int:
    """The seat with rank 1; ties go to the seat nearer the first dealer."""
    top = np.int64(0)
    for seat in range(1, 3):
        if t.seat[seat].score > t.seat[top].score:
            top = np.int64(seat)
    return top


@inner
def place_of(scores: Sequence[int] | np.ndarray, seat: int) -> int:
    """The place of a seat, from 1, by three `scores`; ties go to the seat nearer the first dealer."""
    place = np.int64(1)
    for other in range(N_SEATS):
        if scores[other] > scores[seat] or (scores[other] == scores[seat] and other < seat):
            place += 1
    return place


@inner
def game_ends(t: np.record) -> bool:
    """Whether the game is over after the round just settled. Source: Tenhou.

    A seat below zero ends it. In the last scheduled round (South 3; East 3 in an East-only game) or later it ends

    * if the dealer repeats by a win or tenpai (not by an abortive draw) and is top with 40,000;
    * if the dealer does not repeat and a seat has 40,000, or the round was West 3 (South 3 in an East-only game).
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
        aborted = t.ryukyoku_reason == ryukyoku.KYUSHU_KYUHAI or t.ryukyoku_reason == ryukyoku.FOUR_KANS
        return enough and top == t.dealer and not aborted
    return enough or (t.round_wind > last_wind and t.dealer == 2)
