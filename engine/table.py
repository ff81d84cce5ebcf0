"""TABLE: everything about one game in one NumPy record of about 1.7 kilobytes.

Many games are an array of TABLE, a snapshot is a copy. The view of a seat is the same record with everything hidden
from that seat blanked (`engine/view.py`). Seats are absolute, 0-2; seat 0 deals first. Tiles and kinds are those of
`engine/tiles.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.actions import MASK_WORDS, actions_of, menu_text
from engine.compiling import inner
from engine.rules import COMPILED_SWITCHES, Rules
from engine.rules import N_SEATS as N_SEATS  # defined there, imported from here
from engine.scoring.yaku import N_YAKU
from engine.tiles import WINDS

MAX_RIVER = 40
MAX_LOG = 176  # a round has at most 157 events: 55 draws, 67 discards, 12 pons and the rest; engine.wall checks it
MAX_MELDS = 4

# What the table waits for (TABLE.phase).
TURN = 0  # `turn` has drawn and is to act
AFTER_PON = 1  # `turn` has called pon and is to discard
RIICHI_DISCARD = 2  # `turn` has declared riichi and is to discard
RESPONSE = 3  # other seats may call or win on the tile on offer
ROUND_OVER = 4  # `engine.turn.next_round` deals the next round or ends the game
GAME_OVER = 5

# Types of melds (SEAT.meld_type) and, with the same numbers, of the action that put a tile on offer (TABLE.offer_type).
NO_MELD, PON_MELD, DAIMINKAN_MELD, ANKAN_MELD, KAKAN_MELD = range(5)
OFFER_DISCARD, OFFER_ANKAN, OFFER_KAKAN, OFFER_NUKIDORA = 0, ANKAN_MELD, KAKAN_MELD, 5

# River entries: tile37 in the low six bits.
RIVER_TILE = 0x3F
RIVER_TSUMOGIRI = 0x40
RIVER_CALLED = 0x80

# Wall: 39 dealt tiles (13 for the dealer, then 13 each in turn order), 55 live draws, 14 of the dead wall. Apart from
# the deal the layout is Tenhou's, which counts from the other end (107 - index). Each replacement shortens the live
# wall; what were its last tiles become the fourth and fifth indicators.
WALL_SIZE = 108
DEALT = 39
REPLACEMENT_AT = np.array([106, 107, 104, 105, 102, 103, 100, 101])
DORA_AT = np.array([98, 96, 94, 92, 90])
URA_AT = DORA_AT + 1

EVERYTHING = -1  # TABLE.viewer of a whole table

# Who has seen a wall tile (TABLE.known_by): a seat, or one of these.
NOBODY, EVERYBODY = -1, 3


# Functions that show a whole table as text and as a picture; `engine.text` and `engine.svg` register theirs here.
SHOW: dict[str, Callable[[Any], str]] = {}


class TableRecord(np.record):  # type: ignore[misc]  # mypy takes np.record for Any
    """A TABLE record with a readable form: ``repr`` is one line, ``str`` shows everything on the table."""

    def __repr__(self) -> str:
        if self.dtype.names != TABLE.names:  # a part of a table, such as a SEAT
            return super().__repr__()
        what = "whole table" if self.viewer == EVERYTHING else f"view of seat {self.viewer}"
        return f"<{what}: {summary(self)}>"

    def __str__(self) -> str:
        if self.dtype.names != TABLE.names or "text" not in SHOW:
            return super().__str__()
        return SHOW["text"](self)

    def _repr_svg_(self) -> str | None:
        """Return the picture for notebooks; None, for text, if this is a part of a table or `engine.svg` is missing."""
        if self.dtype.names != TABLE.names or "svg" not in SHOW:
            return None
        return SHOW["svg"](self)


def record(fields: list[Any], record_type: type[np.record] = np.record) -> np.dtype[Any]:
    """Return a NumPy record type whose `fields` are attributes of an element in Python and in compiled code."""
    return np.dtype((record_type, fields))


# The rules of a table; `packed_rules` makes them.
RULES = record(
    [
        ("last_wind", "i1"),  # last scheduled wind: 0 East-only, 1 hanchan
        *((switch, "u1") for switch in COMPILED_SWITCHES),
    ]
)


def packed_rules(rules: Rules) -> np.void:
    """The rules as one RULES record, for compiled code."""
    record = np.zeros((), dtype=RULES)
    record["last_wind"] = 0 if rules.length == "east" else 1
    for switch in COMPILED_SWITCHES:
        record[switch] = getattr(rules, switch)
    return record[()]


SEAT = record(
    [
        ("discarded", "u8"),  # kinds this seat has discarded (bit mask), called or not
        ("waits", "u8"),  # kinds that complete the hand, yaku or not; 0 unless tenpai; kept for the 13-tile hand
        ("hand_keys", "i4", 3),  # engine.shanten keys of `hand`
        ("score", "i4"),
        ("start_score", "i4"),  # at the start of the round
        ("hand", "i1", 34),  # concealed tiles by kind, red fives and the drawn tile included
        ("red", "i1", 2),  # red 5p, red 5s in the concealed hand
        ("shanten", "i1"),  # of the 13-tile hand, before the draw
        ("n_melds", "i1"),
        ("meld_type", "i1", MAX_MELDS),
        ("meld_kind", "i1", MAX_MELDS),
        ("meld_red", "i1", MAX_MELDS),  # red fives in the meld (0 or 1)
        ("meld_called", "i1", MAX_MELDS),  # tile37 taken from another seat, -1 for an ankan
        ("meld_from", "i1", MAX_MELDS),  # seat it was taken from, -1 for an ankan
        ("open", "u1"),  # 1 with a meld other than ankan
        ("nukidora", "i1"),  # norths declared as nukidora
        ("n_river", "i1"),
        ("river", "u1", MAX_RIVER),
        ("riichi", "u1"),  # 0 none, 1 riichi, 2 double riichi; set when nobody has won on the declaring discard
        ("riichi_river", "i1"),  # index in `river` of the declaring discard, -1 without riichi
        ("ippatsu", "u1"),
        ("temporary_furiten", "u1"),  # did not win on a tile that completes the hand; until the next own discard
        ("riichi_furiten", "u1"),  # the same while in riichi; until the end of the round
        ("nagashi", "u1"),  # all own discards are terminals or honours, and none was called
        ("pao_daisangen", "i1"),  # seat liable for this seat's daisangen (pao), -1
        ("pao_daisuushii", "i1"),
    ]
)

WIN = record(
    [
        ("points", "i4"),  # points of the hand without honba and riichi sticks (mjai's hora_points)
        ("basic", "i4"),  # base points before multiplication by payer
        ("deltas", "i4", N_SEATS),  # change of each score, honba and riichi sticks included
        ("winner", "i1"),
        ("target", "i1"),  # the discarder; the winner itself on tsumo
        ("tile", "i1"),  # tile37
        ("pao", "i1"),  # the liable seat, -1
        ("fu", "i2"),
        ("han", "i2"),  # dora included; 13 for each yakuman
        ("yakuman", "i1"),  # number of yakuman by pattern (a kazoe yakuman has han >= 13 and 0 here)
        ("yaku", "i1", N_YAKU),  # han of each yaku by number, engine.scoring.yaku
    ]
)

TABLE = record(
    [
        ("seed", "u8"),
        ("legal", "u8", (N_SEATS, MASK_WORDS)),  # bit mask of the legal actions of each seat that must answer, else 0
        ("seat", SEAT, N_SEATS),
        ("win", WIN, 2),  # wins of the round, in turn order after the discarder
        ("log", "u4", MAX_LOG),  # packed events of the round, engine.events
        ("ryukyoku_deltas", "i4", N_SEATS),
        ("n_log", "i2"),
        ("honba", "i2"),
        ("sticks", "i2"),  # riichi sticks on the table
        ("answer", "i2", N_SEATS),  # action of each seat that has answered in this phase, -1
        ("rules", RULES),
        ("viewer", "i1"),  # the seat whose view this is; EVERYTHING: the whole table
        ("phase", "u1"),
        ("wall_given", "u1"),  # the caller has set `wall`: the next deal does not shuffle it
        ("round_wind", "i1"),
        ("dealer", "i1"),
        ("turn", "i1"),
        ("drawn", "i1"),  # tile37 just drawn by `turn`, -1 after a discard, call, kan or nukidora
        ("after_replacement", "u1"),  # `drawn` came after a kan or nukidora
        ("offer", "i1"),  # tile37 that the others may call or win on in phase RESPONSE, -1
        ("offer_type", "u1"),  # OFFER_…
        ("riichi_pending", "u1"),  # as `riichi`, between the declaration and the payment of its stick
        ("kuikae", "i1"),  # kind that may not be discarded after a pon, -1
        ("first_turn", "u1"),  # no call or nukidora yet in this round
        ("live_left", "i1"),  # draws left until the exhaustive draw, replacement draws included
        ("n_replacements", "i1"),  # replacement tiles drawn
        ("n_indicators", "i1"),  # dora indicators shown
        ("pending_indicators", "i1"),  # of daiminkan and kakan, to be turned before the next discard
        ("n_kans", "i1"),
        ("n_wins", "i1"),
        ("ryukyoku_reason", "u1"),  # a number of engine.ryukyoku, 0 without ryukyoku
        ("ryukyoku_tenpai", "u1", N_SEATS),  # who is tenpai at an exhaustive draw
        ("dealer_stays", "u1"),  # the dealer repeats; set at the end of the round
        ("seen", "i1", 34),  # face-up tiles by kind: rivers, melds, nukidora, dora indicators
        ("wall", "i1", WALL_SIZE),  # tile37
        ("known_by", "i1", WALL_SIZE),  # who has seen each wall tile: a seat, NOBODY or EVERYBODY
    ],
    TableRecord,
)


@inner
def seat_wind(t: np.record, seat: int) -> int:
    """Wind of `seat` in this round: 0 East, 1 South, 2 West."""
    return (seat - np.int64(t.dealer) + 3) % 3


def round_of(t: Any) -> str:
    """The name of the round, like ``E3 honba 1``."""
    return f"{WINDS[t.round_wind]}{t.dealer + 1} honba {t.honba}"


def asked_in(t: Any) -> list[str]:
    """Return what the viewer knows of each asked seat's options: ``seat 0 may discard 1p 9s, tsumogiri``."""
    if t.phase in (ROUND_OVER, GAME_OVER):
        return ["the round is over" if t.phase == ROUND_OVER else "the game is over"]
    menus = [actions_of(*mask) if t.answer[seat] < 0 else [] for seat, mask in enumerate(t.legal.tolist())]
    asked = [f"seat {seat} may {menu_text(menu)}" for seat, menu in enumerate(menus) if menu]
    return asked or [f"seat {t.turn} is to act" if t.phase < RESPONSE else "other seats may call the tile"]


def summary(t: Any) -> str:
    """Return a one-line summary of a table or view: the round, the draws left, and the options of the asked seats."""
    if t.phase == GAME_OVER:
        return "the game is over, scores " + ", ".join(f"{score:,}" for score in t["seat"]["score"].tolist())
    return "; ".join([f"{round_of(t)}, {t.live_left} draws left", *asked_in(t)])


def raw_bytes(records: np.ndarray) -> np.ndarray:
    """Return the memory of `records` TABLE[n] as uint8[n * TABLE.itemsize], as kernels take it (`engine.kernels`).

    A contiguous array is not copied: what a kernel writes appears in `records`. Raises TypeError for anything but TABLE
    records, as kernels would read beyond its end.
    """
    array = np.asarray(records)
    if array.ndim != 1 or (array.dtype is not TABLE and array.dtype != TABLE):
        what = "one view" if array.dtype == TABLE and array.ndim == 0 else f"{array.dtype.name[:40]}{list(array.shape)}"
        raise TypeError(f"expected an array of views, such as np.array([game.view(seat)]), not {what}")
    return np.ascontiguousarray(array).view(np.uint8)
