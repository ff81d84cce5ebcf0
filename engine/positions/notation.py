"""The texts of a position: rivers, in which calls stand where they were made, and melds.

A river is what a seat has done in its turns, one after the other, tiles in mpsz: ``1z9m_ P5s 3p N R7p^``.

======== ==========================================================================================
``5s``   discards 5s; ``19m`` are two discards
``5s_``  discards 5s as it was drawn (tsumogiri)
``5s^``  discards 5s, which another seat calls
``R``    declares riichi; the discard follows
``N``    nukidora
``P5s``  pon of 5s; ``P505s`` is the same with the red five, the called tile first
``M5s``  daiminkan; ``M5505s`` with its tiles, the called one first
``A1z``  ankan; ``A0555p`` with its tiles
``K5s``  kakan: the tile added
======== ==========================================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.common.error_text import error_text
from engine.table import ANKAN_MELD, DAIMINKAN_MELD, KAKAN_MELD, PON_MELD
from engine.tiles import KIND_OF, MPSZ_NAMES, MPSZ_TILES, N_KINDS, RED_INDEX, SANMA_KINDS

DISCARD, RIICHI, NUKIDORA, PON, DAIMINKAN, ANKAN, KAKAN = "D", "R", "N", "P", "M", "A", "K"
CALLS = frozenset({PON, DAIMINKAN})
MELD_TYPES = {PON: PON_MELD, DAIMINKAN: DAIMINKAN_MELD, ANKAN: ANKAN_MELD, KAKAN: KAKAN_MELD}
SIZES = {PON: 3, DAIMINKAN: 4, ANKAN: 4, KAKAN: 4}  # tiles of a meld
TSUMOGIRI, CALLED = "_", "^"
MAX_TEXT = 400  # characters of a river, which has at most some 60 tiles
STEP = re.compile(r"\s*(?:([RN])|([PMAK]?)([0-9]+)([mpsz])([_^]*))\s*")
TILE_OF_FOUR = "there is no tile {name}; three players have no 2m-8m"
TILE_UNKNOWN = "there is no tile {name}; there are 1-9 and 0 of p and s, 1m 9m, 1-7z"
HELP = "write discards like 1z9m_5s^, R for riichi, N for a north, and P5s, M5s, A1z, K5s for pon and kans"


class PositionError(ValueError):
    """A position that cannot be; the message, an ErrorText, names the field."""

    def __init__(self, field: str, problem: str) -> None:
        where = error_text(f"field_{field.replace(' ', '_')}", field)
        super().__init__(error_text("position", "{field}: {problem}", field=where, problem=problem))


def text_too_long(text: str, field: str, most: int) -> PositionError:
    """The error of a text with more than so many characters."""
    why = "it has {n:,} characters, at most {most} are read"
    return PositionError(field, error_text("text_long", why, n=len(text), most=most))


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a seat has done."""

    what: str  # DISCARD, RIICHI, …
    tiles: tuple[int, ...] = ()  # tile37; of a call the called tile first; of a kakan the tile added
    tsumogiri: bool = False
    called: bool = False

    def __str__(self) -> str:
        if self.what in (RIICHI, NUKIDORA):
            return self.what
        mark = TSUMOGIRI * self.tsumogiri + CALLED * self.called
        return (self.what if self.what != DISCARD else "") + written(self.tiles) + mark


def written(tiles: tuple[int, ...]) -> str:
    """Tiles of one suit in mpsz."""
    names = [MPSZ_NAMES[tile] for tile in tiles]
    return "".join(name[0] for name in names) + names[0][1]


def river_steps(text: str, field: str) -> list[Step]:
    """What a river says. Raises PositionError."""
    if len(text) > MAX_TEXT:
        raise text_too_long(text, field, MAX_TEXT)
    steps: list[Step] = []
    position = 0
    while position < len(text):
        found = STEP.match(text, position)
        if found is None:
            why = "cannot read {step!r} (character {n}); {help}"
            step = text[position : position + 8]
            raise PositionError(field, error_text("river_unread", why, step=step, n=position + 1, help=HELP))
        position = found.end()
        plain, what, ranks, suit, marks = found.groups()
        if plain:
            steps.append(Step(plain))
            continue
        tiles = [checked_tile(rank + suit, field) for rank in ranks]
        if not what:
            *before, last = tiles
            steps += [Step(DISCARD, (tile,)) for tile in before]
            steps.append(Step(DISCARD, (last,), TSUMOGIRI in marks, CALLED in marks))
        elif marks:
            why = "{step}: the marks _ and ^ are for discards"
            raise PositionError(field, error_text("river_marks", why, step=f"{what}{ranks}{suit}{marks}"))
        else:
            steps.append(Step(what, meld_tiles(what, tiles, field)))
    return steps


def checked_tile(name: str, field: str) -> int:
    """The tile37 of an mpsz name. Raises PositionError for one that three players do not have."""
    tile = MPSZ_TILES.get(name)
    if tile is None or KIND_OF[tile] not in SANMA_KINDS:
        if tile is not None:
            raise PositionError(field, error_text("tile_of_four", TILE_OF_FOUR, name=name))
        raise PositionError(field, error_text("tile_unknown", TILE_UNKNOWN, name=name))
    return tile


def meld_tiles(what: str, tiles: list[int], field: str) -> tuple[int, ...]:
    """The tiles of a meld, from one of them or all. Raises PositionError unless they are equal and as many."""
    size = SIZES[what]
    text = what + written(tuple(tiles))
    if len({int(KIND_OF[tile]) for tile in tiles}) != 1 or len(tiles) not in (1, size):
        why = "{meld}: give one of its tiles or all {n}, which are equal"
        raise PositionError(field, error_text("meld_tiles", why, meld=text, n=size))
    if len(tiles) == 1:
        kind = int(KIND_OF[tiles[0]])
        tiles = [*tiles, *[kind] * (size - 1)]
        if size == 4 and RED_INDEX[kind] >= 0 and tiles[0] < N_KINDS and what != KAKAN:
            tiles[-1] = N_KINDS + 1 + int(RED_INDEX[kind])  # all four fives are in it
    return tuple(tiles[:1]) if what == KAKAN else tuple(tiles)


def melds_of(text: str, field: str) -> list[Step]:
    """The melds in a text such as ``P5s A1z``. Raises PositionError."""
    steps = river_steps(text, field)
    for step in steps:
        if step.what not in (PON, DAIMINKAN, ANKAN):
            why = "{step} is no meld here; write P555z, M1111p (also for a kakan) or A2222z"
            raise PositionError(field, error_text("meld_unknown", why, step=str(step)))
    return steps
