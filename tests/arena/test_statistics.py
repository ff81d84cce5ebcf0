"""Statistics: intervals by hand, and the results of a run beside its saved games."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from itertools import combinations
from math import sqrt
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest

from arena.bot_games import DEAL_INS, N_COUNTS, ROUNDS, SCORE, WINS, by_bot, compare, estimate
from arena.columns import as_json
from engine.common.student import quantile
from engine.contests.observations import DIFFERENCE, PLACE, POINTS, SHARE
from engine.contests.seating import seating
from engine.rules import TENHOU
from tests.support.arena_runs import Arena

GAMES = 90
BOTS = ["efficiency", "random", "efficiency#2"]


@pytest.fixture(scope="module")
def run(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a finished run: results.json and games/."""
    folder = tmp_path_factory.mktemp("run")
    options = ["--bots", "efficiency,random,efficiency", "--games", GAMES, "--seed", 5]
    arena(*options, "--json", folder / "results.json", "--save", folder / "games")
    return folder


@pytest.mark.slow
def test_results_are_those_of_the_saved_games(run: Path) -> None:
    """What is counted within games is recounted in test_tallies."""
    document = json.loads((run / "results.json").read_text(encoding="utf-8"))
    results: dict[str, dict[int, list[tuple[int, int, float]]]] = defaultdict(lambda: defaultdict(list))
    hands = defaultdict(set)
    for game in document["games"]:
        path = run / "games" / f"{game['wall_seed']}-{game['rotation']}.mjson.gz"
        start, deal, *_, end = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        assert start["names"] == game["seats"]
        assert start["wall_seed"] == str(int(game["wall_seed"], 16))
        assert end["scores"] == game["scores"]
        assert game["placements"] == TENHOU.ranks(game["scores"])
        hands[game["wall"]].add(json.dumps(deal["tehais"]))
        for name, *result in zip(game["seats"], game["placements"], end["scores"], end["points"], strict=True):
            results[name][game["wall"]].append(tuple(result))
    assert len(document["games"]) == GAMES == len(list((run / "games").iterdir()))
    assert [len(dealt) for dealt in hands.values()] == [1] * (GAMES // 3), "all rotations of a wall are dealt the same"
    assert [bot["bot"] for bot in document["bots"]] == BOTS
    for bot in document["bots"]:
        games = np.array(list(results[bot["bot"]].values()))  # [walls, rotations, (placement, score, final points)]
        assert games.shape == (GAMES // 3, 3, 3)
        assert bot["games"] == GAMES
        assert [bot["first"], bot["second"], bot["third"]] == [(games[..., 0] == place).mean() for place in (1, 2, 3)]
        assert bot["score"] == pytest.approx(games[..., 1].mean())
        assert bot["busts"] == (games[..., 1] < 0).sum()
        for key, column, off in (("placement", 0, 1), ("final_points", 2, 20)):
            means = games[..., column].mean(axis=1)
            error = max(stdev(means) / sqrt(len(means)), off / len(means))
            expected = {"mean": means.mean(), "interval": quantile(0.975, len(means) - 1) * error}
            assert bot[key] == pytest.approx(expected), key


def test_luck_of_a_wall_does_not_widen_the_interval() -> None:
    """Three bots that play alike: each wall gives its first seat 1st place, so every bot's mean is 2 on every wall."""
    walls = range(8)
    counts = np.zeros((len(walls), 3, 3, N_COUNTS), dtype=np.int32)
    counts[..., SCORE] = [50_000, 35_000, 20_000]
    counts[..., ROUNDS] = 10
    for games in by_bot(["a", "b", "c"], walls, counts, TENHOU):
        bot = as_json(games)
        assert bot["placement"] == {"mean": 2.0, "interval": pytest.approx(quantile(0.975, 7) / 8)}  # the least
        assert (bot["first"], bot["second"], bot["third"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_counts_go_to_the_bot_that_sat_there() -> None:
    walls = [1, 6]
    counts = np.zeros((len(walls), 3, 3, N_COUNTS), dtype=np.int32)
    counts[..., ROUNDS] = 4
    counts[..., SCORE] = 35_000
    seats = seating(walls)
    counts[..., WINS] = np.where(seats == 1, 3, 0)
    counts[..., DEAL_INS] = np.where(seats == 2, 2, 0)
    counts[..., SCORE] -= np.where(seats == 0, 35_100, 0)
    bots = [as_json(games) for games in by_bot(["a", "b", "c"], walls, counts, TENHOU)]
    assert [bot["win_rate"] for bot in bots] == [0, 0.75, 0]
    assert [bot["deal_in_rate"] for bot in bots] == [0, 0, 0.5]
    assert [bot["busts"] for bot in bots] == [6, 0, 0]
    assert [bot["placement"]["mean"] for bot in bots] == [3, 1.5, 1.5]


def test_one_wall_has_no_interval() -> None:
    assert estimate(np.array([[1, 2, 3]]), PLACE).interval is None
    assert estimate(np.array([[1, 3, 3], [1, 1, 0]]), PLACE).interval == pytest.approx(12.7062 * 5 / 6)


@pytest.mark.parametrize("walls", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("strengths", [(1, 1, 1), (4, 2, 1), (30, 5, 1), (300, 30, 1)])
def test_intervals_of_few_walls_cover(walls: int, strengths: tuple[int, ...]) -> None:
    """In 950 of 1,000 experiments at least, less four standard errors (3 %), also where most walls are alike."""
    rng = np.random.default_rng(1)
    n = 1000
    speeds = rng.exponential(size=(n, walls, 3, 3)) / strengths  # the model of Plackett and Luce
    placements = speeds.argsort(axis=-1).argsort(axis=-1) + 1  # [experiments, walls, rotations, bots]
    ahead = [[a / (a + b) for a in strengths] for b in strengths]  # [against, bot]
    means = [sum(ahead[bot][b] for b in range(3) if b != bot) + 1 for bot in range(3)]

    def missed(values: np.ndarray, off: float, mean: float) -> int:
        return sum(abs((each := estimate(sample, off)).mean - mean) > (each.interval or 0) for sample in values)

    for bot in range(3):
        assert missed(placements[..., bot], PLACE, means[bot]) < 80
    for a, b in combinations(range(3), 2):
        assert missed(placements[..., a] - placements[..., b], DIFFERENCE, means[a] - means[b]) < 80
        assert missed(placements[..., a] < placements[..., b], SHARE, ahead[b][a]) < 80


def test_walls_that_are_alike_by_chance_are_not_taken_for_certain() -> None:
    """But as if one of them were off: by a place, or by what stands for it."""
    alike = np.ones((2, 3))
    assert estimate(alike, PLACE).interval == pytest.approx(12.7062 / 2)
    assert estimate(np.ones((100, 3)), PLACE).interval == pytest.approx(1.9842 / 100, rel=1e-4)
    counts = np.zeros((2, 3, 3, N_COUNTS), dtype=np.int32)
    counts[..., SCORE] = np.where(seating([0, 1]) == 0, 60_000, 20_000)
    first, second, _ = by_bot(["a", "b", "c"], [0, 1], counts, TENHOU)
    assert first.points.interval == pytest.approx(12.7062 * POINTS / 2)
    pair = compare(first, second)
    assert pair.superiority is not None
    assert 0.5 < pair.superiority < 0.9
    assert not pair.significant
