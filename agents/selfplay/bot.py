"""The bot `selfplay`: takes the action that a network with weights of `agents.selfplay train` prefers.

``selfplay`` plays the bundled weights, ``selfplay:FOLDER`` those of a training folder (or of a file), and
``selfplay:FOLDER?temperature=T`` or ``selfplay:?temperature=T`` draws actions from softmax(logits / T).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents.options import BotOptions, read_options, read_temperature
from agents.selfplay.network import Weights, load_weights, logits_of, sample, view_uniforms
from engine.table import raw_bytes

WEIGHTS = "network.npz"  # the file in a training folder
OPTIONS: BotOptions = {"temperature": (read_temperature, "a number >= 0; 0, the default, plays the best action")}
BUNDLED = Path(__file__).parent / "weights" / WEIGHTS


class SelfPlay:
    """The network as an agent. Its answer depends on the view and the seed alone."""

    value_temperature = 0.1  # placements, see `agents.base.Probabilities`: values are this times the logits

    def __init__(self, weights: Weights, temperature: float = 0.0, seed: int = 0, name: str = "selfplay") -> None:
        self.name = name
        self._weights = weights
        self._temperature = temperature
        self._seed = np.uint64(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent`."""
        logits = logits_of(self._weights, views)
        if not self._temperature:
            return logits.argmax(axis=1)
        actions, uniforms = np.empty(len(views), dtype=np.int64), np.empty(len(views))
        view_uniforms(raw_bytes(views), self._seed, uniforms)
        temperatures = np.full(len(views), self._temperature)
        sample(logits, temperatures, uniforms, np.empty(0), 0.0, actions, np.empty(len(views)))
        return actions

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.ActionValues`: `value_temperature` times the logits of the policy."""
        return np.float32(self.value_temperature) * logits_of(self._weights, views)


def make(argument: str | None, seed: int) -> SelfPlay:
    """The bot ``selfplay`` or ``selfplay:argument``. Raises ValueError, in one line, for a bad folder or option."""
    folder, _, options = (argument or "").partition("?")
    temperature = read_options("selfplay", OPTIONS, options).get("temperature", 0.0)
    path = Path(folder).expanduser() if folder else BUNDLED
    if path.is_dir():
        path = path / WEIGHTS
    return SelfPlay(load_weights(path), temperature, seed, f"selfplay:{argument}" if argument else "selfplay")
