"""Packed events: what happened at a table, one 32-bit word each, in the order of mjai.

========= ==== ======================================================
field     bits meaning
========= ==== ======================================================
type      0-3  one of the constants below
actor     4-5
target    6-7  seat a tile was taken from; the actor itself otherwise
tile      8-13 tile37; of a DRAW nothing: the tile is TABLE.wall[index]
tsumogiri 14   of a DAHAI
red       15   a red five is among the consumed tiles (PON, DAIMINKAN, KAKAN, ANKAN)
detail    16-  of a DRAW: its place in TABLE.wall; of a HORA: its place in
               TABLE.win; of a RYUKYOKU: the reason
========= ==== ======================================================

The log holds nothing hidden: what a seat drew stands in the wall, and a view blanks the wall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiling import inner

(
    START_KYOKU, DRAW, DAHAI, REACH, REACH_ACCEPTED, PON, DAIMINKAN, ANKAN, KAKAN, NUKIDORA, NEW_DORA, HORA, RYUKYOKU,
    END_KYOKU, END_GAME,
) = range(15)  # fmt: skip


class Event(NamedTuple):
    """A packed event, unpacked."""

    type: int
    actor: int
    target: int
    tile: int
    tsumogiri: bool
    red: bool
    detail: int


@inner
def pack(kind: int, actor: int, target: int, tile: int, tsumogiri: int, red: int, detail: int) -> int:
    """One event as a word."""
    who = np.int64(kind) | np.int64(actor) << 4 | np.int64(target) << 6
    what = np.int64(tile) << 8 | np.int64(tsumogiri) << 14 | np.int64(red) << 15 | np.int64(detail) << 16
    return np.uint32(who | what)


@inner
def event_type(word: int) -> int:
    """Type of a packed event."""
    return np.int64(word) & np.int64(15)


@inner
def event_actor(word: int) -> int:
    """Acting seat of a packed event."""
    return np.int64(word) >> np.int64(4) & np.int64(3)


@inner
def event_target(word: int) -> int:
    """Seat a tile was taken from."""
    return np.int64(word) >> np.int64(6) & np.int64(3)


@inner
def event_tile(word: int) -> int:
    """tile37 of a packed event (not of a DRAW)."""
    return np.int64(word) >> np.int64(8) & np.int64(63)


@inner
def event_tsumogiri(word: int) -> bool:
    """Whether a DAHAI discards the tile just drawn."""
    return np.int64(word) >> np.int64(14) & np.int64(1) != 0


@inner
def event_detail(word: int) -> int:
    """Wall place of a DRAW, win of a HORA, reason of a RYUKYOKU."""
    return np.int64(word) >> np.int64(16)


def unpack(word: int) -> Event:
    """All fields of a packed event."""
    return Event(
        word & 15, word >> 4 & 3, word >> 6 & 3, word >> 8 & 63, bool(word >> 14 & 1), bool(word >> 15 & 1), word >> 16
    )
