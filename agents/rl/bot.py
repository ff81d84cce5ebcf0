"""A policy network as a bot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents.options import BotOptions, read_options, read_path, read_temperature
from agents.rl.policy import Weights, choose_best, load_logit_value, load_weights, logits_of, sample
from agents.rl.rows import Features, encode
from engine.actions import N_ACTIONS
from engine.compiling import kernel
from engine.kernels import hash_view
from engine.rng import uniform
from engine.table import TABLE, raw_bytes

WEIGHTS = "network.npz"  # the file in a training folder
LEAST_TEMPERATURE = 1e-3
# Placements that a logit of 1 stands for in weights that do not say it: after training with the default entropy, that
# weight times the standard deviation of the advantages. docs/experiments.md has the measurements.
LOGIT_VALUE = 0.0012
OPTIONS: BotOptions = {"temperature": (read_temperature, "a number >= 0; 0, the default, plays the best action")}


@kernel("uint8[::1], uint64, float64[::1]")
def view_uniforms(raw: np.ndarray, seed: np.uint64, numbers: np.ndarray) -> None:
    """Write a number in (0, 1) for each view, a function of what the viewer sees and of the seed."""
    views = raw.view(TABLE)
    for k in range(len(numbers)):
        numbers[k] = uniform(hash_view(views[k], seed))


class NetworkBot:
    """A policy network as an agent. Its answer depends on the view and the seed alone."""

    def __init__(
        self,
        name: str,
        features: Features,
        weights: Weights,
        temperature: float = 0.0,
        seed: int = 0,
        logit_value: float = LOGIT_VALUE,
    ) -> None:
        """`temperature`: 0 plays the best action, otherwise actions are drawn from softmax(logits / temperature).

        `logit_value`: the placements that a logit of 1 stands for.
        """
        self.name = name
        self._temperature = max(temperature, LEAST_TEMPERATURE) if temperature else 0.0
        self._logit_value = logit_value
        self.value_temperature = logit_value * (self._temperature or 1.0)  # see `agents.base.Probabilities`
        self._features, self._weights, self._seed = features, weights, np.uint64(seed)

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose the action with the highest logit, or draw one by the temperature."""
        actions, rows = encode(self._features, views)
        chosen = np.empty(len(rows.view), dtype=np.int64)
        logits = logits_of(self._weights, rows)
        if self._temperature:
            uniforms = np.empty(len(views))
            view_uniforms(raw_bytes(views), self._seed, uniforms)
            unused = np.empty(len(chosen), dtype=np.float32)
            sample(logits / np.float32(self._temperature), rows.first, uniforms[rows.view], chosen, unused)
        else:
            choose_best(logits, rows.first, chosen)
        actions[rows.view] = rows.numbers[rows.first[:-1] + chosen]
        return actions

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """Return the logits in placements; 0 where there is no choice."""
        actions, rows = encode(self._features, views)
        values = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
        forced = np.flatnonzero(actions >= 0)
        values[forced, actions[forced]] = 0
        of = np.repeat(rows.view, np.diff(rows.first))
        values[of, rows.numbers] = np.float32(self._logit_value) * logits_of(self._weights, rows)
        return values


def weights_file(path: Path) -> Path:
    """The file of the weights that `path` names: itself, or the one in a training folder. Raises ValueError."""
    found = read_path(str(path))
    try:
        return found / WEIGHTS if found.is_dir() else found
    except OSError as error:  # a path that is too long or not allowed
        raise ValueError(f"{found}: {error.strerror}") from None


def make_network_bot(name: str, features: Features, bundled: Path, argument: str | None, seed: int) -> NetworkBot:
    """The bot ``name`` or ``name:argument``, where the argument is ``[FOLDER or FILE][?temperature=T]``.

    Raises ValueError, in one line, for a bad folder or option.
    """
    folder, _, options = (argument or "").partition("?")
    temperature = read_options(name, OPTIONS, options).get("temperature", 0.0)
    path = weights_file(Path(folder)) if folder else bundled
    weights, logit_value = load_weights(path, features), load_logit_value(path) or LOGIT_VALUE
    title = f"{name}:{argument}" if argument else name
    return NetworkBot(title, features, weights, temperature, seed, logit_value)
