"""The numbered legal moves of a position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from agents.console.tiles import tile_text
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KAKAN,
    KYUSHU_KYUHAI,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    require_actions,
)
from engine.mjai.messages import hand_names
from engine.tiles import MJAI_TILES, NONE

# Actions other than discards -> their wording, before the tile that they take. The most important come first.
WORDS: dict[int, str] = {
    TSUMO: "tsumo: win with",
    RON: "ron: win on",
    RIICHI: "riichi",
    NUKIDORA: "nukidora",
    PON: "pon",
    PON_RED: "pon, with the red five,",
    DAIMINKAN: "kan of",
    KYUSHU_KYUHAI: "abort the round: nine terminals and honours",
    PASS: "pass",
}
require_actions("WORDS of agents/console/moves.py", WORDS)
ON_DRAWN, ON_OFFER = frozenset({TSUMO}), frozenset({RON, PON, PON_RED, DAIMINKAN})


@dataclass(frozen=True, slots=True)
class Move:
    """A legal move. `number`: what a person types for it, from 1. `tile`: the tile37 that it discards, or NONE."""

    number: int
    action: int
    label: Text
    tile: int = NONE

    @property
    def of_drawn(self) -> bool:
        """Whether it discards the tile just drawn."""
        return self.action == TSUMOGIRI


def hand_of(view: Any, seat: int) -> tuple[list[int], int]:
    """The concealed hand of a seat as tile37 in order, and the tile it has just drawn, which is not among them."""
    drawn = int(view.drawn) if view.turn == seat else NONE
    return [MJAI_TILES[name] for name in hand_names(view.seat[seat], without=drawn)], drawn


def moves_of(view: Any, legal: Iterable[int]) -> list[Move]:
    """The legal moves of the viewer: discards in the order of the hand, the drawn tile, then everything else."""
    legal = list(legal)
    hand, drawn = hand_of(view, int(view.viewer))
    discards = [(tile, tile) for tile in dict.fromkeys(hand) if tile in legal]
    discards += [(TSUMOGIRI, drawn)] if TSUMOGIRI in legal else []
    others = [action for action in WORDS if action in legal] + [action for action in legal if action >= ANKAN]
    found = [
        Move(number, action, Text("discard ") + tile_text(tile), tile)
        for number, (action, tile) in enumerate(discards, 1)
    ]
    return found + [
        Move(number, action, label_of(view, action)) for number, action in enumerate(others, len(found) + 1)
    ]


def label_of(view: Any, action: int) -> Text:
    """Return an action other than a discard in words."""
    if action >= ANKAN:
        kind = action - (KAKAN if action >= KAKAN else ANKAN)
        return Text("add to the pon " if action >= KAKAN else "concealed kan ") + tile_text(kind)
    tile = int(view.drawn) if action in ON_DRAWN else int(view.offer) if action in ON_OFFER else NONE
    return Text(WORDS[action]) + (Text(" ") + tile_text(tile) if tile != NONE else Text())
