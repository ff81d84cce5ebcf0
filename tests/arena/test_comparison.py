"""Two bots compared: paired difference, likelihood of superiority, significance, and how many games it takes."""

from __future__ import annotations

from dataclasses import asdict
from statistics import mean, stdev

import numpy as np
import pytest

from arena.bot_games import BotGames, Comparison, compare, compare_all
from arena.columns import comparison_as_json
from arena.report import better_bots, luck_line, not_significant
from arena.stopping import Sprt, Until
from engine.common.student import cdf, quantile
from engine.contests.estimates import Estimate


def games(bot: str, placements: list[list[int]]) -> BotGames:
    """The games of a bot, of which only the placements matter."""
    array = np.array(placements)
    return BotGames(bot, np.zeros((*array.shape, 1), dtype=np.int32), array, array * 0.0)


TIMES = 10  # so many walls that the difference is not taken for that of walls which are alike by chance
A = games("a", [[1, 1, 2], [1, 3, 1], [2, 1, 1], [1, 2, 3]] * TIMES)
B = games("b", [[2, 2, 1], [3, 1, 3], [1, 2, 3], [2, 1, 2]] * TIMES)


def test_the_difference_is_paired_by_walls() -> None:
    pair = compare(A, B)
    differences = [4 / 3 - 5 / 3, 5 / 3 - 7 / 3, 4 / 3 - 6 / 3, 6 / 3 - 5 / 3] * TIMES
    error = stdev(differences) / len(differences) ** 0.5
    assert pair.difference.mean == pytest.approx(mean(differences))
    assert pair.difference.interval == pytest.approx(quantile(0.975, 39) * error)
    assert pair.superiority == pytest.approx(cdf(-mean(differences) / error, 39))
    assert 0.5 < pair.superiority < 1
    assert pair.n_games == 120


def test_the_other_way_round_everything_is_reversed() -> None:
    one, other = compare(A, B), compare(B, A)
    assert other.difference.mean == pytest.approx(-one.difference.mean)
    assert one.superiority is not None
    assert other.superiority == pytest.approx(1 - one.superiority)
    assert other.more_games == one.more_games


def test_every_two_bots_are_compared_once() -> None:
    assert [(pair.bot, pair.against) for pair in compare_all([A, B, games("c", [[3, 3, 3]] * 4 * TIMES)])] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]


def comparison(mean: float, interval: float | None, n_games: int = 300) -> Comparison:
    return Comparison("a", "b", n_games, Estimate(mean, interval), 0.7)


@pytest.mark.parametrize(
    ("mean", "interval", "more"),
    [
        (-0.05, 0.1, 900),  # half the interval takes four times as many games: 1,200
        (0.05, 0.1, 900),
        (0.03, 0.1, 4000),  # 3,033 more, rounded up to one digit that counts
        (0.0999, 0.1, 3),  # less than a wall
        (0.1001, 0.1, None),  # significant
        (0.0001, 0.1, None),  # 300 million more: no news
        (0.0, 0.1, None),
        (1e-300, 0.1, None),
        (0.0, 0.0, None),
        (0.5, None, None),
    ],
)
def test_how_many_more_games_would_tell_them_apart(mean: float, interval: float | None, more: int | None) -> None:
    assert comparison(mean, interval).more_games == more


def test_that_many_more_games_do_tell_them_apart() -> None:
    """With the same differences again and again, the interval shrinks to below the difference just then."""
    rng = np.random.default_rng(5)
    differences = rng.integers(-2, 3, 40) + rng.permutation(np.repeat([0, 1], 20)) * 0.6
    by_wall = np.repeat(differences[:, np.newaxis], 3, axis=1)

    def pair(times: int) -> Comparison:
        first = BotGames("a", np.zeros((1, 1, 1)), np.tile(by_wall, (times, 1)), by_wall)
        return compare(first, BotGames("b", np.zeros((1, 1, 1)), np.zeros((40 * times, 3)), by_wall))

    now = pair(1)
    assert now.more_games is not None
    needed = 1 + now.more_games / now.n_games
    assert pair(int(needed) + 1).significant
    assert not pair(max(1, int(needed * 0.6))).significant


@pytest.mark.parametrize(
    ("walls", "place", "superiority", "apart"),
    [(5, 1, cdf(2.5, 4), False), (8, 1, cdf(4, 7), True), (5, 2, 0.5, False)],
)
def test_the_same_on_every_wall(walls: int, place: int, superiority: float, apart: bool) -> None:
    """Counts as if one of the walls were off by two: that of a bot who changes places with the other."""
    pair = compare(games("a", [[place] * 3] * walls), games("b", [[2, 2, 2]] * walls))
    assert pair.superiority == pytest.approx(superiority)
    assert pair.significant is apart
    assert pair.difference.interval == pytest.approx(quantile(0.975, walls - 1) * 2 / walls)


def test_one_wall_compares_nothing() -> None:
    pair = compare(games("a", [[1, 1, 1]]), games("b", [[2, 2, 3]]))
    assert (pair.difference.interval, pair.superiority, pair.significant, pair.more_games) == (None, None, False, None)
    assert list(not_significant([comparison_as_json(pair)])) == [
        "one wall shows no significant difference: play more games"
    ]


def test_nothing_is_said_of_one_bot_that_plays_twice() -> None:
    pair = comparison_as_json(comparison(0.03, 0.1))
    assert list(not_significant([pair | {"bot": "rule", "against": "rule#2"}])) == []
    assert len(list(not_significant([pair | {"bot": "rule", "against": "ruled"}]))) == 1


def test_what_is_said_below_the_table() -> None:
    pairs = [comparison(0.03, 0.1), comparison(0.2, 0.1), comparison(0.0, 0.1)]
    assert list(not_significant([comparison_as_json(pair) for pair in pairs])) == [
        "a and b: no significant difference; about 4,000 more games may show one",
        "a and b: no significant difference; the difference is too small to say how many more games may show one",
    ]


def test_who_is_better_is_said() -> None:
    def said(*pairs: tuple[str, str, float], games: int = 90, stop: Sprt | Until | None = None) -> str:
        documents = [
            comparison_as_json(comparison(mean, 0.1)) | {"bot": bot, "against": against} for bot, against, mean in pairs
        ]
        settings = {"stop": asdict(stop) if stop else None}
        return better_bots({"bots": [{"games": games}], "comparisons": documents, "settings": settings})

    chain = ("a", "b", -0.2), ("a", "c", -0.3), ("b", "c", 0.2)
    assert said(*chain) == "a is better than b and c; c is better than b"
    assert said(("a", "b", 0.05), ("rule", "rule#2", 0.2)) == ""
    assert said(*chain, games=87) == ""  # three games are a wall; of a few, all may be alike by chance
    assert said(*chain, stop=Until(0.1)) == said(*chain)
    assert said(*chain, stop=Sprt(0, -0.1)) == ""  # intervals at the end of a sequential test are not 95 % intervals


def test_how_much_narrower_the_intervals_are() -> None:
    def line(*ratios: float | None) -> str:
        bots = [{"luck_ratio": ratio} for ratio in ratios]
        return luck_line({"settings": {"control_variates": True}, "bots": bots})

    assert "with intervals 0.91 to 0.93 times as wide" in line(0.93, 0.91, 0.92)
    assert "with intervals 1.00 times as wide" in line(1.0, 0.999, None)
    assert line(1.0, 1.0, None) == ""  # so few walls that nothing was taken out
    assert line(None, None, None) == ""
