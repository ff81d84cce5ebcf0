"""The dial: a bot that plays another bot's actions less and less well.

Two kinds of errors follow each other (`Setting`): first the action is drawn from softmax(values / temperature) of the
bot's action values, at a temperature that rises up to a point; then, at that temperature, a rising share of the
decisions is a legal action drawn uniformly, until all are. All actions are treated alike, so a dialled bot also misses
wins: by the softmax if the bot values the alternatives, and in the random share in any case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.base import ActionValues, Agent
from agents.compiled.menu import is_legal
from engine.actions import N_ACTIONS
from engine.compiling import inner, kernel
from engine.kernels import bit_count, hash_view, nth_action
from engine.rng import GOLDEN, gumbel, scaled, splitmix, uniform
from engine.table import TABLE, raw_bytes

SHARE_STREAM = np.uint64(0x5E12D1A1)  # set apart the two uses of a seed, and both from the bot's own
SOFTMAX_STREAM = np.uint64(0x50F7A1A1)


class Setting(NamedTuple):
    """How the dial is set; (0, 0) is full strength, a share of 1 the bot that is all random."""

    temperature: float  # in the unit of the action values, placements; 0: the bot's own choice
    share: float  # of decisions that are uniformly random legal actions, 0 … 1


@kernel("uint8[::1], int64, uint64, float64, int64[::1]")
def random_share(raw: np.ndarray, n: int, seed: np.uint64, share: float, actions: np.ndarray) -> None:
    """For a random `share` of the first `n` views: a uniformly random legal action; -1 for the others."""
    views = raw.view(TABLE)
    for k in range(n):
        t = views[k]
        actions[k] = -1
        state = hash_view(t, seed ^ SHARE_STREAM) + GOLDEN
        if uniform(splitmix(state)) < share:
            low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
            index = scaled(splitmix(state + GOLDEN), bit_count(low) + bit_count(high))
            actions[k] = nth_action(low, high, index)


@inner
def softmax_sample(t: np.record, values: np.ndarray, temperature: float, seed: np.uint64) -> int:
    """A legal action drawn from softmax(values / temperature) by the Gumbel-max trick; -1 if none has a value."""
    state = hash_view(t, seed ^ SOFTMAX_STREAM)
    best, best_value = np.int64(-1), -np.inf
    for action in range(N_ACTIONS):
        if values[action] > -np.inf and is_legal(t, action):
            state = state + GOLDEN
            value = values[action] + temperature * gumbel(splitmix(state))
            if value > best_value:
                best, best_value = np.int64(action), value
    return best


@kernel("uint8[::1], float32[:, ::1], uint64, float64, int64[::1]")
def softmax_actions(
    raw: np.ndarray, values: np.ndarray, seed: np.uint64, temperature: float, actions: np.ndarray
) -> None:
    """Write `softmax_sample` for each view and its row of `values`."""
    views = raw.view(TABLE)
    for k in range(len(values)):
        actions[k] = softmax_sample(views[k], values[k], temperature, seed)


class Dialled:
    """A bot at a setting of the dial. Its answer depends on the view, the seed and the bot's own answer alone."""

    def __init__(self, bot: Agent, setting: Setting, name: str, seed: int = 0) -> None:
        """`name`: shown in tables; `seed`: any 64-bit number. A setting with a temperature needs action values."""
        self.name = name
        self._bot = bot
        self._setting = setting
        self._seed = np.uint64(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Draw some actions at random, as the setting says; the bot is asked for the others only."""
        actions = np.empty(len(views), dtype=np.int64)
        random_share(raw_bytes(views), len(views), self._seed, float(self._setting.share), actions)
        rows = np.flatnonzero(actions < 0)
        if len(rows):
            actions[rows] = self._own(views if len(rows) == len(views) else views[rows])
        return actions

    def _own(self, views: np.ndarray) -> np.ndarray:
        """What the bot plays at this temperature: [n]."""
        if self._setting.temperature == 0 or not isinstance(self._bot, ActionValues):
            return self._bot.act(views)
        values = np.ascontiguousarray(self._bot.action_values(views), dtype=np.float32)
        if values.shape != (len(views), N_ACTIONS):
            raise ValueError(f"action_values gives an array of shape {values.shape}, not {(len(views), N_ACTIONS)}")
        actions = np.empty(len(views), dtype=np.int64)
        softmax_actions(raw_bytes(views), values, self._seed, float(self._setting.temperature), actions)
        if (actions < 0).any():
            raise ValueError("action_values gives no legal action a value")
        return actions
