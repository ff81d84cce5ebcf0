"""The view of a seat: the TABLE record with everything hidden from that seat blanked."""

from __future__ import annotations

import numpy as np

from engine.compiling import inner
from engine.table import EVERYBODY, WALL_SIZE
from engine.tiles import N_KINDS, NONE, UNKNOWN


@inner
def blank_wall(view: np.record, seat: int) -> None:
    """Blank all wall tiles but those dealt to `seat`, drawn by it, or shown as dora indicators."""
    for i in range(WALL_SIZE):
        known = view.known_by[i] == seat or view.known_by[i] == EVERYBODY
        view.wall[i] = view.wall[i] if known else np.int8(UNKNOWN)


@inner
def blank_seat(p: np.record) -> None:
    """Blank the concealed hand of another seat and everything computed from it."""
    for kind in range(N_KINDS):
        p.hand[kind] = 0
    p.red[0] = p.red[1] = 0
    p.hand_keys[0] = p.hand_keys[1] = p.hand_keys[2] = 0
    p.waits = np.uint64(0)
    p.shanten = 0
    p.temporary_furiten = 0
    p.riichi_furiten = 0


@inner
def clear_score(win: np.record) -> None:
    """Clear the score in a WIN record: `winning_han` uses `t.win[1]` as scratch space until there is a second win."""
    win.basic = 0
    win.fu = win.han = 0
    win.yakuman = 0
    win.yaku[:] = 0


@inner
def blank_for(view: np.record, seat: int) -> None:
    """Blank in `view`, a copy of a whole table, everything that `seat` may not see."""
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
        clear_score(view.win[1])
