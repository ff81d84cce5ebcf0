"""Score the hand of a seat at a table: reads what `engine.scoring.hand` needs from the TABLE record."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.hand import add_tile
from engine.scoring.hand import count_dora, score_hand
from engine.scoring.yaku import BY_TSUMO, IN_DOUBLE_RIICHI, IN_RIICHI
from engine.table import DORA_AT, URA_AT, seat_wind
from engine.tiles import KIND_OF, TERMINALS_HONOURS


@inner
def is_kokushi(p: np.record) -> bool:
    """Whether a tenpai hand is tenpai for kokushi: 13 terminals and honours of at least twelve kinds."""
    kinds = tiles = 0
    for kind in TERMINALS_HONOURS:
        tiles += p.hand[kind]
        kinds += 1 if p.hand[kind] > 0 else 0
    return kinds >= 12 and tiles >= 13


@inner
def winning_han(t: np.record, seat: int, tile: int, situation: int) -> int:
    """Han without dora of a win of `seat` on `tile` (in the hand already on tsumo); 0 without yaku. Uses `t.win[1]`."""
    zero = np.int64(0)
    return _score(t, seat, np.int64(tile), situation, zero, zero, zero, zero, t.win[1])


@inner
def score_win(t: np.record, seat: int, tile: int, situation: int, win: np.record) -> int:
    """Write the score of a win of `seat` on `tile` into `win`: yaku, dora, han, fu and base points; returns the han."""
    p = t.seat[seat]
    by_ron = (situation & BY_TSUMO) == 0
    if by_ron:
        add_tile(p, tile, np.int64(1))
    n = np.int64(t.n_indicators)
    dora = _dora(t, p, DORA_AT, n)
    ura = _dora(t, p, URA_AT, n) if situation & (IN_RIICHI | IN_DOUBLE_RIICHI) else np.int64(0)
    reds = np.int64(p.red[0]) + np.int64(p.red[1])
    for m in range(p.n_melds):
        reds += p.meld_red[m]
    if by_ron:
        add_tile(p, tile, np.int64(-1))
    return _score(t, seat, tile, situation, dora, reds, ura, np.int64(p.nukidora), win)


@inner
def _dora(t: np.record, p: np.record, at: np.ndarray, n: int) -> int:
    """Dora count of seat record `p` for the first `n` of the indicators at the indices `at` of the wall."""
    count = np.int64(0)
    for i in range(n):
        indicator = np.int64(t.wall[at[i]])
        count += count_dora(p.hand, p.n_melds, p.meld_type, p.meld_kind, np.int64(p.nukidora), indicator)
    return count


@inner
def _score(
    t: np.record, seat: int, tile: int, situation: int, dora: int, reds: int, ura: int, nuki: int, win: np.record
) -> int:
    p = t.seat[seat]
    by_ron = (situation & BY_TSUMO) == 0
    if by_ron:
        add_tile(p, tile, np.int64(1))
    han = score_hand(
        p.hand,
        np.int64(p.n_melds),
        p.meld_type,
        p.meld_kind,
        KIND_OF[tile],
        np.int64(situation),
        seat_wind(t, seat),
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
