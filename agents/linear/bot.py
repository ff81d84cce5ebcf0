"""The bots `linear` and `softmax`: the same features, played greedily or as a policy.

==================================  ====================================================================================
``linear``, ``linear:FILE``         plays the action of the highest value; FILE: other weights, see `weights`
``softmax``, ``softmax:FILE``       takes an action with probability proportional to exp(value / (1,000 T))
``softmax:FILE?temperature=T``      T in thousands of points; 0 plays the highest value. Without it, that of the file
``linear:start``, ``softmax:start`` the starting weights
==================================  ====================================================================================

A win is always taken. The answer depends on the view and the seed alone.
"""

from __future__ import annotations

import numpy as np

from agents.base import CompiledValueAgent
from agents.linear.kernels import choose_all, evaluate_all
from agents.linear.weights import BUNDLED, Weights, load_weights
from agents.options import BotOptions, read_options, read_temperature
from engine.common.options import describe_error

POINTS_PER_TEMPERATURE = 1_000.0  # a temperature is in thousands of points of value
OPTIONS: BotOptions = {
    "temperature": (
        read_temperature,
        "0 plays the highest value, higher values sample from softmax(value / (1,000 T)) (default: as trained)",
    )
}


class Linear(CompiledValueAgent):
    """A linear evaluator as an agent.

    Its action values are those in points, scaled so that they are roughly in placements. Where there is a win, only it
    has a value, 0. Of a discard from the hand and of the same tile just drawn, the latter has the value.
    """

    def __init__(self, name: str, weights: Weights, temperature: float = 0.0, seed: int = 0) -> None:
        """`temperature`: in thousands of points; with 0, `seed` has no effect."""
        points = POINTS_PER_TEMPERATURE * temperature

        def decide(raw: np.ndarray, n: int, seed: np.uint64, actions: np.ndarray) -> None:
            choose_all(raw, n, seed, weights.values, points, actions)

        def action_values(raw: np.ndarray, n: int, values: np.ndarray) -> None:
            evaluate_all(raw, n, weights.values, values)
            values *= np.float32(weights.placements_per_point)

        super().__init__(name, decide, action_values, seed)


class Softmax(Linear):
    """The same as a policy, which has probabilities."""

    def __init__(self, name: str, weights: Weights, temperature: float, seed: int) -> None:
        super().__init__(name, weights, temperature, seed)
        # See `agents.base.Probabilities`.
        self.value_temperature = POINTS_PER_TEMPERATURE * temperature * weights.placements_per_point


def _weights(bot: str, path: str) -> tuple[str, Weights]:
    """The name of a bot, and its weights. Raises ValueError."""
    file = path or str(BUNDLED / f"{bot}.json")
    try:
        weights = load_weights(file)
    except OSError as error:
        raise ValueError(f"the bot {bot} cannot read its weights: {describe_error(error)}") from error
    except ValueError as error:
        raise ValueError(f"the bot {bot}: {error}") from error
    return f"{bot}:{path}" if path else bot, weights


def make_linear(argument: str | None, seed: int) -> Linear:
    """The bot ``linear`` or ``linear:FILE``. Raises ValueError, one line with the remedy."""
    path, mark, _ = (argument or "").partition("?")
    if mark:
        raise ValueError("the bot linear has no options; softmax:FILE?temperature=T samples")
    name, weights = _weights("linear", path)
    return Linear(name, weights, seed=seed)


def make_softmax(argument: str | None, seed: int) -> Linear:
    """The bot ``softmax`` or ``softmax:FILE?temperature=T``. Raises ValueError, one line with the remedy."""
    path, _, text = (argument or "").partition("?")
    given = read_options("softmax", OPTIONS, text)
    name, weights = _weights("softmax", path)
    temperature = given.get("temperature", weights.temperature)
    if given:
        name += f"?temperature={temperature:g}"
    return Softmax(name, weights, temperature, seed) if temperature > 0 else Linear(name, weights)
