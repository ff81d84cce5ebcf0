"""Targets from play itself: the network learns to imitate the action that was played."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agents.bert.training.targets.protocol import Decisions, Targets
from engine.actions import N_ACTIONS


def one_hot_values(actions: np.ndarray) -> np.ndarray:
    """float32[n, N_ACTIONS]: 0 for each of `actions` int64[n], -inf for all others."""
    values = np.full((len(actions), N_ACTIONS), -np.inf, dtype=np.float32)
    values[np.arange(len(actions)), actions] = 0.0
    return values


class PlayedActions:
    """A `TargetSource` that labels every decision with the action that was played."""

    uses_action_values: ClassVar[bool] = False

    def label(self, decisions: Decisions) -> Targets:
        """Choose all decisions, with the actions that were played."""
        return Targets(slice(None), one_hot_values(decisions.actions))
