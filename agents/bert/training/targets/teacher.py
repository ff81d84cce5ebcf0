"""Targets from a teacher: another bot's evaluation of the decision (imitation learning on the student's own states)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agents.base import ActionValues, Agent, Probabilities
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.training.targets.played import one_hot_values
from agents.bert.training.targets.protocol import Decisions, Targets


def teacher_values(teacher: Agent, views: np.ndarray) -> np.ndarray:
    """float32[n, N_ACTIONS]: the teacher's action values of `views` TABLE[n].

    Those of a policy are scaled so that softmax(values / REGRET_UNIT), which a student learns, is this policy (policy
    distillation: Rusu et al. 2016); of actions with the same label, the student learns the likelier. A teacher without
    action values has 0 for the action it would play and -inf for the others.
    """
    if isinstance(teacher, Probabilities):
        return teacher.action_values(views) * np.float32(REGRET_UNIT / teacher.value_temperature)
    if isinstance(teacher, ActionValues):
        return teacher.action_values(views)
    return one_hot_values(teacher.act(views))


class Teacher:
    """A `TargetSource` that labels every decision with `teacher_values`."""

    uses_action_values: ClassVar[bool] = False

    def __init__(self, teacher: Agent) -> None:
        self._teacher = teacher

    def label(self, decisions: Decisions) -> Targets:
        """Choose all decisions, with the values of the teacher."""
        return Targets(slice(None), teacher_values(self._teacher, decisions.views))
