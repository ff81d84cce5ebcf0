"""The wall of a recorded round: all tiles that the record shows where they lay, the rest filled with the tiles left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.mjai.messages import Message
from engine.rules import Rules
from engine.table import DEALT, DORA_AT, LAST_REPLACEMENT, N_SEATS, URA_AT, WALL_SIZE
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES, MJAI_TILES, UNKNOWN

_REPLACED = frozenset({"ankan", "kakan", "daiminkan", "nukidora"})


class WallError(ValueError):
    """The tiles of a round cannot all come from one wall; `index` is the index of the first event that does not fit."""

    def __init__(self, index: int, what: str) -> None:
        super().__init__(index, what)
        self.index, self.what = index, what


def reconstruct_wall(events: list[Message], rules: Rules) -> list[int]:
    """The wall of a round: 108 tile37 that give these deals, draws and indicators (layout: `engine.table.WALL_SIZE`).

    The rest of the wall gets the remaining tiles in order. Raises WallError if the tiles do not fit into one wall.
    """
    full = FULL_SET if rules.red_fives else KIND_OF[FULL_SET]
    left = Counter(full.tolist())
    wall = [UNKNOWN] * WALL_SIZE
    for index, position, name in known_tiles(events):
        tile = MJAI_TILES[name]
        if tile == UNKNOWN:
            raise WallError(index, "a hidden tile; only games with all hands shown can be replayed")
        if wall[position] == tile:
            continue  # the ura indicators of a second winner
        if wall[position] != UNKNOWN:
            raise WallError(index, f"{name} cannot lie where {MJAI_NAMES[wall[position]]} lies already")
        if left[tile] == 0:
            raise WallError(index, f"no {name} is left; all there are have been dealt, drawn or shown")
        left[tile] -= 1
        wall[position] = tile
    rest = left.elements()
    return [next(rest) if tile == UNKNOWN else tile for tile in wall]


def known_tiles(events: list[Message]) -> Iterator[tuple[int, int, str]]:
    """Index of the event, index in the wall and name of each tile that the events of a round show."""
    start = events[0]
    for seat, hand in enumerate(start["tehais"]):
        first = DEALT // N_SEATS * ((seat - start["oya"]) % N_SEATS)
        yield from ((0, first + i, name) for i, name in enumerate(hand))
    yield 0, DORA_AT, start["dora_marker"]
    live, replacement, indicator = DEALT, LAST_REPLACEMENT, DORA_AT + 1
    replaced = False
    for index, event in enumerate(events):
        kind = event["type"]
        if kind == "tsumo" and replaced:
            yield index, replacement, event["pai"]
            replacement -= 1
        elif kind == "tsumo":
            yield index, live, event["pai"]
            live += 1
        elif kind == "dora":
            yield index, indicator, event["dora_marker"]
            indicator += 1
        elif kind == "hora":
            yield from ((index, URA_AT + i, name) for i, name in enumerate(event.get("uradora_markers", [])))
        replaced = kind in _REPLACED or (replaced and kind == "dora")
