"""A position in the middle of a round of which only the seat's own tiles are known: rivers are empty.

The first turn is over, so that no win counts as tenhou, no riichi as double riichi, and nobody may abort the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.common.error_text import error_text
from engine.compiling import kernel
from engine.events import DRAW, pack
from engine.hand import add_tile
from engine.melds import add_meld
from engine.mjai.kinds import HAND_SIZE
from engine.positions.history import hand_size_error, kans_more, start
from engine.positions.notation import ANKAN, MELD_TYPES, PositionError, Step
from engine.positions.position import USUAL_LEFT, Position, check_number
from engine.rules import N_DRAWS, N_SEATS
from engine.table import DORA_AT, MAX_MELDS, PON_MELD, TABLE, packed_rules
from engine.tiles import KIND_OF, N_KINDS, NONE, NORTH, UNKNOWN, WINDS
from engine.turn import ask_turn, deal_round, update_waits
from engine.view import blank_for
from engine.wall import live_index, log_event, show_indicator

PLACEHOLDER = 0  # a 1m, in place of a hidden tile until it is blanked


@kernel("uint8[::1], int64[::1], int64[:, ::1], int64, int64, int64[::1]")
def lay_out(
    raw: np.ndarray, tiles: np.ndarray, melds: np.ndarray, norths: int, left: int, indicators: np.ndarray
) -> None:
    """Lay the viewer's tiles into the view in `raw`, whose viewer, round and scores are set, and ask the viewer.

    `tiles`: tile37 of its hand, the drawn one last. `melds` int64[n, 5]: meld type, kind, red fives, tile called and
    the seat that it was called from. `left`: draws left. `indicators`: tile37.
    """
    t = raw.view(TABLE)[0]
    t.wall_given = 1
    t.wall[:] = PLACEHOLDER
    t.wall[DORA_AT[0]] = indicators[0]
    deal_round(t)
    for i in range(1, len(indicators)):
        t.wall[DORA_AT[i]] = indicators[i]
        show_indicator(t)
    seat = np.int64(t.viewer)
    p = t.seat[seat]
    p.hand[:] = 0
    p.red[:] = 0
    p.hand_keys[:] = 0
    last = len(tiles) - 1
    for i in range(last):
        add_tile(p, tiles[i], np.int64(1))
    for m in range(len(melds)):
        add_meld(p, melds[m, 0], melds[m, 1], melds[m, 2], melds[m, 3], melds[m, 4])
        t.seen[melds[m, 1]] += 3 if melds[m, 0] == PON_MELD else 4
        t.n_kans += 0 if melds[m, 0] == PON_MELD else 1
    p.nukidora = norths
    t.seen[NORTH] += norths
    update_waits(p)
    for other in range(N_SEATS):
        t.seat[other].nagashi = 0
    t.first_turn = 0
    t.n_replacements = norths + t.n_kans
    t.live_left = left
    t.turn = seat
    t.drawn = tiles[last]
    add_tile(p, tiles[last], np.int64(1))
    log_event(t, pack(DRAW, seat, seat, np.int64(0), np.int64(0), np.int64(0), live_index(t)))
    ask_turn(t)
    blank_for(t, seat)
    t.wall[:] = UNKNOWN
    for i in range(len(indicators)):
        t.wall[DORA_AT[i]] = indicators[i]


def check_draws_and_kans(position: Position, melds: Sequence[Step]) -> None:
    """Raise PositionError for more draws left, or fewer indicators, than the seat's own kans and norths allow.

    Each takes a draw. The indicator of an ankan is shown at once, that of another kan before the next kan or discard.
    """
    kans = [meld for meld in melds if MELD_TYPES[meld.what] != PON_MELD]
    if position.left is not None:
        check_number(position.left, "left", N_DRAWS - 1 - position.norths - len(kans))
    n_open = sum(meld.what != ANKAN for meld in kans)
    if (n := len(position.indicators)) < 1 + len(kans) - min(n_open, 1):
        raise kans_more(n)


def check_own(position: Position) -> None:
    """Raise PositionError for tiles of a position without rivers that are too many, or too few, in one hand."""
    tiles, melds = position.tiles, position.own_melds
    if len(melds) > MAX_MELDS:
        why = "{n} melds, there are at most {most}"
        raise PositionError("melds", error_text("melds_many", why, n=len(melds), most=MAX_MELDS))
    check_draws_and_kans(position, melds)
    wanted = HAND_SIZE + 1 - 3 * len(melds)
    if len(tiles) != wanted:
        raise hand_size_error(len(tiles), wanted, len(melds), holds_draw=True)


def laid_out(position: Position) -> Any:
    """The view of a position without rivers that is checked: a TABLE record."""
    tiles, melds, viewer = position.tiles, position.own_melds, position.viewer
    points, sticks = start(position, [0] * N_SEATS, lambda wind: (position.dealer + wind) % N_SEATS)
    view = np.zeros(1, dtype=TABLE)
    t = view[0]
    t["rules"] = packed_rules(position.game_rules)
    t["viewer"], t["dealer"], t["round_wind"] = viewer, position.dealer, WINDS.index(position.round[0])
    t["honba"], t["sticks"] = position.honba, sticks
    t["seat"]["score"] = points
    giver = (viewer + N_SEATS - 1) % N_SEATS  # of all calls: nobody knows, and only pao depends on it
    rows = []
    for meld in melds:
        closed = meld.what == ANKAN
        reds = sum(tile >= N_KINDS for tile in meld.tiles)
        called, source = (NONE, NONE) if closed else (meld.tiles[0], giver)
        rows.append((MELD_TYPES[meld.what], int(KIND_OF[meld.tiles[0]]), reds, called, source))
    left = USUAL_LEFT if position.left is None else position.left
    lay_out(
        view.view(np.uint8),
        np.array(tiles, dtype=np.int64),
        np.array(rows, dtype=np.int64).reshape(len(rows), 5),
        position.norths,
        left,
        np.array(position.indicators, dtype=np.int64),
    )
    return view[0]
