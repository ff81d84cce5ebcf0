"""A table, or the view of a seat, as an SVG picture: a still image of the table on the web pages.

The unit of length is the width of a discard. Each seat's part is drawn as if it sat at the bottom and then rotated
about the middle of the table. Tiles are the shapes of ``tiles.svg``, which the web pages also use; no other file or
font is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.events import DAHAI, KAKAN, Event, unpack
from engine.mjai.kinds import HAND_SIZE, HIDDEN_TILE
from engine.mjai.messages import hand_names, tile_name, tile_names
from engine.ryukyoku import RYUKYOKU
from engine.table import (
    AFTER_PON,
    ANKAN_MELD,
    DAIMINKAN_MELD,
    DORA_AT,
    EVERYTHING,
    GAME_OVER,
    KAKAN_MELD,
    N_SEATS,
    RESPONSE,
    RIICHI_DISCARD,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    ROUND_OVER,
    SHOW,
    TURN,
    URA_AT,
    summary,
)
from engine.tiles import KIND_OF, MJAI_NAMES, NONE, UNKNOWN, WINDS

WIDTH, HEIGHT = 18.6, 18.2
MIDDLE = (9.3, 8.2)  # of the plate; seats are rotated about it
PLATE = 6.0  # its width and height
TURNED = (0, -90, 90)  # degrees: the seat at the bottom, the next one on its right, the third on its left
UNIT = 60  # user units of the picture in a width; the shapes of tiles.svg are 60 x 80
TALL = 4 / 3  # height of a tile whose width is 1
LINE, LINES, LINES_AT = 6, 3, (6.3, 12.02)  # discards in a line of a river; the last line is longer if need be
NORTHS_AT, NORTH_SIZE = (12.8, 12.02), 0.86
HAND_LEFT, HAND_RIGHT, HAND_BOTTOM = (0.3, 2.1, 1.4), (18.3, 17.2, 16.5), (17.85, 17.3, 17.3)  # by side
HAND_SIZE_OF, MELD_SIZE_OF, MELD_GAP, DRAWN_GAP = (1.15, 0.8, 0.8), (0.85, 0.72, 0.72), 0.14, 0.3
DORA_TOP, DORA_SIZE, DORA_PLACES = 1.5, 0.98, 5
LONGEST_NAME, LONGEST_NAME_AT_END = 12, 8  # characters, so that names of two sides do not meet in a corner
ROUND_WINDS = ("East", "South", "West")
ENDS = {way.number: way.english for way in RYUKYOKU}
HOLDS_ONE_MORE = (TURN, AFTER_PON, RIICHI_DISCARD)  # phases in which the seat on turn is to discard

FELT, PLATE_FILL, TEXT, MUTED, LIT = "#2d6552", "#17352b", "#eef4ef", "#d3e0d8", "#ffd34d"
STICK, STICK_DOT = "#fbf7ea", "#c4241f"
FACES = {"face": ("#fbf7ea", "#d9cfb2"), "dull": ("#d9d3c1", "#b9b096")}  # of a tile and its lower edge
FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
SYMBOL = re.compile(r'<symbol id="tile-(\w+)"[^>]*>\n(.*?)</symbol>', re.DOTALL)


class Tile(NamedTuple):
    """A tile as it lies on the table; `name` as in mjai, ``?`` shows its back."""

    name: str
    dull: bool = False  # discarded as drawn
    sideways: bool = False
    called: bool = False  # by another seat: pale
    last: bool = False  # the newest discard: framed
    above: str = ""  # the tile that a kakan has added to a sideways one

    @property
    def width(self) -> float:
        """Its width, upright tiles having 1."""
        return TALL if self.sideways else 1.0


def table_svg(t: Any, names: Sequence[str] = ("", "", "")) -> str:
    """A picture of a TABLE record as an SVG document.

    A view is drawn from its seat, with the other hands face down; a whole table from seat 0, with all hands open.
    `names`: the names of the seats, by default ``seat 0`` and so on.
    """
    bottom = max(int(t.viewer), 0)
    log = [unpack(word) for word in t.log[: t.n_log].tolist()]
    parts = [_plate(t), _panel(t)]
    for side, angle in enumerate(TURNED):
        seat = (bottom + side) % N_SEATS
        shown = "".join(_seat(t, seat, side, names[seat] or f"seat {seat}", log))
        parts.append(f'<g data-seat="{seat}" transform="rotate({angle} {_at(*MIDDLE)})">{shown}</g>')
    body = "\n".join(parts)
    width, height = round(WIDTH * UNIT), round(HEIGHT * UNIT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width // 2}" '
        f'height="{height // 2}" font-family="{FONT}" role="img">\n<title>{escape(summary(t))}</title>\n'
        f'<defs>{_definitions(body)}</defs>\n<rect width="{width}" height="{height}" rx="12" fill="{FELT}"/>\n'
        f"{body}\n</svg>\n"
    )


SHOW["svg"] = table_svg


def _plate(t: Any) -> str:
    """Draw the plate in the middle of the table, with the round and the draws left."""
    x, y = MIDDLE
    over = "game over" if t.phase == GAME_OVER else ENDS.get(int(t.ryukyoku_reason), "round over")
    state = over if t.phase in (ROUND_OVER, GAME_OVER) else f"{t.live_left} left"
    return (
        _box(x - PLATE / 2, y - PLATE / 2, PLATE, PLATE, 0.4, PLATE_FILL)
        + _text(x, y - 0.2, 0.68, f"{ROUND_WINDS[t.round_wind]} {t.dealer + 1}", bold=True)
        + _text(x, y + 0.6, 0.56, state, MUTED)
    )


def _panel(t: Any) -> str:
    """Draw the upper side, where nobody sits: dora and ura indicators, honba, riichi sticks."""
    x = MIDDLE[0] - DORA_PLACES * DORA_SIZE / 2
    shown = _indicators(t, DORA_AT)
    rows = [shown + [HIDDEN_TILE] * (DORA_PLACES - len(shown))]
    if any(t.seat[win.winner].riichi for win in t.win[: t.n_wins]) and (ura := _indicators(t, URA_AT)):
        rows.append(ura)
    tops = [DORA_TOP + i * DORA_SIZE * TALL for i in range(len(rows))]
    counts = f"Honba {t.honba} · Riichi sticks {t.sticks}"
    return (
        _text(MIDDLE[0], DORA_TOP - 0.3, 0.56, "Dora indicators", MUTED)
        + "".join(_row(part, map(Tile, row), x, top, DORA_SIZE) for part, row, top in zip(("dora", "ura"), rows, tops))
        + _text(MIDDLE[0], DORA_TOP + len(rows) * DORA_SIZE * TALL + 0.65, 0.56, counts, MUTED)
    )


def _indicators(t: Any, at: np.ndarray) -> list[str]:
    """Return the names of the indicators at the wall indices `at` that are turned over and known."""
    return [tile_name(tile) for tile in t.wall[at[: t.n_indicators]].tolist() if tile != UNKNOWN]


def _seat(t: Any, seat: int, side: int, name: str, log: list[Event]) -> Iterator[str]:
    """Draw everything that belongs to a seat, as if it sat at the bottom."""
    p = t.seat[seat]
    yield from _edge(t, seat, side, name)
    river = _river(p, seat, log)
    for line in range(LINES):
        x, y = LINES_AT
        tiles = river[line * LINE : None if line == LINES - 1 else (line + 1) * LINE]
        yield _row("river", tiles, x, y + line * TALL, 1.0)
    yield _row("norths", [Tile("N")] * int(p.nukidora), *NORTHS_AT, NORTH_SIZE)
    bottom, size = HAND_BOTTOM[side], HAND_SIZE_OF[side]
    hand, drawn = _hand(t, seat)
    yield _row("hand", map(Tile, hand), HAND_LEFT[side], bottom - TALL * size, size)
    if drawn:
        left = HAND_LEFT[side] + (len(hand) + DRAWN_GAP) * size
        yield _row("drawn", [Tile(drawn)], left, bottom - TALL * size, size)
    right, size = HAND_RIGHT[side], MELD_SIZE_OF[side]
    for index in range(p.n_melds):  # the first one is the outermost
        meld = _meld(p, seat, index, log)
        right -= sum(tile.width for tile in meld) * size
        yield _row("meld", meld, right, bottom - TALL * size, size)
        right -= MELD_GAP


def _edge(t: Any, seat: int, side: int, name: str) -> Iterator[str]:
    """A seat's side of the plate: name, wind, points, whose turn it is, its riichi stick."""
    x, y = MIDDLE[0], MIDDLE[1] + PLATE / 2
    p, over = t.seat[seat], t.phase in (ROUND_OVER, GAME_OVER)
    to_act = t.turn == seat if t.phase < RESPONSE else t.phase == RESPONSE and t.answer[seat] < 0 and any(t.legal[seat])
    if to_act:
        yield _box(x - 2.6, y - 0.14, 5.2, 0.14, 0.07, LIT)
    did = _did(t, seat) if over else ""
    longest = LONGEST_NAME_AT_END if did else LONGEST_NAME
    if len(name) > longest:
        name = name[: longest - 1] + "…"
    name = "".join(each if each.isprintable() else "?" for each in name)  # XML forbids control characters
    yield _text(x, y - 0.82, 0.5, f"{name} · {did}" if did else name, LIT if did else MUTED)
    change = p.score - (p.start_score if over else t.seat[max(int(t.viewer), 0)].score)
    parts = [
        _span(WINDS[(seat - int(t.dealer)) % N_SEATS], f'font-weight="700" fill="{LIT if seat == t.dealer else TEXT}"'),
        _span(f"{p.score:,}", 'font-weight="700"'),
        *([_span(_signed(change), f'font-size="28" fill="{MUTED}"')] if over or side else []),
    ]
    yield _text(x, y - 0.25, 0.56, " ".join(parts), markup=True)
    if p.riichi:
        yield _box(x - 1.8, y + 0.28, 3.6, 0.28, 0.14, STICK)
        yield _box(x - 0.09, y + 0.33, 0.18, 0.18, 0.09, STICK_DOT)


def _signed(points: int) -> str:
    return f"{points:+,}".replace("-", "−") if points else "±0"


def _did(t: Any, seat: int) -> str:
    """Return how the round ended for a seat: ``ron``, ``tsumo`` or ``tenpai``; else an empty text."""
    wins = [win for win in t.win[: t.n_wins] if win.winner == seat]
    if wins:
        return "tsumo" if wins[0].target == seat else "ron"
    return "tenpai" if t.ryukyoku_reason and t.ryukyoku_tenpai[seat] else ""


def _river(p: Any, seat: int, log: list[Event]) -> list[Tile]:
    """The discards of a SEAT record."""
    newest = next((event.actor for event in reversed(log) if event.type == DAHAI), NONE)
    tiles = []
    for index, entry in enumerate(p.river[: p.n_river].tolist()):
        called = bool(entry & RIVER_CALLED)
        last = newest == seat and index == p.n_river - 1 and not called
        name, dull = MJAI_NAMES[entry & RIVER_TILE], bool(entry & RIVER_TSUMOGIRI)
        tiles.append(Tile(name, dull, index == p.riichi_river, called, last))
    return tiles


def _hand(t: Any, seat: int) -> tuple[list[str], str]:
    """Return the concealed tiles of a seat, and separately the tile just drawn or won on, if any."""
    p = t.seat[seat]
    won = next((MJAI_NAMES[win.tile] for win in t.win[: t.n_wins] if win.winner == seat), "")
    drawn = int(t.drawn) if t.turn == seat else NONE
    if t.viewer in (EVERYTHING, seat):
        return hand_names(p, without=drawn), won or (MJAI_NAMES[drawn] if drawn != NONE else "")
    holds_one_more = int(t.turn) == seat and int(t.phase) in HOLDS_ONE_MORE
    return [HIDDEN_TILE] * (HAND_SIZE - 3 * int(p.n_melds)), won or HIDDEN_TILE * holds_one_more


def _meld(p: Any, seat: int, index: int, log: list[Event]) -> list[Tile]:
    """A meld: the tile called lies sideways, on the side of the seat it came from."""
    type_, kind, red = int(p.meld_type[index]), int(p.meld_kind[index]), int(p.meld_red[index])
    names = tile_names(kind, 4 if type_ in (DAIMINKAN_MELD, ANKAN_MELD, KAKAN_MELD) else 3, red)
    if type_ == ANKAN_MELD:
        return [Tile(name) for name in (HIDDEN_TILE, names[2], names[3], HIDDEN_TILE)]
    called = MJAI_NAMES[p.meld_called[index]]
    names.remove(called)
    above = ""
    if type_ == KAKAN_MELD:
        kakan = (event for event in log if event.type == KAKAN and event.actor == seat)
        above = next(MJAI_NAMES[event.tile] for event in kakan if KIND_OF[event.tile] == kind)
        names.remove(above)
    own, sideways = [Tile(name) for name in names], Tile(called, sideways=True, above=above)
    from_right = (int(p.meld_from[index]) - seat) % N_SEATS == 1
    return [*own, sideways] if from_right else [sideways, *own]


def _row(part: str, tiles: Iterable[Tile], x: float, y: float, size: float) -> str:
    """Draw tiles in a row, starting at the upper left corner; `size`: the width of an upright tile."""
    parts, left = [], 0.0
    for tile in tiles:
        parts.append(_placed(tile, round(left * UNIT)))
        left += tile.width
    scale = f" scale({size:g})" if size != 1 else ""
    return f'<g data-part="{part}" transform="translate({_at(x, y)}){scale}">{"".join(parts)}</g>' if parts else ""


def _placed(tile: Tile, left: int) -> str:
    """Draw a tile of a row, in the units of the shapes."""
    name = "back" if tile.name == HIDDEN_TILE else tile.name
    used = f'href="#{"dull" if tile.dull else "tile"}-{name}"'
    pale = ' opacity=".35"' * tile.called
    if tile.sideways:
        turned = f'transform="translate({left} {{}}) rotate(-90)"'
        shown = f"<use {used} {turned.format(80)}{pale}/>"
        if tile.above:
            shown += f'<use href="#tile-{tile.above}" {turned.format(20)}/>'
    else:
        shown = f'<use {used} x="{left}"{pale}/>'
    if tile.last:
        x, y, width, height = (left, 20, 80, 60) if tile.sideways else (left, 0, 60, 80)
        frame = f'x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{height - 2}" rx="5"'
        shown += f'<rect {frame} fill="none" stroke="{LIT}" stroke-width="5"/>'
    return shown


def _definitions(body: str) -> str:
    """The tiles that are used in `body`."""
    used = sorted(set(re.findall(r'href="#(\w+-\w+)"', body)))
    blank = "".join(
        f'<g id="tile-{name}"><rect width="60" height="80" rx="6" fill="{edge}" stroke="#000" stroke-opacity=".3"/>'
        f'<rect width="60" height="76" rx="6" fill="{face}"/></g>'
        for name, (face, edge) in FACES.items()
    )
    pictures = shapes()
    tiles = []
    for name in used:
        look, _, tile = name.partition("-")
        face = "" if tile == "back" else f'<use href="#tile-{"dull" if look == "dull" else "face"}"/>'
        tiles.append(f'<g id="{name}">{face}{pictures[tile]}</g>')
    return blank + "\n".join(tiles)


def sprite() -> str:
    """The text of ``tiles.svg``: a symbol for each tile, such as ``tile-5pr``, and ``tile-back``.

    The shape of a tile is 60 x 80 units, without its face.
    """
    return Path(__file__).with_name("tiles.svg").read_text("utf-8")


@cache
def shapes() -> dict[str, str]:
    """The shapes of each tile by its mjai name, and of the ``back``."""
    return dict(SYMBOL.findall(sprite()))


def _at(x: float, y: float) -> str:
    return f"{x * UNIT:.0f} {y * UNIT:.0f}"


def _box(x: float, y: float, width: float, height: float, round_by: float, fill: str) -> str:
    """A rectangle with round corners."""
    x, y, width, height, round_by = (round(value * UNIT) for value in (x, y, width, height, round_by))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{round_by}" fill="{fill}"/>'


def _text(
    x: float, y: float, size: float, content: str, fill: str = TEXT, *, bold: bool = False, markup: bool = False
) -> str:
    """Return a line of text centred at `x` on the baseline `y`; `markup`: the content is SVG already."""
    weight = ' font-weight="700"' * bold
    where = f'x="{x * UNIT:.0f}" y="{y * UNIT:.0f}" font-size="{size * UNIT:.0f}"'
    return f'<text {where} text-anchor="middle"{weight} fill="{fill}">{content if markup else escape(content)}</text>'


def _span(content: str, attributes: str) -> str:
    return f"<tspan {attributes}>{escape(content)}</tspan>"
