"""The gradients of both losses against numerical differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agents.linear import losses
from agents.linear.features import N_FEATURES

STEP = 1e-5


def random_choices(rng: np.random.Generator, decisions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """phi, starts and chosen of random decisions with two to eight candidates."""
    sizes = rng.integers(2, 9, size=decisions)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    phi = rng.normal(size=(starts[-1], N_FEATURES)).astype(np.float32)
    return phi, starts, starts[:-1] + rng.integers(0, sizes)


@pytest.mark.parametrize(("loss", "parameter"), [(losses.hinge, 0.7), (losses.softmax, 0.5), (losses.softmax, 2.0)])
def test_gradient_against_numerical_differences(loss: Callable[..., float], parameter: float) -> None:
    rng = np.random.default_rng(2)
    phi, starts, chosen = random_choices(rng, 30)
    theta, batch = rng.normal(size=N_FEATURES), np.arange(30)

    def at(weights: np.ndarray) -> float:
        return loss(phi, starts, chosen, batch, weights, parameter, np.zeros(N_FEATURES))

    gradient = np.zeros(N_FEATURES)
    assert loss(phi, starts, chosen, batch, theta, parameter, gradient) == pytest.approx(at(theta))
    numerical = np.array([(at(theta + step) - at(theta - step)) / (2 * STEP) for step in STEP * np.eye(N_FEATURES)])
    assert np.abs(gradient).max() > 1
    np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-4)


def test_the_losses_of_a_small_decision_by_hand() -> None:
    phi = np.zeros((3, N_FEATURES), dtype=np.float32)
    phi[:, 0] = 1.0, 2.0, 4.0
    theta = np.zeros(N_FEATURES)
    theta[0] = 1.0
    data: tuple[Any, ...] = (phi, np.array([0, 3]), np.array([1]), np.array([0]), theta)
    gradient = np.zeros(N_FEATURES)
    assert losses.hinge(*data, 0.0, gradient) == 2.0  # 4 - 2; the first is less
    assert gradient[0] == 2.0
    assert losses.hinge(*data, 1.5, np.zeros(N_FEATURES)) == 0.5 + 3.5
    odds = np.exp(np.array([1.0, 2.0, 4.0]) / 2.0)
    gradient = np.zeros(N_FEATURES)
    assert losses.softmax(*data, 2.0, gradient) == pytest.approx(-np.log(odds[1] / odds.sum()))
    assert gradient[0] == pytest.approx(-(2.0 - (odds / odds.sum()) @ phi[:, 0]) / 2.0)


def test_softmax_of_huge_values_stays_finite() -> None:
    phi = np.zeros((2, N_FEATURES), dtype=np.float32)
    phi[:, 0] = 0.0, 1e6
    theta = np.ones(N_FEATURES)
    gradient = np.zeros(N_FEATURES)
    loss = losses.softmax(phi, np.array([0, 2]), np.array([0]), np.array([0]), theta, 1.0, gradient)
    assert loss == pytest.approx(1e6)
    assert np.isfinite(gradient).all()


def test_agreement_counts_the_first_of_equals() -> None:
    phi = np.zeros((4, N_FEATURES), dtype=np.float32)
    theta = np.ones(N_FEATURES)
    assert losses.agreeing(phi, np.array([0, 2, 4]), np.array([0, 3]), theta) == 1
