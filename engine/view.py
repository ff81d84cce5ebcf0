"""What one seat may see: the table's record with everything hidden from that seat blanked."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.table import EVERYBODY, WALL_SIZE
from engine.tiles import N_KINDS, NONE, UNKNOWN


@inner
def blank_wall(view: np.record, seat: int) -> None:
    """Leave only the wall tiles `seat` was dealt, has drawn, or sees as indicators."""
    for i in range(WALL_SIZE):
        known = view.known_by[i] == seat or view.known_by[i] == EVERYBODY
        view.wall[i] = view.wall[i] if known else np.int8(UNKNOWN)


@inner
def blank_seat(p: np.record) -> None:
    """Blank another seat's concealed hand and what follows from it."""
    for kind in range(N_KINDS):
        p.hand[kind] = 0
    p.red[0] = p.red[1] = 0
    p.hand_keys[0] = p.hand_keys[1] = p.hand_keys[2] = 0
    p.waits = np.uint64(0)
    p.shanten = 0
    p.passed = 0
    p.riichi_passed = 0


@inner
def blank_scratch(win: np.record) -> None:
    """Clear what the scorer left while menus were made: it judges possible wins in the second win record."""
    win.basic = 0
    win.fu = win.han = 0
    win.yakuman = 0
    win.yaku[:] = 0


@inner
def blank_for(view: np.record, seat: int) -> None:
    """Turn a copy of a whole table into what `seat` may see."""
    view.viewer = seat
    view.seed = np.uint64(0)
    blank_wall(view, seat)
    for other in range(3):
        if other != seat:
            blank_seat(view.seat[other])
            view.legal[other, 0] = view.legal[other, 1] = np.uint64(0)
        view.answer[other] = NONE
    if view.turn != seat:
        view.drawn = NONE
    if view.n_wins < 2:
        blank_scratch(view.win[1])
