"""Packed events: the log of a round, one 32-bit word for each event, in the order of mjai.

========= ==== ======================================================
field     bits meaning
========= ==== ======================================================
type      0-3  one of the constants below, a row of TYPES
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

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from engine.common.complete import require_rows
from engine.compiling import inner
from engine.rules import N_DRAWS

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


class EventType(NamedTuple):
    """A type of packed events."""

    number: int  # the constant
    message: str  # type of its mjai message
    used: int  # concealed tiles that the actor sets down: discards, sets aside or shows in a meld
    adds_meld: bool  # whether they are a new meld
    is_action: bool  # whether it is a choice of the actor, seen by everybody, after which the round goes on
    most: int  # how many there are in a round at most: their sum must fit into TABLE.log


TYPES: tuple[EventType, ...] = (
    EventType(START_KYOKU, "start_kyoku", 0, False, False, 1),
    EventType(DRAW, "tsumo", 0, False, False, N_DRAWS),
    EventType(DAHAI, "dahai", 1, False, True, N_DRAWS + 12),  # one for each draw and each pon
    EventType(REACH, "reach", 0, False, True, 3),
    EventType(REACH_ACCEPTED, "reach_accepted", 0, False, False, 3),
    EventType(PON, "pon", 2, True, True, 12),
    EventType(DAIMINKAN, "daiminkan", 3, True, True, 4),
    EventType(ANKAN, "ankan", 4, True, True, 4),
    EventType(KAKAN, "kakan", 1, False, True, 4),
    EventType(NUKIDORA, "nukidora", 1, False, True, 4),
    EventType(NEW_DORA, "dora", 0, False, False, 4),
    EventType(HORA, "hora", 0, False, False, 2),
    EventType(RYUKYOKU, "ryukyoku", 0, False, False, 1),
    EventType(END_KYOKU, "end_kyoku", 0, False, False, 1),
    EventType(END_GAME, "end_game", 0, False, False, 1),
)
if [row.number for row in TYPES] != list(range(N_TYPES)):
    raise ImportError(f"TYPES of engine/events.py needs one row for each of the {N_TYPES} event types, in their order")
ACTIONS = tuple(row for row in TYPES if row.is_action)

# Columns of TYPES for compiled code, by type; longer than TYPES, so that any bits may be looked up.
USED = np.zeros(1 << TYPE_BITS, dtype=np.int64)
ADDS_MELD = np.zeros(1 << TYPE_BITS, dtype=np.bool_)
for _row in TYPES:
    USED[_row.number], ADDS_MELD[_row.number] = _row.used, _row.adds_meld


def require_types(place: str, rows: Iterable[int], of: Iterable[EventType]) -> None:
    """Raise ImportError, which names `place`, unless its `rows` are the types `of`, all of TYPES or some of them."""
    table = "TYPES of engine/events.py"
    require_rows(place, (TYPES[number].message for number in rows), (row.message for row in of), table)


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
