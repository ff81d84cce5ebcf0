"""The two losses and their gradients, compiled.

In a decision, x is what the teacher chose, b goes over all candidates, v(b) = phi(b) . theta:

hinge    sum over b != x of max(0, margin + v(b) - v(x)); its subgradient adds phi(b) - phi(x) for each positive term
softmax  -ln pi(x) with pi(b) = exp(v(b) / T) / sum; its gradient is -(phi(x) - sum of phi(b) pi(b)) / T
"""

from __future__ import annotations

import math

import numpy as np

from agents.linear.candidates import dot
from agents.linear.context import MENU
from engine.compiling import inner, kernel

ARGUMENTS = "float32[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], float64, float64[::1]"


@inner
def add_row(gradient: np.ndarray, row: np.ndarray, factor: float) -> None:
    """Add `factor` times a row of features to the gradient."""
    for i in range(len(gradient)):
        gradient[i] += factor * row[i]


@kernel(ARGUMENTS)
def hinge(
    phi: np.ndarray, starts: np.ndarray, chosen: np.ndarray, batch: np.ndarray, theta: np.ndarray, margin: float,
    gradient: np.ndarray,
) -> float:  # fmt: skip
    """The sum of the losses of the decisions `batch` int64[k]; adds their gradients to `gradient` float64[N_FEATURES].

    `phi`, `starts`, `chosen`: as in `agents.linear.data.Choices`.
    """
    loss = 0.0
    for decision in batch:
        x = chosen[decision]
        value = dot(phi[x], theta)
        for b in range(starts[decision], starts[decision + 1]):
            excess = margin + dot(phi[b], theta) - value
            if b != x and excess > 0.0:
                loss += excess
                add_row(gradient, phi[b], 1.0)
                add_row(gradient, phi[x], -1.0)
    return loss


@kernel(ARGUMENTS)
def softmax(
    phi: np.ndarray, starts: np.ndarray, chosen: np.ndarray, batch: np.ndarray, theta: np.ndarray, temperature: float,
    gradient: np.ndarray,
) -> float:  # fmt: skip
    """As `hinge`, for the loss of the policy; `temperature` in points of value."""
    loss = 0.0
    odds = np.empty(MENU)
    for decision in batch:
        first, n = starts[decision], starts[decision + 1] - starts[decision]
        highest = -np.inf
        for i in range(n):
            odds[i] = dot(phi[first + i], theta) / temperature
            highest = max(highest, odds[i])
        total = 0.0
        chosen_odds = odds[chosen[decision] - first]
        for i in range(n):
            odds[i] = math.exp(odds[i] - highest)
            total += odds[i]
        loss += math.log(total) + highest - chosen_odds
        for i in range(n):
            add_row(gradient, phi[first + i], odds[i] / total / temperature)
        add_row(gradient, phi[chosen[decision]], -1.0 / temperature)
    return loss


@kernel("float32[:, ::1], int64[::1], int64[::1], float64[::1]")
def agreeing(phi: np.ndarray, starts: np.ndarray, chosen: np.ndarray, theta: np.ndarray) -> int:
    """The number of decisions in which what was chosen has the highest value, the first of equals."""
    agreed = np.int64(0)
    for decision in range(len(chosen)):
        best, highest = np.int64(-1), -np.inf
        for b in range(starts[decision], starts[decision + 1]):
            value = dot(phi[b], theta)
            if value > highest:
                best, highest = np.int64(b), value
        agreed += best == chosen[decision]
    return agreed
