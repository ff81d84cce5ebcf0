"""Keys of messages and kinds of values.

A kind checks the value of a key in a bot's message (strict types, any spelling of a tile) and reads the value from any
dialect (liberal types). Both give the canonical value.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any

from engine.ryukyoku import MJAI_BY_RIICHIENV, RYUKYOKU
from engine.scoring.yaku import YAKUMAN_HAN
from engine.table import N_SEATS
from engine.tiles import MJAI_NAMES, MJAI_TILES, SANMA_KINDS, WINDS

Message = dict[str, Any]
Check = Callable[[Any], Any]
Read = Callable[[str, Any], Any]

HAND_SIZE = 13
HIDDEN_TILE = "?"
HIDDEN_HAND = [HIDDEN_TILE] * HAND_SIZE
MAX_COUNT = 2**31 - 1
MAX_EXT_BOT = 4096  # bytes of JSON under ``ext_bot``
MAX_SHOWN = 60  # characters of a bot's value in an error message
RUBY_YAKUMAN = 100  # the Ruby server writes every yakuman as 100 han

# Every spelling of a tile -> its canonical name.
TILES: dict[Any, str] = {MJAI_NAMES[kind]: MJAI_NAMES[kind] for kind in SANMA_KINDS}
TILES |= {name: name for name in ("5pr", "5sr", HIDDEN_TILE)}
TILES |= {"0p": "5pr", "0s": "5sr", "5rp": "5pr", "5rs": "5sr"}
TILES |= {f"{rank}z": name for rank, name in enumerate("ESWNPFC", 1)}


class BadValue(ValueError):  # noqa: N818 - names the value, not an error
    """A value that its key may not have. `shown` is the value in a few printable characters, `path` where it is."""

    def __init__(self, value: Any, path: str = "", shown: str = "") -> None:
        self.shown = shown or show(value)
        self.path = path
        super().__init__(self.shown)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value. `name` is its name in docs/protocol.md.

    `check(value)` returns the canonical value or raises BadValue; `read(key, value)` does so for a message of any
    dialect, and may raise ValueError, TypeError or AttributeError. `padding` is what a list of the three seats has for
    a fourth seat in dialects that have one.
    """

    name: str
    check: Check
    read: Read = lambda key, value: value
    padding: Any = None


REQUIRED: Any = object()  # the default of a key that must be there


class Scope(Enum):
    """Who receives a key of an event, and whether records keep it."""

    RECORD = "record"  # everybody; kept in records
    SEAT = "seat"  # the seat that gets the message; not in records
    CONNECTION = "connection"  # as SEAT, and written last, in every dialect


class Visibility(Enum):
    """Which seats see the value of a key of an event."""

    ALL = "all"
    ACTOR = "actor"  # others get ``?``
    OWNER = "owner"  # of a list of hands, each seat gets its own; the others are ``?``
    RECEIVER = "receiver"  # the value is the seat that gets the message


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a message. `text` says what its value must be.

    `default` is `REQUIRED` for a key that must be there, None for one that may be left out or null, else the value
    that a missing key stands for.
    """

    name: str
    kind: Kind
    text: str = ""
    default: Any = REQUIRED
    scope: Scope = Scope.RECORD
    visibility: Visibility = Visibility.ALL


def show(value: Any) -> str:
    """A value of a bot's message in at most `MAX_SHOWN` printable characters."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return "a huge number" if 10**12 <= abs(value) < inf else json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and not (len(value) <= 4 and all(isinstance(entry, str) for entry in value)):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


# Checks ---------------------------------------------------------------------------------------------------------------


def integer(low: int, high: int) -> Check:
    """Check of a whole number, `low` to `high`; neither 1.0 nor true is one."""

    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise BadValue(value)
        return value

    return check


def instance(*types: type) -> Check:
    """Check of a value whose type is one of `types`."""

    def check(value: Any) -> Any:
        if type(value) not in types:
            raise BadValue(value)
        return value

    return check


def choice(*values: str) -> Check:
    """Check of a text out of `values`."""

    def check(value: Any) -> str:
        if type(value) is not str or value not in values:
            raise BadValue(value)
        return value

    return check


def text(low: int, high: int) -> Check:
    """Check of a text of `low` to `high` characters."""

    def check(value: Any) -> str:
        if type(value) is not str or not low <= len(value) <= high:
            raise BadValue(value)
        return value

    return check


def list_of(check_entry: Check, low: int = 0, high: int = MAX_COUNT) -> Check:
    """Check of a list of `low` to `high` entries."""

    def check(value: Any) -> list[Any]:
        if type(value) is not list or len(value) > high:
            raise BadValue(value)
        entries = []
        for index, entry in enumerate(value):
            try:
                entries.append(check_entry(entry))
            except BadValue as error:
                raise BadValue(entry, f"[{index}]{error.path}", error.shown) from None
        if len(entries) < low:
            raise BadValue(value)
        return entries

    return check


def check_tile(value: Any) -> str:
    """Check of a tile in any spelling."""
    tile = TILES.get(value) if type(value) is str else None
    if tile is None or tile == HIDDEN_TILE:
        raise BadValue(value)
    return tile


def check_tile_or_hidden(value: Any) -> str:
    """Check of a tile in any spelling, or ``?``."""
    return HIDDEN_TILE if value == HIDDEN_TILE else check_tile(value)


def check_north(value: Any) -> str:
    """Check of a north in any spelling."""
    if check_tile(value) != "N":
        raise BadValue(value)
    return "N"


def one_kind(count: int) -> Check:
    """Check of `count` tiles of one kind."""
    check_tiles = list_of(check_tile, count, count)

    def check(value: Any) -> list[str]:
        tiles: list[str] = check_tiles(value)
        if len({tile[:2] for tile in tiles}) > 1:  # the first two letters are the kind, also of 5pr
            raise BadValue(value)
        return tiles

    return check


def check_ext_bot(value: Any) -> dict[str, Any]:
    """Check of an object of at most `MAX_EXT_BOT` bytes of JSON."""
    if type(value) is not dict:
        raise BadValue(value)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise BadValue(value, shown="an object with NaN or an infinity") from None
    if (size := len(written.encode())) > MAX_EXT_BOT:
        raise BadValue(value, shown=f"too big ({size:,} bytes)")
    return value


def check_yaku(value: Any) -> list[Any]:
    """Check of ``[name, han]``."""
    if type(value) is not list or [type(entry) for entry in value] != [str, int]:
        raise BadValue(value)
    return value


# Reading --------------------------------------------------------------------------------------------------------------


def read_tile(key: str, value: Any) -> str:
    """A tile in any spelling, or ``?``."""
    if value not in TILES:
        raise ValueError(f"there is no tile {value!r} in a three-player game")
    return TILES[value]


def read_tiles(key: str, value: Any) -> list[str]:
    """Tiles in the order given."""
    return [read_tile(key, tile) for tile in value]


def read_consumed(key: str, value: Any) -> list[str]:
    """Tiles in canonical order."""
    return sort_tiles(read_tiles(key, value))


def read_seat(key: str, value: Any) -> Any:
    """A seat."""
    if value not in range(N_SEATS):
        raise ValueError(f"{key} {value!r}: there are three seats, 0 to 2")
    return value


def read_seats(key: str, value: Any) -> list[Any]:
    """A list with an entry for each seat, without a padded fourth: an empty name, a hidden hand, 0 or false."""
    padded = len(value) == N_SEATS + 1 and (not value[N_SEATS] or (key == "tehais" and set(value[N_SEATS]) == {"?"}))
    if len(value) != N_SEATS and not padded:
        raise ValueError(f"{key} has {len(value)} entries of players: this is no three-player game")
    return value[:N_SEATS]


def read_hands(key: str, value: Any) -> list[list[str]]:
    """The hands of the three seats."""
    return [read_tiles(key, hand) for hand in read_seats(key, value)]


def read_final_points(key: str, value: Any) -> list[float]:
    """The final points of the three seats."""
    return [float(points) for points in read_seats(key, value)]


def read_han(key: str, value: Any) -> int:
    """Han, 13 for a yakuman."""
    return YAKUMAN_HAN * (value // RUBY_YAKUMAN) if value >= RUBY_YAKUMAN else value


def read_yakus(key: str, value: Any) -> list[list[Any]]:
    """``[name, han]`` of each yaku that counts."""
    return [[name, read_han(key, han)] for name, han in value if han]


def read_reason(key: str, value: Any) -> Any:
    """The reason of a draw, by its canonical name."""
    return MJAI_BY_RIICHIENV.get(value, value)


def sort_tiles(tiles: list[str]) -> list[str]:
    """Tile names in kind order, red fives last: the canonical order of ``consumed``."""
    return sorted(tiles, key=lambda name: MJAI_TILES[name])


# Kinds ----------------------------------------------------------------------------------------------------------------

SEAT = Kind("seat", integer(0, N_SEATS - 1), read_seat)
COUNT = Kind("count", integer(0, MAX_COUNT))
INTEGER = Kind("integer", instance(int))
HAN = Kind("integer", instance(int), read_han)
BOOL = Kind("bool", instance(bool))
TEXT = Kind("text", instance(str))
WIND = Kind("wind", choice(*WINDS))
ROUND_NUMBER = Kind("integer", integer(1, N_SEATS))
TILE = Kind("tile", check_tile, read_tile)
DRAWN_TILE = Kind("tile", check_tile_or_hidden, read_tile)
NORTH = Kind("tile", check_north, read_tile)
TILE_LIST = Kind("tiles", list_of(check_tile), read_tiles)
TWO_TILES = Kind("2 tiles", one_kind(2), read_consumed)
THREE_TILES = Kind("3 tiles", one_kind(3), read_consumed)
FOUR_TILES = Kind("4 tiles", one_kind(4), read_consumed)
NAMES = Kind("3 texts", list_of(instance(str), N_SEATS, N_SEATS), read_seats, padding="")
SCORES = Kind("3 integers", list_of(instance(int), N_SEATS, N_SEATS), read_seats, padding=0)
FLAGS = Kind("3 bools", list_of(instance(bool), N_SEATS, N_SEATS), read_seats, padding=False)
FINAL_POINTS = Kind("3 numbers", list_of(instance(int, float), N_SEATS, N_SEATS), read_final_points, padding=0)
HANDS = Kind("3 hands", list_of(list_of(check_tile_or_hidden), N_SEATS, N_SEATS), read_hands, padding=HIDDEN_HAND)
DEALT_HANDS = Kind(
    "3 hands",
    list_of(list_of(check_tile_or_hidden, HAND_SIZE, HAND_SIZE), N_SEATS, N_SEATS),
    read_hands,
    padding=HIDDEN_HAND,
)
YAKUS = Kind("[name, han] pairs", list_of(check_yaku), read_yakus)
REASON = Kind("text", choice(*(way.mjai for way in RYUKYOKU)), read_reason)
EXT_BOT = Kind("object", check_ext_bot)
ACTIONS = Kind("actions", list_of(instance(dict)))
