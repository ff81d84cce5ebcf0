"""The wall behind a recorded round: every tile the record tells in its place, the rest filled with what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.mjai.messages import SEATS, Event
from engine.rules import Rules
from engine.table import DEALT, DORA_AT, LAST_REPLACEMENT, URA_AT, WALL_SIZE
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES, MJAI_TILES, UNKNOWN

_REPLACED = frozenset({"ankan", "kakan", "daiminkan", "nukidora"})


class WallError(ValueError):
    """A round whose tiles cannot all come from one wall; `number` is the place of the event that is one too many."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(number, what)
        self.number, self.what = number, what


def lay_wall(events: list[Event], rules: Rules) -> list[int]:
    """The 108 tile37 (layout: `engine.table`) that deal, draw and turn over what a round's events say.

    Places the events do not tell get the tiles left over, in order. Raises WallError where the tiles do not add up.
    """
    full = FULL_SET if rules.red_fives else KIND_OF[FULL_SET]
    left = Counter(full.tolist())
    wall = [UNKNOWN] * WALL_SIZE
    for number, place, name in told_tiles(events):
        tile = MJAI_TILES[name]
        if tile == UNKNOWN:
            raise WallError(number, "a hidden tile; only games with all hands shown can be replayed")
        if wall[place] == tile:
            continue  # the ura indicators of a second winner
        if wall[place] != UNKNOWN:
            raise WallError(number, f"{name} cannot lie where {MJAI_NAMES[wall[place]]} lies already")
        if left[tile] == 0:
            raise WallError(number, f"no {name} is left; all there are have been dealt, drawn or shown")
        left[tile] -= 1
        wall[place] = tile
    rest = left.elements()
    return [next(rest) if tile == UNKNOWN else tile for tile in wall]


def told_tiles(events: list[Event]) -> Iterator[tuple[int, int, str]]:
    """Number of the event, place in the wall and name of every tile a round's events tell."""
    start = events[0]
    for seat, hand in enumerate(start["tehais"]):
        first = DEALT // SEATS * ((seat - start["oya"]) % SEATS)
        yield from ((0, first + i, name) for i, name in enumerate(hand))
    yield 0, DORA_AT, start["dora_marker"]
    live, replacement, indicator = DEALT, LAST_REPLACEMENT, DORA_AT + 1
    replaced = False
    for number, event in enumerate(events):
        kind = event["type"]
        if kind == "tsumo" and replaced:
            yield number, replacement, event["pai"]
            replacement -= 1
        elif kind == "tsumo":
            yield number, live, event["pai"]
            live += 1
        elif kind == "dora":
            yield number, indicator, event["dora_marker"]
            indicator += 1
        elif kind == "hora":
            yield from ((number, URA_AT + i, name) for i, name in enumerate(event.get("uradora_markers", [])))
        replaced = kind in _REPLACED or (replaced and kind == "dora")
