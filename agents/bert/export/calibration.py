"""Positions such as a network comes to, to measure it on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.bert.labels import legal_table
from agents.registry import make
from engine.tables import Tables


def positions(walls: Sequence[int]) -> np.ndarray:
    """TABLE[n]: all views with more than one legal label, of hanchan of the bot `rule`, in random order."""
    bot = make("rule")
    kept: list[np.ndarray] = []

    def act(views: np.ndarray) -> np.ndarray:
        kept.append(views[legal_table(views).sum(axis=1) > 1])
        return bot.act(views)

    for _ in Tables(walls).play([act], np.zeros((len(walls), 3), dtype=np.int8)):
        pass
    return np.random.default_rng(1).permutation(np.concatenate(kept))
