"""The interface of a bot (`Agent`), its optional extensions, and the base classes of compiled bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from engine.actions import N_ACTIONS
from engine.table import raw_bytes

# decide(raw, n, seed, actions): for the first n TABLE records of raw uint8[:], writes the chosen action numbers to
# actions int64[n].
DecideKernel: TypeAlias = Callable[[np.ndarray, int, np.uint64, np.ndarray], None]
DECIDE = "uint8[::1], int64, uint64, int64[::1]"  # the signature of its kernel
# action_values(raw, n, values): for the same records, writes what `ActionValues.action_values` returns to
# values float32[n, N_ACTIONS].
ActionValuesKernel: TypeAlias = Callable[[np.ndarray, int, np.ndarray], None]
ACTION_VALUES = "uint8[::1], int64, float32[:, ::1]"  # the signature of its kernel


class Agent(Protocol):
    """A bot. `act` is a policy as `engine.tables` calls them."""

    name: str

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose an action in each of `views`.

        `views` is TABLE[n]; in each, the seat `viewer` is to act, and everything hidden from this seat is blank.
        Returns int64[n] of legal action numbers (see `engine.actions`).
        """
        ...


@runtime_checkable
class Annotating(Protocol):
    """A bot that annotates its replies."""

    def annotate(self) -> dict[str, Any]:
        """Return the annotation of the reply to the last view of the last call of `act`; {} if there is none.

        It must be JSON of at most 4096 bytes. `agents.client` sends it along with the reply under the key
        ``ext_bot``: the server keeps it in the record of the game, and opponents never see it.
        """
        ...


@runtime_checkable
class ActionValues(Protocol):
    """A bot that can evaluate each action, not only choose one."""

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """The value of each action in `views` TABLE[n]: float32[n, N_ACTIONS], in placements.

        A value higher by 1 means an expected placement better by 1; only differences within a row are meaningful.
        Actions that are illegal or were not evaluated have -inf. The action that `act` chooses has the highest value.
        """
        ...


@runtime_checkable
class Probabilities(ActionValues, Protocol):
    """A bot whose values are those of a policy: it takes an action with probability softmax(values / temperature)."""

    value_temperature: float  # in placements


# factory(argument, seed): `argument` is what follows the colon in "name:argument", None without a colon; `seed` is any
# 64-bit number.
Factory: TypeAlias = Callable[[str | None, int], Agent]


class CompiledAgent:
    """A bot whose decision is one compiled function of the view and the seed."""

    def __init__(self, name: str, decide: DecideKernel, seed: int = 0) -> None:
        """`seed` is any 64-bit number; deterministic bots ignore it."""
        self.name = name
        self._decide = decide
        self._seed = np.uint64(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose actions by the compiled function."""
        actions = np.empty(len(views), dtype=np.int64)
        self._decide(raw_bytes(views), len(views), self._seed, actions)
        return actions


class CompiledValueAgent(CompiledAgent):
    """A compiled bot with a second compiled function that evaluates the actions."""

    def __init__(self, name: str, decide: DecideKernel, action_values: ActionValuesKernel, seed: int = 0) -> None:
        super().__init__(name, decide, seed)
        self._action_values = action_values

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """Return the values that the second compiled function writes."""
        values = np.empty((len(views), N_ACTIONS), dtype=np.float32)
        self._action_values(raw_bytes(views), len(views), values)
        return values


def compiled_factory(name: str, decide: DecideKernel, action_values: ActionValuesKernel | None = None) -> Factory:
    """The factory of a compiled bot that takes no argument."""

    def make(argument: str | None, seed: int) -> Agent:
        if argument is not None:
            raise ValueError(f"the bot {name} takes no argument, but got {argument!r}")
        if action_values is None:
            return CompiledAgent(name, decide, seed)
        return CompiledValueAgent(name, decide, action_values, seed)

    return make
