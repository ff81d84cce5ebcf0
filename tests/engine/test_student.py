"""Student's t distribution against published values."""

from __future__ import annotations

from math import atan, pi, sqrt

import numpy as np
import pytest

from engine.common.student import cdf, interval_of_share, quantile


@pytest.mark.parametrize(
    ("probability", "freedom", "expected"),
    [  # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2; the normal distribution for the last one
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 9, 2.262),
        (0.975, 29, 2.045),
        (0.975, 100, 1.984),
        (0.9, 5, 1.476),
        (0.999, 4, 7.173),
        (0.975, 10_000_000, 1.960),
    ],
)
def test_quantiles_of_the_published_table(probability: float, freedom: int, expected: float) -> None:
    assert quantile(probability, freedom) == pytest.approx(expected, abs=0.0005)


@pytest.mark.parametrize("t", [-1000.0, -30.0, -3.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 3.0, 30.0, 1000.0])
def test_one_and_two_degrees_of_freedom_have_closed_forms(t: float) -> None:
    assert cdf(t, 1) == pytest.approx(0.5 + atan(t) / pi, abs=1e-13)
    assert cdf(t, 2) == pytest.approx(0.5 + t / (2 * sqrt(2 + t * t)), abs=1e-13)


@pytest.mark.parametrize("freedom", [1, 2, 7, 30, 500, 20_000, 3_000_000])
def test_the_quantile_inverts_the_distribution_function(freedom: int) -> None:
    for probability in (0.5, 0.6, 0.9, 0.975, 0.9995):
        assert cdf(quantile(probability, freedom), freedom) == pytest.approx(probability, abs=1e-9)
    assert cdf(-2.5, freedom) == pytest.approx(1 - cdf(2.5, freedom), abs=1e-12)


def test_a_share_is_as_certain_as_the_games_that_it_is_of_differ() -> None:
    rng = np.random.default_rng(3)
    games = np.repeat(np.arange(40), rng.integers(1, 30, size=40))
    independent = rng.random(len(games)) < 0.7
    of_independent = interval_of_share(independent, games)
    assert of_independent == pytest.approx(2.02 * np.sqrt(0.21 / len(games)), rel=0.3)
    alike = (rng.random(40) < 0.7)[games]  # all decisions of a game are right, or none
    of_alike = interval_of_share(alike, games)
    assert of_independent is not None
    assert of_alike is not None
    assert of_alike > 3 * of_independent
    assert interval_of_share(np.repeat(alike, 5), np.repeat(games, 5)) == pytest.approx(of_alike)
    order = rng.permutation(len(games))
    assert interval_of_share(alike[order], 7 + games[order]) == pytest.approx(of_alike)
    assert interval_of_share(alike, np.zeros(len(games))) is None


def test_a_share_of_all_is_not_certain() -> None:
    found = interval_of_share(np.ones(100, dtype=np.bool_), np.repeat(np.arange(10), 10))
    assert found == pytest.approx(2.262 * 0.01, rel=1e-3)  # that of one decision in one game
