"""The picture of a table: lines drawn from a view, none longer than the terminal and no more than it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.text import Text

from agents.console.moves import Move, hand_of
from agents.console.tiles import doras, flow, set_text, style_of, tile_text, wrap
from agents.external.mjai_bot import one_line
from engine.mjai.messages import tile_names
from engine.table import (
    ANKAN_MELD,
    DORA_AT,
    N_SEATS,
    OFFER_DISCARD,
    PON_MELD,
    RESPONSE,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    round_of,
)
from engine.text import TILES
from engine.tiles import MJAI_TILES, NONE, SANMA_KINDS, UNKNOWN, WINDS

MIN_WIDTH, MIN_HEIGHT = 48, 15
CELL = 3  # columns of a tile of the hand, with the blank before it
NAME_WIDTH = 16
CUT = "…"  # stands for what does not fit
RIVER_INDENT = 4
FEWEST_LOG_LINES = 3  # lines of what has happened that go before lines of the rivers
SUIT_ROWS = ((0, 8), range(9, 18), range(18, 27), range(27, 34))  # kinds of each row of the unseen tiles
SEAT_LINES = 2 * N_SEATS  # lines that the seats need at least


@dataclass
class Scene:
    """Everything that is drawn. `view`: of the own seat, None before the first round.

    `names`: of the three seats. `moves`: the legal ones, [] where none is asked for. `chosen`: the move that is marked.
    `typed`: the digits of its number typed so far. `log`: what has happened, oldest first. `panel`: text over the
    table. `prompt`: the last lines.
    """

    view: Any = None
    names: Sequence[str] = ("", "", "")
    moves: list[Move] = field(default_factory=list)
    chosen: Move | None = None
    typed: str = ""
    log: Iterable[Text] = ()
    panel: Sequence[Text] | None = None
    prompt: Sequence[Text] = ()


def picture(scene: Scene, width: int, height: int) -> list[Text]:
    """The scene as at most `height` lines of at most `width` columns each; what matters least is left out first."""
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return too_small(width, height, MIN_HEIGHT)
    below = [line for text in scene.prompt for line in wrap(text, width)]
    if scene.view is None:
        above = [Text("nukidora", "bold"), rule(width)]
    else:
        above = header(scene.view, width)
        below = [*hand_lines(scene, width), *move_lines(scene, width), *below]
    free = height - len(above) - len(below)
    if free < SEAT_LINES:  # leave out the separator lines
        above, below = ([line for line in lines if line != rule(width)] for lines in (above, below))
        free = height - len(above) - len(below)
    if free < SEAT_LINES:
        return too_small(width, height, height + SEAT_LINES - free)
    body = (body_lines if scene.panel is None else panel_lines)(scene, width, free)
    return [*above, *body, *[Text()] * (free - len(body)), *below]


def too_small(width: int, height: int, needed: int) -> list[Text]:
    """Return what is shown if there is no room for a table; `needed`: lines."""
    told = f"the terminal is too small: {width} x {height}; at least {MIN_WIDTH} x {needed} is needed"
    return wrap(Text(told), max(width, 1), indent="")[:height]


def body_lines(scene: Scene, width: int, free: int) -> list[Text]:
    """The seats and what has happened, in at most `free` lines."""
    blocks = []
    if scene.view is not None:  # the viewer, whose hand is drawn below, is the last
        viewer = int(scene.view.viewer)
        blocks = [seat_lines(scene, (viewer + step) % N_SEATS, width) for step in (1, 2, 3)]
    n_longest = max((len(river) for _, river in blocks), default=1)
    for most in range(n_longest, 0, -1):  # lines of each river
        seats = [line for info, river in blocks for line in (*info, *newest(river, most))]
        if len(seats) + FEWEST_LOG_LINES + 1 <= free:
            break
    if len(seats) > free:
        seats = [line for info, river in blocks for line in (info[0], *newest(river, 1))]
    n_log = max(free - len(seats) - 1, 0)
    log = [line for text in list(scene.log)[-n_log:] for line in wrap(text, width)]
    middle = [rule(width)] if blocks and len(seats) < free else []
    return [*seats, *middle, *(log[-n_log:] if n_log else [])]


def newest(river: list[Text], most: int) -> list[Text]:
    """The last `most` lines of a river; a mark says that there are others."""
    if len(river) <= most:
        return river
    kept = river[-most:]
    return [Text(CUT, "dim") + kept[0][1:], *kept[1:]]


def panel_lines(scene: Scene, width: int, free: int) -> list[Text]:
    """The text over the table, in at most `free` lines."""
    lines = [line for text in scene.panel or () for line in wrap(text, width)]
    if len(lines) > free:
        lines = [*lines[: free - 1], Text(f"{CUT} a higher terminal shows more", "dim")]
    return lines


def rule(width: int) -> Text:
    """A line across the terminal."""
    return Text("─" * width, "dim")


def header(view: Any, width: int) -> list[Text]:
    """The round, what lies on the table, the dora, and how many draws are left."""
    indicators = [tile for tile in view.wall[DORA_AT[: view.n_indicators]].tolist() if tile != UNKNOWN]
    dora = Text("dora ") + Text(" ").join(tile_text(kind, {kind}) for kind in sorted(doras(view)))
    shown = Text("indicators " if len(indicators) > 1 else "indicator ")
    parts = [
        Text(round_of(view), "bold"),
        Text(f"{view.sticks} riichi stick{'' if view.sticks == 1 else 's'}"),
        dora,
        shown + Text(" ").join(map(tile_text, indicators)),
        Text(f"{view.live_left} tiles left"),
    ]
    return [*flow(parts, width, " · "), rule(width)]


def seat_lines(scene: Scene, seat: int, width: int) -> tuple[list[Text], list[Text]]:
    """The lines of a seat: who it is and what it has laid down; and its river."""
    view, p = scene.view, scene.view.seat[seat]
    dora = doras(view)
    acts = view.phase < RESPONSE and view.turn == seat
    name = Text("you" if seat == view.viewer else one_line(scene.names[seat]))
    name.truncate(NAME_WIDTH, overflow="ellipsis", pad=True)
    name.stylize("bold" if acts else "")
    wind = WINDS[(seat - int(view.dealer)) % N_SEATS]
    parts = [Text(f"{'>' if acts else ' '} {wind} ") + name + f" {p.score:>7,}"]
    if riichi := int(p.riichi) or int(view.riichi_pending) * (view.turn == seat):
        parts.append(Text("double riichi" if riichi == 2 else "riichi", "bold reverse"))
    if p.nukidora:
        parts.append(Text(f"N×{p.nukidora}"))
    parts += meld_texts(p, dora)
    cells = [river_cell(view, seat, at, dora) for at in range(p.n_river)]
    per_line = (width - RIVER_INDENT) // 4
    rows = [Text("").join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)] or [Text()]
    return flow(parts, width, "  ", indent=" " * RIVER_INDENT), [Text(" " * RIVER_INDENT) + row for row in rows]


def meld_texts(p: np.record, dora: AbstractSet[int]) -> list[Text]:
    """The melds of a SEAT record; a concealed kan is in brackets."""
    texts = []
    for i in range(p.n_melds):
        size = 3 if p.meld_type[i] == PON_MELD else 4
        names = tile_names(int(p.meld_kind[i]), size, int(p.meld_red[i]))
        text = set_text([MJAI_TILES[name] for name in names], dora)
        texts.append(Text.assemble("[", text, "]") if p.meld_type[i] == ANKAN_MELD else text)
    return texts


def river_cell(view: Any, seat: int, at: int, dora: AbstractSet[int]) -> Text:
    """A discard in four columns with its marks: ``*`` riichi, ``'`` just drawn, ``()`` called by another."""
    p = view.seat[seat]
    entry = int(p.river[at])
    tile, called = entry & RIVER_TILE, entry & RIVER_CALLED
    before = "*" if p.riichi_river == at else "(" if called else " "
    after = ")" if called else "'" if entry & RIVER_TSUMOGIRI else ""
    face = tile_text(tile, dora)
    on_offer = view.phase == RESPONSE and view.offer_type == OFFER_DISCARD and view.turn == seat
    if on_offer and at == p.n_river - 1:
        face.stylize("reverse")
    cell = Text.assemble(before, face, after)
    cell.align("left", 4)
    return cell


def hand_lines(scene: Scene, width: int) -> list[Text]:
    """The own hand, and below each tile the number of the move that discards it."""
    view = scene.view
    hand, drawn = hand_of(view, int(view.viewer))
    dora = doras(view)
    numbers = {move.tile: move for move in scene.moves if move.tile != NONE and not move.of_drawn}
    last = next((move for move in scene.moves if move.of_drawn), None)
    placed = [(tile, numbers.get(tile)) for tile in hand]
    faces, below = Text(" "), Text(" ")
    for tile, move in [*placed, *([(drawn, last)] if drawn != NONE else [])]:
        if len(placed) == (len(faces.plain) - 1) // CELL and drawn != NONE:
            faces, below = faces + "  ", below + "  "
        marked = move is not None and move is scene.chosen
        face = Text(f"{TILES[tile]:>2}", style_of(tile, dora))
        number = Text(f"{move.number if move else '':>2}", "bold" if marked else "dim")
        if marked:
            face.stylize("reverse")
            number.stylize("reverse")
        faces, below = faces + " " + face, below + " " + number
    return [rule(width), faces, below]


def move_lines(scene: Scene, width: int) -> list[Text]:
    """The moves that are no discard of a tile of the hand, which has its number below it."""
    parts = []
    for move in scene.moves:
        if move.tile == NONE:
            part = Text.assemble((f"{move.number} ", "dim"), move.label)
            part.stylize("reverse" if move is scene.chosen else "")
            parts.append(part)
    return flow(parts, width, "   ")


def unseen_counts(view: Any) -> np.ndarray:
    """How many tiles of each kind the viewer sees neither in its hand nor face up: int64[34]."""
    counts = np.zeros(len(view.seen), dtype=np.int64)
    counts[SANMA_KINDS] = 4 - (view.seat[view.viewer].hand + view.seen)[SANMA_KINDS]
    return counts


def unseen_lines(view: Any) -> list[Text]:
    """How many tiles of each kind are unseen, a row for each suit."""
    counts, dora = unseen_counts(view), doras(view)
    lines = [Text(f"unseen: {counts.sum()} tiles, in the wall and in the hands of the others", "bold")]
    for row in SUIT_ROWS:
        cells = []
        for kind in row:
            count = int(counts[kind])
            cell = Text.assemble(tile_text(kind, dora), f"×{count}") if count else Text(f"{TILES[kind]} -", "dim")
            cell.align("right", 4)
            cells.append(cell)
        lines.append(Text(" ").join(cells))
    return lines
