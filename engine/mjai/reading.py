"""Messages of any dialect, a server's or a bot's, read into canonical form.

Read liberally: north as ``kita``, ``ura_markers``, a padded fourth seat, RiichiEnv's reasons, unsorted keys.
"""

from __future__ import annotations

from typing import Any

from engine.mjai.messages import KEYS, SEATS, Event, make, sort_tiles
from engine.ryukyoku import MJAI_BY_RIICHIENV
from engine.scoring.yaku import YAKUMAN_HAN
from engine.tiles import MJAI_NAMES, SANMA_KINDS

_TYPES = {"kita": "nukidora"}
_KEYS = {"ura_markers": "uradora_markers"}
# Messages between server and bot that are no part of the game, and the fields of events that only bots need.
TALK = frozenset({"none", "hello", "join", "resumed", "error"})
_HINTS = frozenset({"possible_actions", "cannot_dahai", "can_act", "id", "resume"})
# Fields some writers add to an event that has no need of them.
_NOISE = {"nukidora": "consumed", "ankan": "pai", "hora": "tsumo"}

# Every spelling of a tile -> its canonical one.
TILES: dict[Any, str] = {MJAI_NAMES[kind]: MJAI_NAMES[kind] for kind in SANMA_KINDS}
TILES |= {name: name for name in ("5pr", "5sr", "?")}
TILES |= {"0p": "5pr", "0s": "5sr", "5rp": "5pr", "5rs": "5sr"}
TILES |= {f"{rank}z": name for rank, name in enumerate("ESWNPFC", 1)}

_TILE_KEYS = frozenset({"pai", "dora_marker"})
_TILE_LIST_KEYS = frozenset({"consumed", "uradora_markers", "hora_tehais"})
_SEAT_LIST_KEYS = frozenset({"names", "scores", "tehais", "deltas", "tenpais", "points"})
# The Ruby server writes every yakuman as 100 han.
_RUBY_YAKUMAN = 100


def canonical(message: Event) -> Event:
    """A message of any dialect, a server's or a bot's, in canonical form; what is no part of a game stays as it is.

    Hints for bots (``possible_actions``, ``id``, …) are left out, fields nobody knows are kept. Whatever JSON it is
    given, it raises nothing but ValueError.
    """
    try:
        return message if message["type"] in TALK else canonical_event(message)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no message of a game ({type(error).__name__}: {error})") from error


def canonical_event(message: Event) -> Event:
    """An event of a game in canonical form. Raises ValueError, KeyError, TypeError, AttributeError, OverflowError."""
    kind = _TYPES.get(message["type"], message["type"])
    if kind not in KEYS:
        raise ValueError(f"unknown event type {kind!r}")
    fields = {}
    for key, value in message.items():
        if key != "type" and key not in _HINTS and key != _NOISE.get(kind):
            name = _KEYS.get(key, key)
            fields[name] = _value(kind, name, value)
    for key in ("actor", "target", "oya", "pao"):
        if fields.get(key, 0) not in range(SEATS):
            raise ValueError(f"{key} {fields[key]!r}: there are three seats, 0 to 2")
    if kind == "nukidora":
        fields.setdefault("pai", "N")
    return make(kind, **fields)


def _value(kind: str, key: str, value: Any) -> Any:
    """The canonical form of one field."""
    if key in _TILE_KEYS:
        return _tile(value)
    if key in _TILE_LIST_KEYS:
        tiles = [_tile(tile) for tile in value]
        return sort_tiles(tiles) if key == "consumed" else tiles
    if key in _SEAT_LIST_KEYS:
        seats = _three(key, value)
        if key == "tehais":
            return [[_tile(tile) for tile in hand] for hand in seats]
        return [float(points) for points in seats] if key == "points" else seats
    if key == "reason":
        return MJAI_BY_RIICHIENV.get(value, value)
    if key == "yakus":
        return [[name, _han(han)] for name, han in value if han]
    if key == "fan" and kind == "hora":
        return _han(value)
    return value


def _han(han: int) -> int:
    return YAKUMAN_HAN * (han // _RUBY_YAKUMAN) if han >= _RUBY_YAKUMAN else han


def _tile(name: Any) -> str:
    if name not in TILES:
        raise ValueError(f"there is no tile {name!r} in a three-player game")
    return TILES[name]


def _three(key: str, seats: list[Any]) -> list[Any]:
    """The three seats of a list in which a fourth may be padded: an empty name, a hidden hand, 0 or false."""
    padded = len(seats) == SEATS + 1 and (not seats[SEATS] or (key == "tehais" and set(seats[SEATS]) == {"?"}))
    if len(seats) != SEATS and not padded:
        raise ValueError(f"{key} has {len(seats)} entries of players: this is no three-player game")
    return seats[:SEATS]
