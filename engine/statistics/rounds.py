"""The fold over a finished round: what happened to each seat, read from the table and its event log, compiled.

All statistics are sums over these rows, so this is the only place that looks at a round to count anything.
"""

from __future__ import annotations

import numpy as np

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
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.ryukyoku import EXHAUSTIVE, KYUSHU_KYUHAI, NAGASHI_MANGAN, RYUKYOKU
from engine.scoring.yaku import N_YAKU
from engine.settle import game_ends, place_of, top_seat
from engine.shanten import shanten, waits
from engine.statistics.hands import change
from engine.statistics.waits import shape_of
from engine.table import DEALT, DORA_AT, N_SEATS, TABLE, record
from engine.tiles import KIND_OF, N_KINDS, SANMA_KINDS

DAMA, RIICHI, CALL = range(3)  # how a hand is played: closed and without riichi, in riichi, with an open meld
TSUMO, RON = 0, len(RYUKYOKU) + 1  # how a round ended, in addition to the numbers of engine.ryukyoku
MAX_WINS = 2  # of a round
NEVER = -1
FAR_BEHIND = 20_000  # points
# What takes tiles from a hand: `read_log` counts calls, `read_seat` Norths set aside.
require_types(
    "read_log of engine/statistics/rounds.py",
    (DAHAI, NUKIDORA, PON, DAIMINKAN, ANKAN, KAKAN),
    (row for row in TYPES if row.used),
)

# A round of one seat. What is of a win is 0 without one; a turn is a number of own discards.
ROUND = record([
    ("start_score", "i4"), ("change", "i4"),  # with honba and riichi sticks
    ("points", "i4"), ("basic", "i4"),  # of the hand won, without honba and sticks; before multiplication by payer
    ("deal_in_points", "i4"),  # value of all that others won on a tile of this seat
    ("lost_points", "i4", MAX_WINS), ("lost_to", "i1", MAX_WINS),  # of each of these hands, and how it was played
    ("honba", "i2"), ("sticks", "i2"),  # of the table, at the start
    ("han", "i2"), ("fu", "i2"), ("yakuman", "i1"), ("yaku", "i1", N_YAKU),  # of the hand won
    ("round_wind", "i1"), ("dealer", "i1"),
    ("result", "i1"),  # TSUMO, RON, or a number of engine.ryukyoku
    ("won", "?"), ("win_turn", "i1"),  # discards before, plus one by tsumo, at least 1
    ("dealt_in", "?"),
    ("played", "i1"),  # DAMA, RIICHI or CALL at the end
    ("riichi_turn", "i1"),  # of the declaring discard, from 1; 0 without an accepted riichi
    ("double_riichi", "?"), ("chasing", "?"), ("chased", "?"),  # it followed another; another followed this, the first
    ("furiten", "?"), ("wait", "i1"), ("wait_kinds", "i1"), ("wait_tiles", "i1"),  # of the riichi, see `read_riichi`
    ("open", "?"), ("nukidora", "i1"), ("pons", "i1"), ("daiminkans", "i1"), ("ankans", "i1"), ("kakans", "i1"),
    ("tenpai_turn", "i1"),  # discards until the hand was first tenpai, 0 as dealt; NEVER
    ("tenpai", "?"), ("nagashi", "?"),  # when no tiles were left
    ("kyushu", "?"),  # this seat ended the round
    ("repeats", "?"),  # the dealer does
    ("behind", "?"),  # FAR_BEHIND the first at the start
    ("start_place", "i1"), ("final_place", "i1"),  # 1 to 3; 0: the game goes on
])  # fmt: skip


@inner
def note_tenpai(row: np.record, keys: np.ndarray, n_melds: int, turn: int) -> None:
    """Note the turn in which a 13-tile hand is first tenpai."""
    if row.tenpai_turn == NEVER and shanten(keys, n_melds) == 0:
        row.tenpai_turn = turn


@inner
def read_riichi(
    rows: np.ndarray, seat: int, hand: np.ndarray, keys: np.ndarray, n_melds: int, seen: np.ndarray, discarded: int
) -> None:
    """Write what kind of riichi has just been accepted.

    ``seen``: face-up tiles by kind, int64[34]; ``discarded``: kinds that the seat has discarded. The wait has the kinds
    that complete the hand, with a yaku or not, and those of their tiles that are neither in the hand nor face up.
    """
    row, n_before = rows[seat], 0
    for other in range(N_SEATS):
        if other != seat and rows[other].riichi_turn > 0:
            n_before += 1
            rows[other].chased = rows[other].chased or not rows[other].chasing
    row.chasing = n_before > 0
    kinds = np.uint64(waits(hand, keys, n_melds))
    n_kinds = n_tiles = np.int64(0)
    for kind in SANMA_KINDS:
        if has_kind(kinds, kind):
            n_kinds += 1
            n_tiles += 4 - hand[kind] - seen[kind]
    row.wait_kinds, row.wait_tiles = n_kinds, n_tiles
    row.wait = shape_of(hand, keys, n_melds, kinds, n_kinds)
    row.furiten = kinds & np.uint64(discarded) != np.uint64(0)


@inner
def read_log(t: np.record, rows: np.ndarray) -> None:
    """Follow the hands through the events: calls, riichi and tenpai."""
    hands, keys = np.zeros((N_SEATS, N_KINDS), dtype=np.int8), np.zeros((N_SEATS, 3), dtype=np.int32)
    seen, discarded = np.zeros(N_KINDS, dtype=np.int64), np.zeros(N_SEATS, dtype=np.int64)
    turns, n_melds = np.zeros(N_SEATS, dtype=np.int64), np.zeros(N_SEATS, dtype=np.int64)
    for i in range(DEALT):
        seat = (t.dealer + i // 13) % N_SEATS
        change(hands[seat], keys[seat], KIND_OF[t.wall[i]], np.int64(1))
    for seat in range(N_SEATS):
        rows[seat].tenpai_turn = NEVER
        note_tenpai(rows[seat], keys[seat], np.int64(0), np.int64(0))
    seen[KIND_OF[t.wall[DORA_AT[0]]]] += 1
    for i in range(t.n_log):
        word = t.log[i]
        event, seat = event_type(word), event_actor(word)
        row = rows[seat]
        if event == DRAW:
            change(hands[seat], keys[seat], KIND_OF[t.wall[np.int64(word) >> np.int64(16)]], np.int64(1))
        elif USED[event] > 0:
            kind, used = KIND_OF[event_tile(word)], USED[event]
            change(hands[seat], keys[seat], kind, -used)
            seen[kind] += used
            if event == DAHAI:
                turns[seat] += 1
                discarded[seat] |= np.int64(1) << kind
                note_tenpai(row, keys[seat], n_melds[seat], turns[seat])
            else:
                n_melds[seat] += 1 if ADDS_MELD[event] else 0
                row.pons += 1 if event == PON else 0
                row.daiminkans += 1 if event == DAIMINKAN else 0
                row.ankans += 1 if event == ANKAN else 0
                row.kakans += 1 if event == KAKAN else 0
        elif event == NEW_DORA:
            seen[KIND_OF[event_tile(word)]] += 1
        elif event == REACH_ACCEPTED:
            row.riichi_turn = turns[seat]
            read_riichi(rows, seat, hands[seat], keys[seat], n_melds[seat], seen, discarded[seat])


@inner
def read_win(t: np.record, number: int, rows: np.ndarray) -> None:
    """Write a hand that was won, for the winner and for who dealt in to it."""
    win = t.win[number]
    row, tsumo = rows[win.winner], win.winner == win.target
    row.won = True
    row.points, row.basic = win.points, win.basic
    row.han, row.fu, row.yakuman = win.han, win.fu, win.yakuman
    for yaku in range(N_YAKU):
        row.yaku[yaku] = win.yaku[yaku]
    row.win_turn = max(t.seat[win.winner].n_river + (1 if tsumo else 0), 1)
    if not tsumo:
        lost = rows[win.target]
        lost.dealt_in = True
        lost.deal_in_points += win.points
        lost.lost_points[number] = win.points
        lost.lost_to[number] = row.played


@inner
def read_seat(t: np.record, seat: int, row: np.record) -> None:
    """Write what the table says of a seat."""
    p = t.seat[seat]
    row.round_wind, row.dealer, row.honba = t.round_wind, t.dealer, t.honba
    row.start_score, row.change = p.start_score, p.score - p.start_score
    row.open, row.nukidora = p.open != 0, p.nukidora
    row.played = RIICHI if p.riichi != 0 else CALL if p.open != 0 else DAMA
    row.double_riichi = p.riichi == 2
    row.repeats = seat == t.dealer and t.dealer_stays != 0
    if t.n_wins > 0:
        row.result = TSUMO if t.win[0].winner == t.win[0].target else RON
        return
    row.result = t.ryukyoku_reason
    exhaustive = t.ryukyoku_reason == EXHAUSTIVE or t.ryukyoku_reason == NAGASHI_MANGAN
    row.tenpai = exhaustive and t.ryukyoku_tenpai[seat] != 0
    row.nagashi = t.ryukyoku_reason == NAGASHI_MANGAN and p.nagashi != 0
    row.kyushu = t.ryukyoku_reason == KYUSHU_KYUHAI and seat == t.turn


@inner
def read_places(t: np.record, rows: np.ndarray) -> None:
    """Write the places at the start of the round and, if the game ends with it, at the end."""
    before, after = np.zeros(N_SEATS, dtype=np.int64), np.zeros(N_SEATS, dtype=np.int64)
    for seat in range(N_SEATS):
        before[seat], after[seat] = t.seat[seat].start_score, t.seat[seat].score
    ends = game_ends(t)
    after[top_seat(t)] += RIICHI_STICK * t.sticks
    for seat in range(N_SEATS):
        row = rows[seat]
        row.sticks = (TOTAL_POINTS - before.sum()) // RIICHI_STICK
        row.behind = before[seat] <= before.max() - FAR_BEHIND
        row.start_place = place_of(before, np.int64(seat))
        row.final_place = place_of(after, np.int64(seat)) if ends else np.int64(0)


@kernel("uint8[::1], int64[::1], uint8[::1]")
def read_rounds(raw: np.ndarray, ended: np.ndarray, rows: np.ndarray) -> None:
    """Write the rounds that have just ended on the tables ``ended``, int64[m], to ``rows``, which are zero.

    ``raw``: all tables, uint8[tables * TABLE.itemsize]; ``rows``: uint8[m * 3 * ROUND.itemsize].
    """
    tables, every = raw.view(TABLE), rows.view(ROUND)
    for k in range(len(ended)):
        t, own = tables[ended[k]], every[N_SEATS * k : N_SEATS * k + N_SEATS]
        read_log(t, own)
        for seat in range(N_SEATS):
            read_seat(t, np.int64(seat), own[seat])
        for number in range(t.n_wins):
            read_win(t, np.int64(number), own)
        read_places(t, own)


def rounds_of(raw: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """The rounds that have just ended on the tables ``ended``, int64[m]: ROUND[m, seats].

    ``raw``: all tables, uint8[tables * TABLE.itemsize].
    """
    rows = np.zeros((len(ended), N_SEATS), dtype=ROUND)
    read_rounds(raw, ended, rows.reshape(-1).view(np.uint8))
    return rows


def add_round(rounds: list[np.ndarray], table: np.ndarray) -> None:
    """Add the round that has just ended on a ``table``, uint8[TABLE.itemsize], to ``rounds``, as ROUND[1, seats]."""
    rounds.append(rounds_of(table, np.zeros(1, dtype=np.int64)))
