"""Ratings by the model of Plackett and Luce."""

from __future__ import annotations

import choix
import numpy as np
import pytest

from arena.bot_games import BotGames, finishing_orders
from engine.contests.ratings import POINTS, PRIOR, rate

TRUE = np.array([150.0, 50.0, -50.0, -200.0, -350.0, -750.0])
TRIPLES = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [0, 2, 4]])


def drawn(rng: np.random.Generator, games: int) -> np.ndarray:
    """Finishing orders int[games, 3] drawn from the model."""
    bots = TRIPLES[rng.integers(len(TRIPLES), size=games)]
    noisy = TRUE[bots] / POINTS + rng.gumbel(size=bots.shape)
    return np.take_along_axis(bots, noisy.argsort(axis=1)[:, ::-1], axis=1)


def test_two_bots_have_the_odds_of_their_games() -> None:
    """With two bots that a third never meets in between, the rating is the logarithm of the odds."""
    orders = np.array([[0, 1, 2]] * 750 + [[1, 0, 2]] * 250)
    ratings = rate(3, orders, np.arange(1000))
    assert ratings.difference(0, 1).mean == pytest.approx(400 * np.log10(3), abs=0.5)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """95 % intervals hold the truth in 95 of 100 experiments, within what 200 experiments tell (four errors: 6 %)."""
    rng = np.random.default_rng(3)
    held = []
    for _ in range(200):
        ratings = rate(6, drawn(rng, 1500), np.arange(1500), samples=100)
        for bot, against in ((0, 1), (5, 0), (3, 2)):
            estimate = ratings.difference(bot, against)
            assert estimate.interval is not None
            held.append(abs(estimate.mean - (TRUE[bot] - TRUE[against])) <= estimate.interval)
    assert np.mean(held) == pytest.approx(0.95, abs=0.04)


@pytest.mark.slow
def test_the_variance_of_ratings_from_three_walls_has_no_bias() -> None:
    """As that of a mean of three numbers; the variance within such a sample is two thirds of it."""
    rng = np.random.default_rng(8)
    ratings = [rate(6, drawn(rng, 6000), np.arange(6000) % 3, samples=50) for _ in range(150)]
    told = np.mean([each.covariance.trace() for each in ratings])
    assert told == pytest.approx(np.var([each.points for each in ratings], axis=0, ddof=1).sum(), rel=0.2)


@pytest.mark.parametrize("games", [30, 60])
def test_ratings_are_those_of_the_library_choix(games: int) -> None:
    """Which fits all games one by one, here with the same prior: a penalty of ``alpha`` times the square of θ."""
    orders = drawn(np.random.default_rng(7), games)
    theirs = choix.opt_rankings(6, orders.tolist(), alpha=(POINTS / PRIOR) ** 2 / 2, tol=1e-10)
    ours = rate(6, orders, np.arange(games), samples=0)
    assert ours.points == pytest.approx(POINTS * (theirs - theirs.mean()), abs=0.05)
    assert ours.difference(0, 1).interval is None


def test_games_on_one_wall_are_one_observation() -> None:
    """Every game told three times over on the same wall tells nothing more."""
    orders = drawn(np.random.default_rng(4), 900)
    once = rate(6, orders, np.arange(900))
    thrice = rate(6, np.repeat(orders, 3, axis=0), np.repeat(np.arange(900), 3))
    for bot in range(1, 6):
        assert thrice.difference(bot, 0).interval == pytest.approx(once.difference(bot, 0).interval, rel=0.05)


def test_a_bot_that_always_loses_is_finite_and_its_interval_wide() -> None:
    rng = np.random.default_rng(5)
    orders = np.column_stack([rng.permuted(np.tile([0, 1], (900, 1)), axis=1), np.full(900, 2)])
    ratings = rate(3, orders, np.arange(900) // 3)
    below = ratings.difference(2, 0)
    assert -3000 < below.mean < -800
    assert below.interval is not None
    assert below.interval > 150
    assert abs(ratings.difference(0, 1).mean) < 40


@pytest.mark.parametrize(("walls", "least"), [(2, 1.0), (5, 1.0), (20, 0.3)])
def test_intervals_of_walls_that_are_alike_are_not_narrow(walls: int, least: float) -> None:
    """One of equal bots is ahead in two of three games on each wall: the bootstrap has no other walls to draw."""
    orders = np.tile([[0, 1, 2], [1, 2, 0], [0, 2, 1]], (walls, 1))
    between = rate(3, orders, np.arange(len(orders)) // 3).difference(0, 2)
    assert between.interval is not None
    assert between.interval > least * between.mean > 0


def test_bots_that_no_games_connect_are_not_told_apart() -> None:
    orders = np.concatenate([drawn(np.random.default_rng(6), 300) % 3, np.array([[3, 4, 5]] * 150 + [[5, 4, 3]] * 150)])
    orders = orders[[len(set(order)) == 3 for order in orders.tolist()]]
    ratings = rate(6, orders, np.arange(len(orders)))
    assert not ratings.difference(0, 4).differs_from_zero
    assert (ratings.difference(0, 4).interval or 0) > 1000


def test_one_wall_has_no_interval_and_no_games_no_ratings() -> None:
    assert rate(3, np.array([[0, 1, 2]]), np.array([7])).difference(0, 1).interval is None
    with pytest.raises(ValueError, match="no games"):
        rate(3, np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64))


def test_orders_follow_from_placements() -> None:
    placements = np.array([[[2, 1, 3], [3, 2, 1]], [[1, 2, 3], [1, 3, 2]]])  # [walls, rotations, bots]
    games = [BotGames("", np.empty(0), placements[..., k], np.empty(0)) for k in range(3)]
    assert finishing_orders((7, 8, 9), games).tolist() == [[8, 7, 9], [9, 8, 7], [7, 8, 9], [7, 9, 8]]
