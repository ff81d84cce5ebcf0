"""Scoring a hand that lies at a table: what `engine.scoring.hand` needs, read off the table."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.hand import add_tile
from engine.scoring.hand import count_dora, score_hand
from engine.scoring.yaku import BY_TSUMO, IN_DOUBLE_RIICHI, IN_RIICHI
from engine.table import DORA_AT, URA_AT
from engine.tiles import KIND_OF, TERMINALS_HONOURS


@inner
def is_kokushi(p: np.record) -> bool:
    """Whether a tenpai hand waits for kokushi: thirteen terminals and honours of twelve kinds or more."""
    kinds = tiles = 0
    for kind in TERMINALS_HONOURS:
        tiles += p.hand[kind]
        kinds += 1 if p.hand[kind] > 0 else 0
    return kinds >= 12 and tiles >= 13


@inner
def winning_han(t: np.record, seat: int, tile: int, situation: int) -> int:
    """Han without dora of `seat`'s hand completed by `tile` (already in the hand on tsumo); 0 where it has no yaku."""
    zero = np.int64(0)
    return _score(t, seat, np.int64(tile), situation, zero, zero, zero, zero, t.win[1])


@inner
def score_win(t: np.record, seat: int, tile: int, situation: int, win: np.record) -> int:
    """Fill `win` with the whole score of `seat`'s hand completed by `tile`: yaku, dora, han, fu, base points."""
    p = t.seat[seat]
    by_ron = (situation & BY_TSUMO) == 0
    if by_ron:
        add_tile(p, tile, np.int64(1))
    n = np.int64(t.n_indicators)
    dora = _dora(t, p, np.int64(DORA_AT), n)
    ura = _dora(t, p, np.int64(URA_AT), n) if situation & (IN_RIICHI | IN_DOUBLE_RIICHI) else np.int64(0)
    reds = np.int64(p.red[0]) + np.int64(p.red[1])
    for m in range(p.n_melds):
        reds += p.meld_red[m]
    if by_ron:
        add_tile(p, tile, np.int64(-1))
    return _score(t, seat, tile, situation, dora, reds, ura, np.int64(p.nukidora), win)


@inner
def _dora(t: np.record, p: np.record, first: int, n: int) -> int:
    """Doras of seat `p` by the `n` indicators that lie in the wall from `first` on."""
    return count_dora(p.hand, p.n_melds, p.meld_type, p.meld_kind, np.int64(p.nukidora), t.wall[first : first + 5], n)


@inner
def _score(
    t: np.record, seat: int, tile: int, situation: int, dora: int, reds: int, ura: int, nuki: int, win: np.record
) -> int:
    p = t.seat[seat]
    by_ron = (situation & BY_TSUMO) == 0
    if by_ron:
        add_tile(p, tile, np.int64(1))
    seat_wind = (seat - np.int64(t.dealer) + 3) % 3
    han = score_hand(
        p.hand,
        np.int64(p.n_melds),
        p.meld_type,
        p.meld_kind,
        KIND_OF[tile],
        np.int64(situation),
        seat_wind,
        np.int64(t.round_wind),
        dora,
        reds,
        ura,
        nuki,
        t.rules.double_yakuman != 0,
        win,
    )
    if by_ron:
        add_tile(p, tile, np.int64(-1))
    return han
