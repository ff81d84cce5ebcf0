"""Runs that stop when they know enough: the error rates of the test, and where a run stops."""

from __future__ import annotations

import json
from collections.abc import Generator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import arena.run
from arena.api import play
from arena.chunk import ChunkResult, play_chunk
from arena.luck import adjust_for_luck
from arena.match import Match
from arena.recorder import file_name
from arena.run import ArenaRun
from arena.schedule import RunSettings, games_of
from arena.stopping import MIN_WALLS, Sprt, Until
from engine.common.progress import Progress
from engine.common.student import half_width
from engine.common.workers import run_tasks
from engine.contests.observations import PLACE
from tests.support.arena_runs import Arena, without_speed

MATCHES = 1000
MAX_WALLS = 6000
# Mean placements of `selfplay` against two `rule` on 1,000 walls, and their luck: experiments/control_variates.py
REAL = json.loads((Path(__file__).parent.parent / "data" / "placements_by_wall.json").read_text())


def simulated(rng: np.random.Generator, mean: float, with_luck: bool) -> np.ndarray:
    """The placements of a match whose walls are drawn from real ones, moved so that their mean is ``mean``."""
    placements, luck = np.array(REAL["placements"]), np.array(REAL["luck"])
    drawn = rng.integers(0, len(placements), MAX_WALLS)
    values = (placements - placements.mean() + mean)[drawn]
    return adjust_for_luck(values, (luck - luck.mean())[drawn]) if with_luck else values


@pytest.mark.slow
@pytest.mark.parametrize("with_luck", [False, True])
@pytest.mark.parametrize("test", [Sprt(0, -0.05), Sprt(0, -0.1), Sprt(0.04, -0.04, 0.1, 0.02)])
def test_the_error_rates_hold_under_optional_stopping(test: Sprt, with_luck: bool) -> None:
    rng = np.random.default_rng(4)
    wrong = {"H0": 0, "H1": 0}
    decided = 0
    for hypothesis, mean, error in (("H0", test.not_better, "better"), ("H1", test.better, "not better")):
        for _ in range(MATCHES):
            values = simulated(rng, 2 + mean, with_luck)[np.newaxis]
            n = test.stops_after(values)
            decided += n is not None
            wrong[hypothesis] += n is not None and test.outcome(values[:, :n]) == error
    assert decided > 1.99 * MATCHES
    for hypothesis, allowed in (("H0", test.alpha), ("H1", test.beta)):
        assert wrong[hypothesis] / MATCHES < allowed + 3 * (allowed * (1 - allowed) / MATCHES) ** 0.5
    assert sum(wrong.values()) > 0  # a test that is never wrong plays too long


def test_the_ratio_is_that_of_two_normal_distributions() -> None:
    test = Sprt(0.01, -0.03)
    values = 2 + np.random.default_rng(5).normal(-0.01, 0.4, 100)
    variance = values.var(ddof=1)
    ratio = sum((value - 2.01) ** 2 - (value - 1.97) ** 2 for value in values) / (2 * variance)
    assert test.ratios(values)[-1] == pytest.approx(ratio)
    assert (test.ratios(values)[: MIN_WALLS - 1] == 0).all()
    assert test.bounds == (log(0.05 / 0.95), log(0.95 / 0.05))


def test_the_test_decides_at_the_first_wall_beyond_a_bound() -> None:
    test, values = Sprt(0, -0.2), np.tile([1.6, 2.0], (3, 200))
    n = test.stops_after(values)
    assert n is not None
    assert test.outcome(values[:, :n]) == "better"
    assert test.outcome(values[:, : n - 1]) == "undecided"
    assert test.stops_after(values[:, : n - 1]) is None
    assert test.outcome(values[:, ::-1][:, :n] + 0.4) == "not better"
    assert "bounds -2.94 and +2.94" in test.status(values)
    assert test.status(values[:, : MIN_WALLS - 1]) == f"decides from {MIN_WALLS} walls on"


def test_bots_that_place_alike_on_every_wall_are_told_apart_or_not() -> None:
    """Three equal bots, or a change that never shows: the variance is 0, and the run ends nevertheless."""
    for better, walls in ((-0.2, MIN_WALLS), (-0.02, 122), (-0.01, 243)):
        equal = np.full((3, 500), 2.0)
        assert Sprt(0, better).stops_after(equal) == walls
        assert Sprt(0, better).outcome(equal) == "not better"
    assert Sprt(0, -0.02).outcome(np.full((3, 500), 1.0)) == "better"


def test_until_stops_at_the_half_width_of_the_widest_interval() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(2, [[0.2], [0.4], [0.1]], (3, 1500))
    n = Until(0.03).stops_after(values)
    assert n is not None
    widths = [max(half_width(bot[:k], PLACE) or 1.0 for bot in values) for k in (n - 1, n)]
    assert widths[1] <= 0.03 < widths[0]
    assert Until(0.03).outcome(values[:, :n]) == "reached"
    assert Until(0.03).outcome(values[:, : n - 1]) == "not reached"
    assert Until(0.001).stops_after(values) is None
    assert Until(10.0).stops_after(values) == MIN_WALLS


def result_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@pytest.mark.slow
def test_a_run_stops_at_the_same_wall_with_any_number_of_jobs(arena: Arena, tmp_path: Path) -> None:
    outputs = []
    for jobs in (1, 2):
        path = tmp_path / f"{jobs}.json"
        options = ["--bots", "efficiency,random,random", "--length", "east", "--sprt", "0,-0.2", "--json", path]
        options += ["--no-control-variates"]
        done = arena(*options, "--jobs", jobs)
        assert "SPRT: efficiency is better after" in done.stdout
        assert "(H0: placement 2, H1: 1.8; log-likelihood ratio +" in " ".join(done.stdout.split())
        outputs.append(without_speed(path))
    assert outputs[0] == outputs[1]
    stop, games = outputs[0]["stop"], outputs[0]["games"]
    assert stop["outcome"] == "better"
    assert len(games) == stop["games"] == outputs[0]["bots"][0]["games"] < 300
    # with one wall less, it would not have stopped
    by_wall = (
        np.array([row["placements"][row["seats"].index("efficiency")] for row in games]).reshape(-1, 3).mean(axis=1)
    )
    assert Sprt(0, -0.2).stops_after(by_wall[np.newaxis, :-1]) is None


def names_of(match: Match) -> set[str]:
    """The files of the games that count."""
    return {f"{game.wall_seed}-{game.rotation}.mjson.gz" for game in match.games}


def test_games_after_the_one_that_decides_are_not_saved_and_were_played(tmp_path: Path) -> None:
    match = play(["random", "rule", "random"], games=150, length="east", stop=Until(0.2), save=tmp_path)
    assert 3 * MIN_WALLS <= len(match.games) < 150
    assert {path.name for path in tmp_path.iterdir()} == names_of(match)
    assert match.document["speed"]["games"] == 150


def test_ctrl_c_while_the_workers_of_a_decided_run_end_leaves_no_games_after_the_one_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted_at_the_end(*arguments: Any) -> Generator[Any]:
        try:
            yield from run_tasks(*arguments)
        except GeneratorExit:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(arena.run, "run_tasks", interrupted_at_the_end)
    run = ArenaRun(
        RunSettings(("random", "rule", "random"), 150, 0, "tenhou", "east", stop=Until(0.2)), 0, save=tmp_path
    )
    with pytest.raises(KeyboardInterrupt):
        run.play(Console(quiet=True))
    assert 3 * MIN_WALLS <= run.games < 150
    assert {path.name for path in tmp_path.iterdir()} == names_of(run.match)


def test_resumed_games_after_the_one_that_decides_change_no_speed(tmp_path: Path) -> None:
    settings = RunSettings(("random", "rule", "random"), 300, 0, "tenhou", "east", stop=Until(0.2))

    def opened() -> ArenaRun:
        return ArenaRun(settings, 0, tmp_path / "r.json", save=tmp_path / "games")

    run = opened()
    for update in play_chunk(settings, settings.make_bots(), list(range(50, 100)), run.save):
        if isinstance(update, ChunkResult):
            run._handle(update, Progress("games", None, 0, Console(quiet=True)))
    assert run.checkpoint is not None
    run.checkpoint.close()
    run = opened()
    assert run.games == 150
    (unfinished,) = games_of(settings, [99])[:1]  # by a worker that is ended
    for name in (file_name(unfinished), file_name(unfinished) + ".tmp"):
        (tmp_path / "games" / name).touch()
    run.play(Console(quiet=True))
    run.finish()
    assert 3 * MIN_WALLS <= run.games < 150
    assert run.document["speed"]["games"] == 150
    assert {path.name for path in (tmp_path / "games").iterdir()} == names_of(run.match)


@pytest.mark.slow
def test_a_run_that_cannot_decide_says_so(arena: Arena, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    options = ["--bots", "random,random,random", "--length", "east", "--games", 150, "--json", path]
    done = arena(*options, "--sprt", "0,-0.01,0.01,0.01")
    assert "SPRT: undecided whether random is better after 150 games" in " ".join(done.stdout.split())
    assert result_of(path)["stop"]["outcome"] == "undecided"


@pytest.mark.slow
def test_a_run_stops_at_a_half_width(arena: Arena, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    done = arena("--bots", "efficiency,random,random", "--length", "east", "--until", "0.06", "--json", path)
    assert "half-width of the intervals: reached after" in done.stdout
    document = result_of(path)
    assert max(bot["placement"]["interval"] for bot in document["bots"]) <= 0.06
    again = arena("--bots", "efficiency,random,random", "--length", "east", "--until", "0.06", "--json", path)
    assert "has these results already" in again.stdout


@pytest.mark.slow
def test_without_control_variates_results_are_as_played(arena: Arena, tmp_path: Path) -> None:
    documents = []
    for option in ([], ["--no-control-variates"]):
        path = tmp_path / f"{len(option)}.json"
        done = arena("--bots", "efficiency,rule,random", "--length", "east", "--games", 180, "--json", path, *option)
        assert ("without the luck of the walls" in done.stdout) is not bool(option)
        documents.append(result_of(path))
    fair, played = documents
    assert fair["games"] == played["games"]
    for with_luck, bot in zip(fair["bots"], played["bots"], strict=True):
        shares = bot["first"] + 2 * bot["second"] + 3 * bot["third"]
        assert bot["placement"]["mean"] == pytest.approx(shares)
        assert bot["luck_ratio"] is None
        assert with_luck["luck_ratio"] == pytest.approx(
            with_luck["placement"]["interval"] / bot["placement"]["interval"]
        )
        assert with_luck["placement"]["mean"] != bot["placement"]["mean"]
