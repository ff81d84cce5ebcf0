"""Targets for hard examples: decisions in which the bot probably errs, labelled by a teacher.

A bot that imitates its teacher well has most of its regret in a small share of its decisions. The others are
kept only as a small random sample.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agents.base import Agent
from agents.bert.training.data.shards import UNKNOWN_REGRET
from agents.bert.training.targets.protocol import Decisions, Targets
from agents.bert.training.targets.teacher import teacher_values

# A decision with at least that expected regret is a hard example: in placements, or in REGRET_UNIT times the nats of a
# teacher that is a policy (0.006: 1.5 nats).
MIN_EXPECTED_REGRET = 0.006
KEEP_ONE_IN = 8  # share of the other decisions that is kept


class HardExamples:
    """A `TargetSource` of the decisions with a high expected regret by the teacher's action values, and some others."""

    uses_action_values: ClassVar[bool] = True

    def __init__(self, teacher: Agent, seed: int) -> None:
        """`seed` draws which of the other decisions are kept."""
        self._teacher = teacher
        self._random = np.random.default_rng(seed)

    def label(self, decisions: Decisions) -> Targets:
        """Choose the hard examples and some others, with minus the regret of each action.

        The expected regret assumes that the bot plays softmax(action_values / value_temperature). An action that only
        the bot considers counts as a mistake of UNKNOWN_REGRET.
        """
        values = decisions.action_values
        if values is None:
            raise ValueError("hard examples need the action values of the bot that plays")
        teacher = teacher_values(self._teacher, decisions.views)
        by_bot, by_teacher = np.isfinite(values), np.isfinite(teacher)
        regret = np.where(by_teacher, teacher.max(axis=1, keepdims=True) - teacher, np.float32(UNKNOWN_REGRET))
        odds = np.exp((values - values.max(axis=1, keepdims=True)) / decisions.value_temperature)
        expected = (odds * np.where(by_bot, regret, 0.0)).sum(axis=1) / odds.sum(axis=1)
        kept = self._random.integers(KEEP_ONE_IN, size=len(values)) == 0
        rows = np.flatnonzero((expected >= MIN_EXPECTED_REGRET) | kept)
        return Targets(rows, np.where(by_bot | by_teacher, -regret, np.float32(-np.inf))[rows])
