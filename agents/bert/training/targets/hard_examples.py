"""Which of a bot's decisions are worth learning from: those in which it may be wrong.

Of the decisions of a bot that imitates its teacher well, a fifth hold nine tenths of what it loses
(docs/training.md tells how that was measured).
"""

from __future__ import annotations

import numpy as np

from agents.base import Agent
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.training.data.collect import Lesson, worths_of
from agents.bert.training.data.shards import NOT_THOUGHT_OF

DOUBTFUL = 0.006  # places that the bot may expect to lose there by the teacher's word
LEFT_OF = 8  # of the other decisions, one in so many is kept


class Doubts:
    """Chooses the decisions in which a bot may be wrong, and some others."""

    def __init__(self, teacher: Agent, seed: int) -> None:
        """What is to be learned of them is what the `teacher` says; `seed` draws the others."""
        self._teacher = teacher
        self._random = np.random.default_rng(seed)

    def of(self, views: np.ndarray, worths: np.ndarray, tables: np.ndarray) -> Lesson:
        """Choose of the decisions `views` TABLE[n], whose actions the bot weighs as `worths` float32[n, N_ACTIONS].

        It is taken to play an action as often as `agents.bert` means by such worths. An action that it thought of and
        the teacher did not is learned to be a mistake. The whole `tables` are not needed.
        """
        taught = worths_of(views, worths.argmax(axis=1), self._teacher)
        known, thought_of = np.isfinite(worths), np.isfinite(taught)
        lost = np.where(thought_of, taught.max(axis=1, keepdims=True) - taught, np.float32(NOT_THOUGHT_OF))
        chances = np.exp((worths - worths.max(axis=1, keepdims=True)) / REGRET_UNIT)
        expected = (chances * np.where(known, lost, 0.0)).sum(axis=1) / chances.sum(axis=1)
        others = self._random.integers(LEFT_OF, size=len(views)) == 0
        rows = np.flatnonzero((expected >= DOUBTFUL) | others)
        return Lesson(rows, np.where(known | thought_of, -lost, np.float32(-np.inf))[rows])
