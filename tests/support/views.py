"""Views of played games, and plain readings of them to compare compiled code with."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.registry import make
from engine import events
from engine.actions import ANKAN, DAIMINKAN, NUKIDORA, PASS, PON, PON_RED, TSUMOGIRI
from engine.table import RIVER_TILE, RIVER_TSUMOGIRI
from engine.tables import Tables
from engine.tiles import KIND_OF, NORTH

CHANGES_OF_HAND = (events.PON, events.DAIMINKAN, events.ANKAN, events.KAKAN, events.NUKIDORA)


def views_of_games(n: int, bot: str = "rule", every: int = 5) -> np.ndarray:
    """Some of the views TABLE[:] of `n` games between three of a bot."""
    found: list[np.ndarray] = []
    player = make(bot, 1)

    def act(views: np.ndarray) -> np.ndarray:
        found.append(views[::every].copy())
        return player.act(views)

    for _ in Tables(range(n)).play([act], np.zeros((n, 3), dtype=np.int8)):
        pass
    return np.concatenate(found)


def kind_of(view: Any, number: int) -> int | None:
    """The kind that an action is about, or None."""
    if number < TSUMOGIRI:
        return int(KIND_OF[number])
    if number == TSUMOGIRI:
        return int(KIND_OF[view["drawn"]])
    if number == NUKIDORA:
        return int(NORTH)
    if number in (PON, PON_RED, DAIMINKAN, PASS):
        return int(KIND_OF[view["offer"]])
    return (number - ANKAN) % 34 if number >= ANKAN else None


def unseen(view: Any, kind: int) -> int:
    """How many tiles of a kind the viewer does not see."""
    return int(4 - view["seat"][view["viewer"]]["hand"][kind] - view["seen"][kind])


def river_of(seat: Any) -> list[tuple[int, bool]]:
    """The discards of a seat: kind, and whether it came from the hand."""
    entries = seat["river"][: seat["n_river"]].tolist()
    return [(int(KIND_OF[each & RIVER_TILE]), not each & RIVER_TSUMOGIRI) for each in entries]


def safe_kinds(view: Any, seat: int) -> set[int]:
    """The kinds that cannot deal in to a seat: its discards, and what passed since its hand last changed."""
    safe: set[int] = set()
    in_riichi = False
    for word in view["log"][: view["n_log"]].tolist():
        event = events.unpack(word)
        if event.type == events.DAHAI:
            if event.actor == seat and not event.tsumogiri and not in_riichi:
                safe.clear()
            safe.add(int(KIND_OF[event.tile]))
        elif event.actor == seat and event.type == events.REACH_ACCEPTED:
            in_riichi = True
        elif event.actor == seat and event.type in CHANGES_OF_HAND and not in_riichi:
            safe.clear()
    return safe | {kind for kind, _ in river_of(view["seat"][seat])}
