"""Packed events: the log of a round, one 32-bit word for each event, in the order of mjai.

========= ==== ======================================================
field     bits meaning
========= ==== ======================================================
type      0-3  one of the constants below
actor     4-5
target    6-7  seat a tile was taken from; the actor itself otherwise
tile      8-13 tile37; 0 for a DRAW, whose tile is TABLE.wall[detail]
tsumogiri 14   of a DAHAI
red       15   a red five is among the consumed tiles (PON, DAIMINKAN, KAKAN, ANKAN)
detail    16-  of a DRAW: its index in TABLE.wall; of a HORA: its index in
               TABLE.win; of a RYUKYOKU: a number of engine.ryukyoku
========= ==== ======================================================

The log holds no hidden information: drawn tiles are read from the wall, whose hidden part is blanked in a view.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiling import inner

N_TYPES = 15
(
    START_KYOKU, DRAW, DAHAI, REACH, REACH_ACCEPTED, PON, DAIMINKAN, ANKAN, KAKAN, NUKIDORA, NEW_DORA, HORA, RYUKYOKU,
    END_KYOKU, END_GAME,
) = range(N_TYPES)  # fmt: skip

TYPE_BITS = 4
if N_TYPES > 1 << TYPE_BITS:
    raise ImportError(
        f"{N_TYPES} event types do not fit into the {TYPE_BITS} bits of a packed event: "
        "widen the type in the table, pack, event_… and unpack of engine/events.py"
    )


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
def pack(event: int, actor: int, target: int, tile: int, tsumogiri: int, red: int, detail: int) -> int:
    """One event as a 32-bit word; the arguments are the fields in the table above, `event` the type."""
    who = np.int64(event) | np.int64(actor) << 4 | np.int64(target) << 6
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
def event_tile(word: int) -> int:
    """tile37 of a packed event (not of a DRAW)."""
    return np.int64(word) >> np.int64(8) & np.int64(63)


@inner
def event_tsumogiri(word: int) -> bool:
    """Whether a DAHAI discards the tile just drawn."""
    return np.int64(word) >> np.int64(14) & np.int64(1) != 0


def unpack(word: int) -> Event:
    """All fields of a packed event."""
    return Event(
        word & 15, word >> 4 & 3, word >> 6 & 3, word >> 8 & 63, bool(word >> 14 & 1), bool(word >> 15 & 1), word >> 16
    )
