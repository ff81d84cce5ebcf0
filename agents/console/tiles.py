"""Tiles in colours, and lines of text that fit a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from rich.style import Style
from rich.text import Text

from engine.table import DORA_AT
from engine.text import TILES
from engine.tiles import DORA_OF, HONOUR, KIND_OF, N_KINDS, UNKNOWN

# Each colour has a contrast of 3.8 to 5.5 with black and with white, so that it is read on both.
SUIT_STYLES = (Style(color="color(133)"), Style(color="color(32)"), Style(color="color(28)"))  # man, pin, sou
RED_FIVE = Style(color="color(160)", bold=True)
DORA = Style(underline=True, bold=True)
PLAIN = Style()


def doras(view: object) -> frozenset[int]:
    """The kinds that the dora indicators of a TABLE record make dora."""
    shown = view.wall[DORA_AT[: view.n_indicators]].tolist()  # type: ignore[attr-defined]
    return frozenset(int(DORA_OF[KIND_OF[tile]]) for tile in shown if tile != UNKNOWN)


def style_of(tile: int, dora: Set[int] = frozenset()) -> Style:
    """The style of a tile37: the colour of its suit, red for a red five; underlined where its kind is dora."""
    kind = int(KIND_OF[tile])
    colour = RED_FIVE if tile >= N_KINDS else SUIT_STYLES[kind // 9] if kind < HONOUR else PLAIN
    return colour + DORA if kind in dora else colour


def tile_text(tile: int, dora: Set[int] = frozenset()) -> Text:
    """A tile37 as `engine.text` writes it, such as ``0p`` and ``E``, in its style."""
    return Text(TILES[tile], style_of(tile, dora))


def set_text(tiles: Sequence[int], dora: Set[int] = frozenset()) -> Text:
    """Tiles of one kind together: ``550p``, ``EEE``."""
    *first, last = tiles
    return Text.assemble(*((TILES[tile][0], style_of(tile, dora)) for tile in first), tile_text(last, dora))


def flow(parts: Iterable[Text], width: int, between: str = " ", indent: str = "") -> list[Text]:
    """`parts` on as many lines as needed, none longer than `width`; lines but the first begin with `indent`.

    A part longer than a line is cut.
    """
    lines: list[Text] = []
    for part in parts:
        if lines and lines[-1].cell_len + len(between) + part.cell_len <= width:
            lines[-1] = lines[-1] + between + part
        else:
            line = Text(indent if lines else "") + part
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
    return lines


def wrap(text: Text, width: int, indent: str = "  ") -> list[Text]:
    """A text broken at its blanks into lines, none longer than `width`; lines but the first begin with `indent`."""
    return [text] if text.cell_len <= width else flow(text.split(" "), width, indent=indent)
