"""Statistics: intervals by hand, and everything recounted from the saved games of a run."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import combinations
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

from arena.bot_games import DEAL_INS, N_COUNTS, ROUNDS, SCORE, WINS, by_bot, compare, estimate
from arena.columns import as_json
from engine.common.student import quantile
from engine.contests.observations import DIFFERENCE, PLACE, POINTS, SHARE
from engine.contests.seating import seating
from engine.rules import TENHOU
from tests.support.arena_runs import REPOSITORY, Arena

GAMES = 90
BOTS = ["efficiency", "random", "efficiency#2"]


@pytest.fixture(scope="module")
def run(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a finished run: results.json and games/."""
    folder = tmp_path_factory.mktemp("run")
    options = ["--bots", "efficiency,random,efficiency", "--games", GAMES, "--seed", 5]
    done = arena(*options, "--json", folder / "results.json", "--save", folder / "games")
    assert done.returncode == 0, done.stderr
    return folder


def recounted_round(events: list[dict[str, Any]], names: list[str], counts: dict[str, Counter[str]]) -> None:
    """Add one round to the counts of each bot."""
    types = [event["type"] for event in events]
    wins = [event for event in events if event["type"] == "hora"]
    riichi = {event["actor"] for event in events if event["type"] == "reach_accepted"}
    called = {event["actor"] for event in events if event["type"] in ("pon", "daiminkan")}
    for seat, name in enumerate(names):
        own = [win for win in wins if win["actor"] == seat]
        dealt_in = [win for win in wins if win["target"] == seat != win["actor"]]
        counts[name] += Counter(
            rounds=1,
            win=len(own),
            tsumo=sum(win["target"] == seat for win in own),
            deal_in=bool(dealt_in),
            riichi=seat in riichi,
            riichi_win=bool(own) and seat in riichi,
            call=seat in called,
            draw="ryukyoku" in types,
            nukidora=sum(event["type"] == "nukidora" and event["actor"] == seat for event in events),
            win_points=sum(win["hora_points"] for win in own),
            deal_in_points=sum(win["hora_points"] for win in dealt_in),
        )


@pytest.mark.slow
def test_a_slow_recount_of_the_saved_games_agrees(run: Path) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    placements: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    scores: dict[str, list[int]] = defaultdict(list)
    for path in sorted((run / "games").iterdir()):
        events = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
        names, final = events[0]["names"], events[-1]
        starts = [number for number, event in enumerate(events) if event["type"] == "start_kyoku"]
        for first, last in zip(starts, [*starts[1:], len(events)], strict=True):
            recounted_round(events[first:last], names, counts)
        wall = path.name.split("-")[0]
        for seat, name in enumerate(names):
            score = final["scores"][seat]
            better = [other for at, other in enumerate(final["scores"]) if (-other, at) < (-score, seat)]
            scores[name].append(score)
            placements[name][wall].append(1 + len(better))
            points[name][wall].append(final["points"][seat])

    bots = json.loads((run / "results.json").read_text(encoding="utf-8"))["bots"]
    assert [bot["bot"] for bot in bots] == BOTS
    for bot in bots:
        name, count = bot["bot"], counts[bot["bot"]]
        every = [placement for wall in placements[name].values() for placement in wall]
        assert bot["games"] == len(every) == GAMES
        assert bot["rounds"] == count["rounds"]
        assert [bot["first"], bot["second"], bot["third"]] == [every.count(place) / GAMES for place in (1, 2, 3)]
        assert bot["score"] == pytest.approx(mean(scores[name]))
        assert bot["busts"] == sum(score < 0 for score in scores[name])
        for key in ("win", "tsumo", "deal_in", "riichi", "call", "draw"):
            assert bot[f"{key}_rate"] == pytest.approx(count[key] / count["rounds"]), key
        assert bot["riichi_win_rate"] == (
            pytest.approx(count["riichi_win"] / count["riichi"]) if count["riichi"] else None
        )
        assert bot["nukidora"] == pytest.approx(count["nukidora"] / count["rounds"])
        assert bot["win_points"] == (pytest.approx(count["win_points"] / count["win"]) if count["win"] else None)
        assert bot["deal_in_points"] == pytest.approx(count["deal_in_points"] / count["deal_in"])
        for key, by_wall, off in (("placement", placements[name], 1), ("final_points", points[name], 20)):
            means = [mean(wall) for wall in by_wall.values()]
            assert len(means) == GAMES // 3
            error = max(stdev(means) / sqrt(len(means)), off / len(means))
            expected = {"mean": mean(means), "interval": quantile(0.975, len(means) - 1) * error}
            assert bot[key] == pytest.approx(expected), key
    assert sum(count["deal_in"] for count in counts.values()) > 50, "too few deal-ins to tell anything"
    assert sum(count["call"] for count in counts.values()) > 50, "too few calls to tell anything"


def test_results_of_games_agree_with_the_saved_games(run: Path) -> None:
    games = json.loads((run / "results.json").read_text(encoding="utf-8"))["games"]
    assert len(games) == GAMES == len(list((run / "games").iterdir()))
    for game in games:
        path = run / "games" / f"{game['wall_seed']}-{game['rotation']}.mjson.gz"
        first, *_, last = gzip.decompress(path.read_bytes()).decode().splitlines()
        assert json.loads(first)["names"] == game["seats"]
        assert json.loads(first)["wall_seed"] == int(game["wall_seed"], 16)
        assert json.loads(last)["scores"] == game["scores"]
        assert game["placements"] == TENHOU.ranks(game["scores"])


def test_rotations_of_a_wall_are_dealt_the_same_tiles(run: Path) -> None:
    first_hands = defaultdict(set)
    for path in (run / "games").iterdir():
        start = json.loads(gzip.decompress(path.read_bytes()).decode().splitlines()[1])
        first_hands[path.name.split("-")[0]].add(json.dumps(start["tehais"]))
    assert len(first_hands) == GAMES // 3
    assert {len(hands) for hands in first_hands.values()} == {1}


@pytest.mark.slow
def test_saved_games_validate(run: Path) -> None:
    if not (REPOSITORY / "engine" / "__main__.py").exists():
        pytest.skip("the engine has no command line yet")
    command = [sys.executable, "-m", "engine", "validate", str(run / "games")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"files {GAMES} ")
    assert done.stdout.splitlines()[-1].endswith("mismatches 0")


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


def test_few_walls_have_wide_intervals() -> None:
    """Student's t, not the normal distribution: with 95 % intervals, one of twenty misses the mean."""
    samples = np.random.default_rng(0).normal(2, 0.5, (4000, 5))
    estimates = [estimate(sample, 0.0) for sample in samples]
    missed = sum(abs(each.mean - 2) > (each.interval or 0) for each in estimates)
    assert missed / len(samples) == pytest.approx(0.05, abs=0.01)


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
