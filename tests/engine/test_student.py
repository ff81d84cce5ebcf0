"""Student's t distribution against published values."""

from __future__ import annotations

from math import atan, pi, sqrt

import pytest

from engine.common.student import cdf, quantile


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
