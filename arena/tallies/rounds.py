"""Counts a finished round from its event log, compiled."""

from __future__ import annotations

import numpy as np

from arena.luck import change
from arena.tallies import names as n
from arena.tallies.names import CALL, DAMA, RIICHI, points_bin
from arena.tallies.waits import shape_of
from engine.compiling import inner, kernel
from engine.events import (
    ADDS_MELD,
    ANKAN,
    DAHAI,
    DAIMINKAN,
    DRAW,
    KAKAN,
    NEW_DORA,
    NUKIDORA,
    PON,
    REACH_ACCEPTED,
    TYPES,
    USED,
    event_actor,
    event_tile,
    event_type,
    require_types,
)
from engine.hand import has_kind
from engine.rules import RIICHI_STICK
from engine.ryukyoku import EXHAUSTIVE, FOUR_KANS, KYUSHU_KYUHAI, NAGASHI_MANGAN
from engine.scoring.points import MANGAN_BASIC, YAKUMAN_BASIC
from engine.scoring.yaku import DORA, N_YAKU, NUKI_DORA, RED_DORA, URA_DORA
from engine.settle import game_ends, top_seat
from engine.shanten import shanten, waits
from engine.table import DEALT, DORA_AT, N_SEATS, TABLE
from engine.tiles import KIND_OF, N_KINDS, SANMA_KINDS

NONE_YET = -1
# Event that takes tiles from the hand -> its tally, or NO_TALLY. Norths set aside are counted at the end of the round.
NO_TALLY = -1
TALLY_OF = {
    DAHAI: NO_TALLY, NUKIDORA: NO_TALLY, PON: n.PONS, DAIMINKAN: n.DAIMINKANS, ANKAN: n.ANKANS, KAKAN: n.KAKANS,
}  # fmt: skip
require_types("TALLY_OF of arena/tallies/rounds.py", TALLY_OF, (row for row in TYPES if row.used))
CALLS = np.array([TALLY_OF.get(event, NO_TALLY) for event in range(len(USED))], dtype=np.int64)

# What is known of each seat during a round: rows of int64[N_FACTS, 3].
TURN, MELDS, TENPAI_SINCE, SHAPE, DISCARDED, CHASES = range(6)
N_FACTS = 6


@inner
def tally_riichi(t: np.record, seat: int, hand: np.ndarray, keys: np.ndarray, seen: np.ndarray, facts: np.ndarray,
                 own: np.ndarray) -> None:  # fmt: skip
    """Count an accepted riichi in ``own``, int32[N_TALLIES]; ``seen``: face-up tiles by kind, int64[34]."""
    n_melds = facts[MELDS, seat]
    kinds = np.uint64(waits(hand, keys, n_melds))
    n_kinds = n_tiles = np.int64(0)
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            n_kinds += 1
            n_tiles += 4 - hand[kind] - seen[kind]
    shape = shape_of(hand, keys, n_melds, kinds, n_kinds)
    facts[SHAPE, seat] = shape
    own[n.RIICHI_WAIT_KINDS] += n_kinds
    own[n.RIICHI_WAIT_TILES] += n_tiles
    own[n.RIICHIS_BY_SHAPE + shape] += 1
    own[n.RIICHIS_BY_TURN + facts[TURN, seat]] += 1
    own[n.DOUBLE_RIICHIS] += 1 if t.seat[seat].riichi == 2 else 0
    own[n.FURITEN_RIICHIS] += 1 if kinds & np.uint64(facts[DISCARDED, seat]) != np.uint64(0) else 0


@inner
def tally_order(seat: int, facts: np.ndarray, rows: np.ndarray, tallies: np.ndarray) -> None:
    """Count whether an accepted riichi of ``seat`` is the first or chases another."""
    first = np.int64(-1)
    n_before = 0
    for other in range(N_SEATS):
        if other != seat and facts[SHAPE, other] >= 0:
            n_before += 1
            if facts[CHASES, other] == 0:
                first = np.int64(other)
    facts[CHASES, seat] = 1 if n_before > 0 else 0
    tallies[rows[seat], n.FIRST_RIICHIS] += 1 if n_before == 0 else 0
    tallies[rows[seat], n.CHASING_RIICHIS] += 1 if n_before > 0 else 0
    if n_before == 1:
        tallies[rows[first], n.CHASED_RIICHIS] += 1


@inner
def tally_log(t: np.record, rows: np.ndarray, facts: np.ndarray, tallies: np.ndarray) -> None:
    """Follow the events of a round: calls, riichi and tenpai, and ``facts`` of each seat at the end."""
    hands, keys = np.zeros((N_SEATS, N_KINDS), dtype=np.int8), np.zeros((N_SEATS, 3), dtype=np.int32)
    seen = np.zeros(N_KINDS, dtype=np.int64)
    for i in range(DEALT):
        seat = (t.dealer + i // 13) % N_SEATS
        change(hands[seat], keys[seat], KIND_OF[t.wall[i]], np.int64(1))
    for seat in range(N_SEATS):
        note_tenpai(np.int64(seat), keys[seat], facts)
    seen[KIND_OF[t.wall[DORA_AT[0]]]] += 1
    for i in range(t.n_log):
        word = t.log[i]
        event, seat = event_type(word), event_actor(word)
        if event == DRAW:
            change(hands[seat], keys[seat], KIND_OF[t.wall[np.int64(word) >> np.int64(16)]], np.int64(1))
        elif USED[event] > 0:
            kind, used = KIND_OF[event_tile(word)], USED[event]
            change(hands[seat], keys[seat], kind, -used)
            seen[kind] += used
            if event == DAHAI:
                facts[TURN, seat] += 1
                facts[DISCARDED, seat] |= np.int64(1) << kind
                note_tenpai(seat, keys[seat], facts)
            else:
                facts[MELDS, seat] += 1 if ADDS_MELD[event] else 0
                if CALLS[event] != NO_TALLY:
                    tallies[rows[seat], CALLS[event]] += 1
        elif event == NEW_DORA:
            seen[KIND_OF[event_tile(word)]] += 1
        elif event == REACH_ACCEPTED:
            tally_order(seat, facts, rows, tallies)
            tally_riichi(t, seat, hands[seat], keys[seat], seen, facts, tallies[rows[seat]])
    for seat in range(N_SEATS):
        if facts[TENPAI_SINCE, seat] >= 0:
            tallies[rows[seat], n.TENPAIS] += 1
            tallies[rows[seat], n.TENPAIS_BY_TURN + facts[TENPAI_SINCE, seat]] += 1


@inner
def note_tenpai(seat: int, keys: np.ndarray, facts: np.ndarray) -> None:
    """Note the turn in which a 13-tile hand is first tenpai."""
    if facts[TENPAI_SINCE, seat] < 0 and shanten(keys, facts[MELDS, seat]) == 0:
        facts[TENPAI_SINCE, seat] = facts[TURN, seat]


@inner
def state_of(p: np.record) -> int:
    """How a hand is played: RIICHI, CALL or DAMA."""
    return np.int64(RIICHI) if p.riichi != 0 else np.int64(CALL) if p.open != 0 else np.int64(DAMA)


@inner
def tally_limit(win: np.record, own: np.ndarray) -> None:
    """Count a win of at least mangan; ``own``: of the winner, int32[N_TALLIES]."""
    if win.basic >= YAKUMAN_BASIC:
        own[n.YAKUMANS] += 1
        own[n.KAZOE_YAKUMANS] += 1 if win.yakuman == 0 else 0
    elif win.basic >= 3 * MANGAN_BASIC:
        own[n.SANBAIMANS] += 1
    elif win.basic >= 2 * MANGAN_BASIC:
        own[n.BAIMANS] += 1
    elif win.basic > MANGAN_BASIC:
        own[n.HANEMANS] += 1
    elif win.basic == MANGAN_BASIC:
        own[n.MANGANS] += 1


@inner
def tally_hand(t: np.record, win: np.record, facts: np.ndarray, own: np.ndarray) -> None:
    """Count a hand won; ``own``: of the winner, int32[N_TALLIES]."""
    seat = np.int64(win.winner)
    state = state_of(t.seat[seat])
    tsumo = 1 if win.winner == win.target else 0
    own[n.DAMA_WINS + state] += 1
    own[n.DAMA_WIN_POINTS + state] += win.points
    own[n.WINS_BY_POINTS + points_bin(np.int64(win.points))] += 1
    own[n.WINS_BY_TURN + max(facts[TURN, seat] + tsumo, 1)] += 1
    own[n.DORA_HAN] += win.yaku[DORA]
    own[n.RED_DORA_HAN] += win.yaku[RED_DORA]
    own[n.URA_DORA_HAN] += win.yaku[URA_DORA]
    own[n.NUKIDORA_HAN] += win.yaku[NUKI_DORA]
    for yaku in range(N_YAKU):
        own[n.WINS_BY_YAKU + yaku] += 1 if win.yaku[yaku] > 0 else 0
    tally_limit(win, own)
    if state == RIICHI:
        own[n.RIICHI_WINS_BY_SHAPE + facts[SHAPE, seat]] += 1
        own[n.CHASING_RIICHI_WINS if facts[CHASES, seat] else n.FIRST_RIICHI_WINS] += 1
    if seat == t.dealer:
        own[n.DEALER_WINS] += 1
        own[n.DEALER_WIN_POINTS] += win.points


@inner
def tally_deal_in(t: np.record, win: np.record, number: int, own: np.ndarray) -> None:
    """Count the hand of another that was won on a tile of a seat, as the first or second (``number`` 0 or 1)."""
    state, target = state_of(t.seat[win.winner]), t.seat[win.target]
    own[n.DAMA_DEAL_INS + state] += 1
    own[n.DAMA_DEAL_IN_POINTS + state] += win.points
    own[n.DEAL_INS_BY_POINTS + points_bin(np.int64(win.points))] += 1
    if number == 0:
        own[n.DEAL_INS_IN_RIICHI] += 1 if target.riichi != 0 else 0
        own[n.DEAL_INS_OPEN] += 1 if target.open != 0 else 0
    if win.target == t.dealer:
        own[n.DEALER_DEAL_INS] += 1 if number == 0 else 0
        own[n.DEALER_DEAL_IN_POINTS] += win.points


@inner
def tally_wins(t: np.record, rows: np.ndarray, facts: np.ndarray, tallies: np.ndarray) -> None:
    """Count the hands won in a round, for the winners and for those who pay."""
    for number in range(t.n_wins):
        win = t.win[number]
        winner = np.int64(win.winner)
        tally_hand(t, win, facts, tallies[rows[winner]])
        busts = False
        for seat in range(N_SEATS):
            own = tallies[rows[seat]]
            if seat == winner:
                continue
            busts = busts or t.seat[seat].score < 0
            if win.target == winner:
                own[n.TSUMO_LOSSES] += 1
                own[n.TSUMO_LOSS_POINTS] -= win.deltas[seat]
                own[n.DEALER_TSUMO_LOSSES] += 1 if seat == t.dealer else 0
                own[n.DEALER_TSUMO_LOSS_POINTS] -= win.deltas[seat] if seat == t.dealer else 0
            elif win.target == seat:
                tally_deal_in(t, win, np.int64(number), own)
        tallies[rows[winner], n.BUSTING_WINS] += 1 if busts else 0


@inner
def tally_end(t: np.record, seat: int, own: np.ndarray) -> None:
    """Count how a round ended for a seat, and what its score became; ``own``: of the seat, int32[N_TALLIES]."""
    p = t.seat[seat]
    net = p.score - p.start_score
    own[n.RIICHI_NET] += net if p.riichi != 0 else 0
    own[n.CALL_NET] += net if p.open != 0 else 0
    if seat == t.dealer:
        own[n.DEALER_ROUNDS] += 1
        own[n.DEALER_REPEATS] += 1 if t.dealer_stays else 0
    if t.n_wins > 0:
        return
    reason = np.int64(t.ryukyoku_reason)
    own[n.RIICHI_DRAWS] += 1 if p.riichi != 0 else 0
    if reason in (EXHAUSTIVE, NAGASHI_MANGAN):
        own[n.EXHAUSTIVE_DRAWS] += 1
        own[n.DRAWS_TENPAI] += 1 if t.ryukyoku_tenpai[seat] else 0
        own[n.DRAW_POINTS] += t.ryukyoku_deltas[seat]
        own[n.NAGASHIS] += 1 if reason == NAGASHI_MANGAN and p.nagashi else 0
    own[n.FOUR_KAN_DRAWS] += 1 if reason == FOUR_KANS else 0
    own[n.KYUSHUS] += 1 if reason == KYUSHU_KYUHAI and seat == t.turn else 0


@inner
def place_of(scores: np.ndarray, seat: int) -> int:
    """The place of a seat, from 0, by ``scores``, int64[3]; ties go to the seat nearer the first dealer."""
    place = np.int64(0)
    for other in range(N_SEATS):
        if scores[other] > scores[seat] or (scores[other] == scores[seat] and other < seat):
            place += 1
    return place


@inner
def tally_game(t: np.record, rows: np.ndarray, behind: np.ndarray, tallies: np.ndarray) -> None:
    """Note who began the round far ``behind``, bool[3]; if the game ends with it, count how the places changed."""
    before, after = np.zeros(N_SEATS, dtype=np.int64), np.zeros(N_SEATS, dtype=np.int64)
    for seat in range(N_SEATS):
        before[seat], after[seat] = t.seat[seat].start_score, t.seat[seat].score
    for seat in range(N_SEATS):
        behind[seat] |= before[seat] <= before.max() - n.COMEBACK
    if not game_ends(t):
        return
    after[top_seat(t)] += RIICHI_STICK * t.sticks
    for seat in range(N_SEATS):
        own, place = tallies[rows[seat]], place_of(after, np.int64(seat))
        own[n.GAMES_BY_PLACES + N_SEATS * place_of(before, np.int64(seat)) + place] += 1
        own[n.BEHIND_GAMES] += 1 if behind[seat] else 0
        own[n.COMEBACKS] += 1 if behind[seat] and place == 0 else 0


@kernel("uint8[::1], int64[::1], int64[:, ::1], bool_[:, ::1], int32[:, ::1]")
def tally_rounds(raw: np.ndarray, ended: np.ndarray, rows: np.ndarray, behind: np.ndarray, tallies: np.ndarray) -> None:
    """Add the rounds that have just ended on the tables ``ended``, int64[m], to ``tallies``, int32[:, N_TALLIES].

    ``raw``: all tables, uint8[tables * TABLE.itemsize]. ``rows``: which row is that of each seat, int64[tables, 3].
    ``behind``: who has begun a round of its game far behind, bool[tables, 3]; all False at the start of a game.
    """
    tables = raw.view(TABLE)
    facts = np.zeros((N_FACTS, N_SEATS), dtype=np.int64)
    for k in range(len(ended)):
        i = ended[k]
        facts[:] = 0
        facts[TENPAI_SINCE] = facts[SHAPE] = NONE_YET
        tally_log(tables[i], rows[i], facts, tallies)
        tally_wins(tables[i], rows[i], facts, tallies)
        for seat in range(N_SEATS):
            tally_end(tables[i], np.int64(seat), tallies[rows[i, seat]])
        tally_game(tables[i], rows[i], behind[i], tallies)
