"""Kinds of values of a game: tiles, hands, scores and so on; see `engine.mjai.keys`."""

from __future__ import annotations

import json
from typing import Any

from engine.common.error_text import ErrorText, error_text
from engine.mjai.keys import BadValue, Check, Kind, choice, instance, integer, list_of, show, whole
from engine.rules import N_SEATS
from engine.ryukyoku import MJAI_BY_ALIAS, RYUKYOKU
from engine.scoring.yaku import YAKUMAN_HAN
from engine.tiles import MJAI_NAMES, MJAI_TILES, SANMA_KINDS, WINDS

HAND_SIZE = 13
HIDDEN_TILE = "?"
HIDDEN_HAND = [HIDDEN_TILE] * HAND_SIZE
MAX_EXT_BOT = 4096  # bytes of JSON under ``ext_bot``
RUBY_YAKUMAN = 100  # the Ruby server writes every yakuman as 100 han

# Every spelling of a tile -> its canonical name.
TILES: dict[Any, str] = {MJAI_NAMES[kind]: MJAI_NAMES[kind] for kind in SANMA_KINDS}
TILES |= {name: name for name in ("5pr", "5sr", HIDDEN_TILE)}
TILES |= {"0p": "5pr", "0s": "5sr", "5rp": "5pr", "5rs": "5sr"}
TILES |= {f"{rank}z": name for rank, name in enumerate("ESWNPFC", 1)}


# Checks ---------------------------------------------------------------------------------------------------------------


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
        if len({tile[:2] for tile in tiles}) > 1:  # the first two characters are the kind, even for 5pr
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


def no_tile(value: Any) -> ErrorText:
    """What is wrong with a tile that three players do not have."""
    return error_text("no_such_tile", "there is no tile {tile} in a three-player game", tile=repr(value))


def read_tile(key: str, value: Any) -> str:
    """A tile in any spelling, or ``?``."""
    if value not in TILES:
        raise ValueError(no_tile(value))
    return TILES[value]


def read_tiles(key: str, value: Any) -> list[str]:
    """Tiles in the order given."""
    return [read_tile(key, tile) for tile in value]


def read_consumed(key: str, value: Any) -> list[str]:
    """Tiles in canonical order."""
    return sort_tiles(read_tiles(key, value))


def read_seats(key: str, value: Any) -> list[Any] | None:
    """Read a list with an entry for each seat, without a padded fourth: an empty name, a hidden hand, 0 or false.

    Returns None, for unknown, if the list is empty.
    """
    if not value:
        return None
    padded = len(value) == N_SEATS + 1 and (not value[N_SEATS] or (key == "tehais" and set(value[N_SEATS]) == {"?"}))
    if len(value) != N_SEATS and not padded:
        what = "{key} has {n} entries of players: this is no three-player game"
        raise ValueError(error_text("four_entries", what, key=key, n=len(value)))
    return list(value[:N_SEATS])


def read_scores(key: str, value: Any) -> list[Any] | None:
    """The points of the three seats, or their changes."""
    scores = read_seats(key, value)
    return scores and [read_points(key, each) for each in scores]


def read_points(key: str, value: Any) -> Any:
    """Points of a seat, or their change."""
    if type(value) not in (int, float):
        what = "{key} has {given}, not a number"
        raise ValueError(error_text("no_points", what, key=key, given=show(value)))
    return whole(value)


def read_hands(key: str, value: Any) -> list[list[str]] | None:
    """Read the hands of the three seats; None, for unknown, if the tiles of one are not given."""
    hands = read_seats(key, value)
    return [read_tiles(key, hand) for hand in hands] if hands and all(hands) else None


def read_final_points(key: str, value: Any) -> list[float] | None:
    """The final points of the three seats."""
    points = read_seats(key, value)
    return points and [float(each) for each in points]


def read_han(key: str, value: Any) -> int:
    """Han, 13 for a yakuman."""
    return whole(YAKUMAN_HAN * (value // RUBY_YAKUMAN) if value >= RUBY_YAKUMAN else value)


def read_yakus(key: str, value: Any) -> list[list[Any]]:
    """``[name, han]`` of each yaku that counts."""
    return [[name, read_han(key, han)] for name, han in value if han]


def read_reason(key: str, value: Any) -> Any:
    """The reason of a draw, by its canonical name."""
    return MJAI_BY_ALIAS.get(value, value)


def sort_tiles(tiles: list[str]) -> list[str]:
    """Tile names in kind order, red fives last: the canonical order of ``consumed``."""
    return sorted(tiles, key=lambda name: MJAI_TILES[name])


# Kinds ----------------------------------------------------------------------------------------------------------------

HAN = Kind("integer", instance(int), read_han)
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
SCORES = Kind("3 integers", list_of(instance(int), N_SEATS, N_SEATS), read_scores, padding=0)
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
OBJECT = Kind("object", instance(dict))
ACTIONS = Kind("actions", list_of(instance(dict)))
