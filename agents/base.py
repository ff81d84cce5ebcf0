"""What a bot is: something with a name that answers views with actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from engine.actions import N_ACTIONS
from engine.table import raw_bytes

# decide(raw, n, seed, actions): writes into actions int64[n] the answers to the first n TABLE records of raw uint8[:].
Decide: TypeAlias = Callable[[np.ndarray, int, np.uint64, np.ndarray], None]
# weigh(raw, n, worths): writes into worths float32[n, N_ACTIONS] what `ActionValues.weigh` returns.
Weigh: TypeAlias = Callable[[np.ndarray, int, np.ndarray], None]


class Agent(Protocol):
    """A bot. `act` is a policy as `engine.tables` asks them."""

    name: str

    def act(self, views: np.ndarray) -> np.ndarray:
        """Answer `views`, TABLE[n], each blanked for its `viewer` who is asked: int64[n] of legal action numbers."""
        ...


@runtime_checkable
class Annotating(Protocol):
    """A bot that has something to say about its answers."""

    def annotate(self) -> dict[str, Any]:
        """What it thinks of the last of the views just answered, as JSON of at most 4096 bytes; {} for nothing.

        Who plays by mjai sends it along with the answer, as ``ext_bot``: records keep it, opponents never see it.
        """
        ...


@runtime_checkable
class ActionValues(Protocol):
    """A bot that can tell how good it thinks each action is."""

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """What each action promises in `views`, TABLE[n]: float32[n, N_ACTIONS], a better placement by one being 1.

        -inf: not weighed, or not legal. Nothing has more than what `act` takes.
        """
        ...


# factory(argument, seed): `argument` is what follows the colon in "name:argument", None without a colon.
Factory: TypeAlias = Callable[[str | None, int], Agent]


class CompiledAgent:
    """A bot that decides by one compiled function, from the view and the seed and nothing else."""

    def __init__(self, name: str, decide: Decide, seed: int = 0) -> None:
        """`seed` is any 64-bit number; bots that leave nothing to chance ignore it."""
        self.name = name
        self._decide = decide
        self._seed = np.uint64(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Answer `views`, TABLE[n]: int64[n] of action numbers."""
        actions = np.empty(len(views), dtype=np.int64)
        self._decide(raw_bytes(views), len(views), self._seed, actions)
        return actions


class CompiledValueAgent(CompiledAgent):
    """The same with a compiled function that weighs the actions."""

    def __init__(self, name: str, decide: Decide, weigh: Weigh, seed: int = 0) -> None:
        super().__init__(name, decide, seed)
        self._weigh = weigh

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """See ActionValues."""
        worths = np.empty((len(views), N_ACTIONS), dtype=np.float32)
        self._weigh(raw_bytes(views), len(views), worths)
        return worths


def compiled(name: str, decide: Decide, weigh: Weigh | None = None) -> Factory:
    """The factory of a compiled bot that takes no argument."""

    def make(argument: str | None, seed: int) -> Agent:
        if argument is not None:
            raise ValueError(f"the bot {name} takes no argument, but got {argument!r}")
        return CompiledAgent(name, decide, seed) if weigh is None else CompiledValueAgent(name, decide, weigh, seed)

    return make
