"""Tiles, hands and tables as human-readable text.

Tiles are written as in `engine.scoring.api.score`, except for honours: ``19m 340p`` (0 is a red five), ``E S W N`` for
the winds and ``P F C`` for the white, green and red dragon.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engine.mjai.kinds import HAND_SIZE
from engine.mjai.messages import hand_names, tile_names
from engine.scoring.points import MANGAN_BASIC
from engine.table import (
    ANKAN_MELD,
    DAIMINKAN_MELD,
    DORA_AT,
    KAKAN_MELD,
    N_SEATS,
    PON_MELD,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    SHOW,
    asked_in,
    round_of,
)
from engine.tiles import HONOUR, KIND_OF, MJAI_NAMES, MJAI_TILES, MPSZ_NAMES, N_KINDS, NONE, WINDS

TILES = tuple(MJAI_NAMES[tile] if HONOUR <= tile < N_KINDS else MPSZ_NAMES[tile] for tile in range(len(MJAI_NAMES)))
MELDS = {PON_MELD: ("pon", 3), DAIMINKAN_MELD: ("daiminkan", 4), ANKAN_MELD: ("ankan", 4), KAKAN_MELD: ("kakan", 4)}
LIMITS = ((13, "yakuman"), (11, "sanbaiman"), (8, "baiman"), (6, "haneman"), (5, "mangan"))  # least han, highest first
MANGAN_FROM = 3  # han; from 3 han on, enough fu make a mangan
TILE_MARKS = "0: red five · E S W N: winds · P F C: white, green, red dragon"
RIVER_MARKS = "': the tile just drawn · *: riichi · (): called by another seat"


def tile_text(name: str) -> str:
    """A tile by its mjai name: ``0p`` for ``5pr``; ``?`` for a hidden tile."""
    return TILES[MJAI_TILES[name]] if name != "?" else name


def hand_text(names: Iterable[str]) -> str:
    """Tiles by their mjai names, sorted and grouped by suit: ``19m 1340p 2378s ESF``."""
    names = list(names)
    suits: dict[str, str] = dict.fromkeys("mps", "")
    honours = ""
    for name in sorted((name for name in names if name != "?"), key=lambda name: KIND_OF[MJAI_TILES[name]]):
        text = tile_text(name)
        if len(text) == 1:
            honours += text
        else:
            suits[text[1]] += text[0]
    groups = [ranks + suit for suit, ranks in suits.items() if ranks]
    return " ".join([*groups, *filter(None, (honours, "?" * names.count("?")))])


def limit_name(han: int, fu: int | None) -> str:
    """Return the name of the limit that a hand reaches, or an empty text; `fu` is None if a record names the limit."""
    by_fu = han >= MANGAN_FROM and (fu is None or fu << (2 + han) >= MANGAN_BASIC)
    return next((name for least, name in LIMITS if han >= least), "mangan" if by_fu else "")


def table_text(t: Any, names: Sequence[str] = ("", "", "")) -> str:
    """Return a table or view as lines of text: the round, each seat's hand and river, and who is to act."""
    indicators = hand_text(MJAI_NAMES[tile] for tile in t.wall[DORA_AT[: t.n_indicators]])
    lines = [f"{round_of(t)} · {t.sticks} riichi sticks · dora indicators {indicators} · {t.live_left} draws left"]
    for seat in range(N_SEATS):
        lines += _seat_lines(t, seat, names[seat])
    return "\n".join([*lines, *asked_in(t), f"({TILE_MARKS}", f" {RIVER_MARKS})"])


SHOW["text"] = table_text


def _seat_lines(t: Any, seat: int, name: str) -> list[str]:
    """Return the lines of one seat: its name and tiles, then its river."""
    p = t.seat[seat]
    who = f"seat {seat} {WINDS[(seat - int(t.dealer)) % N_SEATS]} {name}".rstrip()
    drawn = int(t.drawn) if t.turn == seat else NONE
    visible = t.viewer in (NONE, seat)
    hand = hand_text(hand_names(p, without=drawn) if visible else ["?"] * (HAND_SIZE - 3 * int(p.n_melds)))
    held = [hand + (f" + {TILES[drawn]}" if drawn != NONE else ""), *map(" ".join, _melds(p))]
    held += [f"nukidora {p.nukidora}"] if p.nukidora else []
    held += [("riichi", "double riichi")[p.riichi - 1]] if p.riichi else []
    entries, declared = p.river[: p.n_river].tolist(), int(p.riichi_river)
    river = [_river_text(entry, at == declared) for at, entry in enumerate(entries)]
    return [f"{who:<12} {p.score:>7,}  {' · '.join(held)}", f"    river {' '.join(river)}".rstrip()]


def _melds(p: np.record) -> list[tuple[str, str]]:
    """The name and the tiles of each meld of a SEAT record."""
    melds = []
    for i in range(p.n_melds):
        name, size = MELDS[int(p.meld_type[i])]
        melds.append((name, hand_text(tile_names(int(p.meld_kind[i]), size, int(p.meld_red[i])))))
    return melds


def _river_text(entry: int, riichi: bool) -> str:
    """An entry of a river with its marks."""
    text = TILES[entry & RIVER_TILE] + "'" * bool(entry & RIVER_TSUMOGIRI) + "*" * riichi
    return f"({text})" if entry & RIVER_CALLED else text
