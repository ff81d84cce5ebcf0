"""Views of played games, and plain readings of them to compare compiled code with."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.registry import make
from engine.actions import ANKAN, DAIMINKAN, NUKIDORA, PASS, PON, PON_RED, TSUMOGIRI
from engine.tables import Tables
from engine.tiles import KIND_OF, NORTH


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
