"""The bot `ensemble`: a product of experts (Hinton 2002) of `residual` and `human`.

Each expert is a policy, and the bot plays the action with the highest product of both probabilities. The first is a
network of `residual` that learned by playing alone (`experiments/residual.sh`; the bundled one has since learned from
this bot), `human` learned from people. `human` takes most of the time, and is only asked where the first is not sure.
docs/experiments.md has what the product brings.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents import human
from agents.base import Probabilities
from agents.bert import bot as bert
from agents.bert.labels import actions_of, labels_of
from agents.residual.features import FEATURES
from agents.rl.bot import NetworkBot
from agents.rl.policy import load_weights

EXPERT = Path(__file__).parent / "weights" / "network.npz"  # that learned by playing
UNSURE = 5.0  # nats between the most probable action of the first expert and the next, up to which the second is asked


class Ensemble:
    """Two experts as an agent. `first` has the choice of candidates; `second` has a value for one action per label."""

    def __init__(self, name: str, first: Probabilities, second: Probabilities) -> None:
        self.name = name
        self.value_temperature = first.value_temperature  # see `agents.base.Probabilities`
        self._first, self._second = first, second

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose the actions with the highest values."""
        actions: np.ndarray = self.action_values(views).argmax(axis=1)
        return actions

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """Return the sum of the log probabilities, in placements as those of `first` are.

        Log probabilities may be off by a constant for each view.
        """
        values = self._first.action_values(views)
        second, first = np.partition(values, (-2, -1))[:, -2:].T
        unsure = np.flatnonzero(second > first - UNSURE * self.value_temperature)
        if len(unsure):
            views = views[unsure]
            of, actions = np.nonzero(np.isfinite(values[unsure]))
            same = actions_of(views[of], labels_of(views[of], actions))  # the actions that `second` has values for
            opinions = self._second.action_values(views)[of, same] / np.float32(self._second.value_temperature)
            values[unsure[of], actions] += np.float32(self.value_temperature) * opinions
        return values


def make(argument: str | None, seed: int) -> Ensemble:
    """The bot ``ensemble``. Raises ValueError for an argument."""
    if argument is not None:
        raise ValueError(f"the bot ensemble takes no argument, but got {argument!r}")
    second = bert.make_named("human", human.BUNDLED, None, seed, family="bert")
    first = NetworkBot("residual", FEATURES, load_weights(EXPERT, FEATURES), seed=seed)
    return Ensemble("ensemble", first, second)
