"""The spaces of the environments. The action spaces sample legal actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium import spaces

from engine.actions import N_ACTIONS
from nukidora.envs.observations import OBSERVATIONS

if TYPE_CHECKING:
    Discrete: TypeAlias = spaces.Discrete[np.int64]
    MultiDiscrete: TypeAlias = spaces.MultiDiscrete[np.int64]
else:  # generic from Gymnasium 1.4 on
    Discrete, MultiDiscrete = spaces.Discrete, spaces.MultiDiscrete


class Sampled(int):
    """An action drawn by `LegalActions`. If it is no longer legal, the environment replaces it with a legal one.

    This supports code that samples several actions before stepping, such as Gymnasium's environment checker; other
    illegal actions are errors.
    """


def among_legal(mask: np.ndarray, number: int) -> int:
    """Return the legal action of `mask` int8[N_ACTIONS] that a `number` >= 0 stands for.

    A legal action stands for itself; other numbers are divided evenly among the legal actions.
    """
    if mask[number]:
        return number
    legal = np.flatnonzero(mask)
    return int(legal[number % len(legal)])


class LegalActions(Discrete):
    """The actions 0 to 114 (`engine.actions`) of one environment. `sample` draws a legal one, unless it gets a mask."""

    def __init__(self, masks: Callable[[], np.ndarray]) -> None:
        """`masks` returns the legal actions now, int8[1, N_ACTIONS]."""
        super().__init__(N_ACTIONS)
        self._masks = masks

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action; see `gymnasium.spaces.Discrete.sample`."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return Sampled(super().sample(self._masks()[0]))

    def __reduce__(self) -> Any:
        return spaces.Discrete, (N_ACTIONS,)


class LegalActionsOfAll(MultiDiscrete):
    """An action for each of n environments. `sample` draws legal ones, unless it gets a mask."""

    def __init__(self, n: int, masks: Callable[[], np.ndarray]) -> None:
        """`masks` returns the legal actions now, int8[n, N_ACTIONS]."""
        super().__init__(np.full(n, N_ACTIONS))
        self._masks = masks

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Random actions int64[n]; see `gymnasium.spaces.MultiDiscrete.sample`."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        drawn = 1 - self.np_random.random((len(self.nvec), N_ACTIONS), dtype=np.float32)  # never 0
        return (drawn * self._masks()).argmax(axis=1)

    def __reduce__(self) -> Any:
        return spaces.MultiDiscrete, (self.nvec,)


def observation_space(observation: str) -> spaces.Dict:
    """The space of one environment's observations: ``observation`` of a row of `OBSERVATIONS`, and ``action_mask``."""
    row = OBSERVATIONS[observation]
    box = spaces.Box(row.low, row.high, row.shape, row.dtype)
    return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(N_ACTIONS)})
