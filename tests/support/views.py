"""Views of played games."""

from __future__ import annotations

import numpy as np

from agents.registry import make
from engine.tables import Tables


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
