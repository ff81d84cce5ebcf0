"""The protocol of target sources, and the arrays they read and return."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from agents.bert.checkpoint import REGRET_UNIT


class Decisions(NamedTuple):
    """n decisions of one bot or of recorded players, offered as training samples."""

    views: np.ndarray  # TABLE[n]
    actions: np.ndarray  # int64[n]: the actions that were played
    action_values: np.ndarray | None = None  # float32[n, N_ACTIONS] of the bot; for sources that use them
    tables: np.ndarray | None = None  # TABLE[m]: all tables with their hidden tiles; None for recorded games
    games: np.ndarray | None = None  # int[n]: index into `tables` of each decision
    value_temperature: float = (
        REGRET_UNIT  # softmax(action_values / value_temperature) is what the bot is assumed to play
    )


class Targets(NamedTuple):
    """The decisions that become training samples, and their targets."""

    rows: np.ndarray | slice  # int64[k]: indices of the chosen decisions; slice(None) chooses all
    # float32[k, N_ACTIONS]: expected -placement of each action, or REGRET_UNIT times the logits of a policy; -inf where
    # unknown
    action_values: np.ndarray


class TargetSource(Protocol):
    """Chooses training samples from decisions and computes their targets."""

    # Whether `label` needs the bot's action values. Then only bots that have them are sampled, and each plays the
    # action of its highest value.
    uses_action_values: ClassVar[bool]

    def label(self, decisions: Decisions) -> Targets:
        """Choose and label decisions. Raises ValueError if an array is None that this source needs."""
        ...
