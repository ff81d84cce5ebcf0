"""What a bot thinks of decisions: the values of all options, best first, and the loss of what was played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agents.base import ActionValues, Agent, Probabilities
from agents.files import where_raised
from agents.registry import make
from agents.review.decisions import Decision, Option, SeatDecisions
from engine.actions import N_ACTIONS
from engine.tiles import NONE

BATCH = 64  # views that a bot evaluates at once; progress is told after each


class BotFailedError(ValueError):
    """A bot cannot evaluate the decisions; the message is one line."""


@dataclass(frozen=True, slots=True)
class RatedOption:
    """An option as a bot sees it."""

    action: int
    value: float | None  # in placements; None: the bot did not evaluate it
    probability: float | None  # None: the bot has none


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a bot thinks of a decision. The actual option comes before those of the same value."""

    options: list[RatedOption]  # best first, those without a value last
    actual: int  # index of what was played
    loss: float | None  # value of the best option less that of the actual one; None: that has no value

    @property
    def agrees(self) -> bool:
        """Whether the bot has no better option than what was played."""
        return self.actual == 0


@cache
def cached_bot(spec: str) -> Agent:
    """The bot that `spec` names, made once in a process. Raises ValueError as `agents.registry.make`."""
    return make(spec)


def check_reviewer(bot: Agent, spec: str) -> None:
    """Raise ValueError unless the bot has action values."""
    if not isinstance(bot, ActionValues):
        raise ValueError(f"the bot {spec} has no action values, so it cannot review: take bert or rule")


def opinions_of(bot: Agent, spec: str, of: SeatDecisions, advance: Callable[[int], None]) -> list[Opinion]:
    """The bot's opinion of each decision; `advance` is called with the numbers of decisions that are done.

    Raises ValueError for a bot without action values, BotFailedError.
    """
    check_reviewer(bot, spec)
    opinions: list[Opinion] = []
    for first in range(0, len(of.decisions), BATCH):
        batch = of.decisions[first : first + BATCH]
        values = values_of(bot, spec, of.views[first : first + BATCH])
        opinions += [opinion(bot, spec, decision, row) for decision, row in zip(batch, values, strict=True)]
        advance(len(batch))
    return opinions


def values_of(bot: Any, spec: str, views: np.ndarray) -> np.ndarray:
    """The action values of `views` TABLE[n]: float[n, N_ACTIONS]. Raises BotFailedError."""
    try:
        values = np.asarray(bot.action_values(views), dtype=np.float64)
    except Exception as error:
        raise BotFailedError(f"the bot {spec} cannot evaluate a decision: {where_raised(error)}") from error
    if values.shape != (len(views), N_ACTIONS):
        expected = (len(views), N_ACTIONS)
        raise BotFailedError(f"the bot {spec}: action_values returned the shape {values.shape}, not {expected}")
    if np.isnan(values).any() or (values == np.inf).any():
        raise BotFailedError(f"the bot {spec}: action_values returned NaN or infinity; not evaluated is -inf")
    return values


def opinion(bot: Agent, spec: str, decision: Decision, values: np.ndarray) -> Opinion:
    """The opinion that the bot's `values` float64[N_ACTIONS] are. Raises BotFailedError."""
    options = rated_options(bot, spec, decision.options, values, decision.action)
    actual = next(index for index, each in enumerate(options) if each.action == decision.action)
    best, value = options[0].value, options[actual].value
    return Opinion(options, actual, None if best is None or value is None else best - value)


def rated_options(
    bot: Agent, spec: str, options: Sequence[Option], values: np.ndarray, played: int = NONE
) -> list[RatedOption]:
    """The options by the bot's `values` float64[N_ACTIONS], best first; `played` before those of the same value.

    Raises BotFailedError.
    """
    rated: list[tuple[int, float]] = []
    for option in options:
        best = max(option, key=lambda action: values[action])
        rated.append((played if played in option else best, float(values[best])))
    rated.sort(key=lambda each: (-each[1], each[0] != played))
    if not np.isfinite(rated[0][1]):
        raise BotFailedError(f"the bot {spec}: action_values evaluates no legal action of a decision")
    probabilities = probabilities_of(bot, np.array([value for _, value in rated]))
    return [
        RatedOption(action, value if np.isfinite(value) else None, probability)
        for (action, value), probability in zip(rated, probabilities, strict=True)
    ]


def probabilities_of(bot: Agent, values: np.ndarray) -> list[float] | list[None]:
    """The bot's probability of each option with these `values`; None each if it has none."""
    if not isinstance(bot, Probabilities):
        return [None] * len(values)
    return softmax(values, bot.value_temperature)


def softmax(values: np.ndarray, temperature: float) -> list[float]:
    """The softmax of `values` divided by `temperature`; options without a value (-inf) have 0."""
    odds = np.exp((values - values.max()) / temperature)
    shares: list[float] = (odds / odds.sum()).tolist()
    return shares
