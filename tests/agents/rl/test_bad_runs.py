"""Runs that go wrong: opponents that fail, weights that are lost, states of another version, too little to learn."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import deque
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.registry import make
from agents.residual.features import FEATURES
from agents.rl import cli, evaluation, rollouts
from agents.rl.bot import NetworkBot
from agents.rl.families import features_named
from agents.rl.policy import NAMES, load_weights
from agents.rl.ppo import Learner
from agents.rl.rollouts import Actor, Experience
from agents.rl.settings import Games, Hyperparameters, some_scores
from agents.rl.training import Run
from tests.support.small_rl import SMALL, played, weights_of

pytestmark = pytest.mark.usefixtures("one_thread")


class Failing:
    """A bot that raises."""

    name = "failing"

    def act(self, views: np.ndarray) -> np.ndarray:
        raise OSError("no disk")


def test_an_opponent_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rollouts.make
    monkeypatch.setattr(rollouts, "make", lambda spec: Failing() if spec == "failing" else made(spec))
    games = Games("residual", opponents=("rule", "failing"), against=1.0)
    with pytest.raises(ValueError, match=r"^opponent failing, seat \d: raised OSError.*no disk"):
        Actor(games, 16, 0).play(weights_of(), [], Event())
    with pytest.raises(ValueError, match=r"^measured against failing: failing, seat \d: raised OSError"):
        evaluation.placements_of(make("rule"), Failing(), [1, 2], Event())


def test_a_former_self_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NetworkBot, "act", Failing.act)
    actor, stop = Actor(Games("residual", against=1.0), 16, 0), Event()
    with pytest.raises(ValueError, match=r"^a former self, seat \d: raised OSError"):
        deque((actor.play(weights_of(), [weights_of()], stop) for _ in range(60)), maxlen=0)  # it joins new games


@pytest.mark.parametrize("part", ["policy", "critic", "situation"])
def test_weights_that_are_no_numbers_are_never_saved(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learn = Learner.learn

    def spoiled(learner: Learner, *given: Any) -> dict[str, float]:
        metrics = learn(learner, *given)
        next(getattr(learner, part).parameters()).data.view(-1)[3] = torch.nan
        return metrics

    monkeypatch.setattr(Run, "save_every", 0.0)
    monkeypatch.setattr(Learner, "learn", spoiled)
    tiny = "--jobs 1 --set measure_against=random --set tables=4 --set width=8 --set hidden=8 --set walls=1"
    assert cli.main(["train", str(tmp_path), "--minutes", "0.1", *tiny.split()]) == 2
    assert "iteration 0" in capsys.readouterr().err.splitlines()[-1]
    kept = load_weights(tmp_path / "network.npz", features_named("residual"))
    assert all(np.isfinite(kept[name]).all() for name in NAMES)
    state = torch.load(tmp_path / "state.pt", weights_only=True)["learner"]
    assert all(bool(each.isfinite().all()) for each in state[part].values())


def test_a_state_with_other_features_is_not_continued(tmp_path: Path) -> None:
    Run(tmp_path, SMALL, None).save()
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    policy = state["learner"]["policy"]
    policy["weights.action"] = policy["weights.action"][:-1].clone()
    torch.save(state, tmp_path / "state.pt")
    n = FEATURES.n_action
    with pytest.raises(ValueError, match=rf"float32\[{n - 1}, 16\] as 'action', which must be float32\[{n}, 16\]"):
        Run(tmp_path, SMALL, None)


def test_a_bad_handicap_says_how_to_write_one() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^'1-2' .*points, as in 25000-35000-45000$"):
        some_scores("35000-35000-35000,1-2")


def test_one_choice_is_enough_to_learn_from() -> None:
    part, learner = played(), Learner(weights_of(), Hyperparameters())
    m = part.counts[0]
    first = (each[:1] if len(each) == len(part.seat) else each[:m] for each in part[:9])
    one = Experience(*first, *part[9:])
    metrics = learner.learn([one], np.random.default_rng(0))
    assert np.isfinite(list(metrics.values())).all()
    assert learner.is_finite()


def test_the_interval_of_a_measurement_is_that_of_independent_walls() -> None:
    bot, walls = make("random"), 9
    seeds = [evaluation.derive_seed(0, "rl measure", wall) for wall in range(walls)]
    placements = evaluation.placements_of(bot, make("efficiency", 1), seeds, Event())
    expected = placements.mean(), 1.96 * placements.std(ddof=1) / 3
    assert evaluation.measure(bot, "efficiency", walls) == pytest.approx(expected)


def test_an_interval_that_is_not_known_is_shown_as_a_dash() -> None:
    row = evaluation.Strength(0.0, 0, 0, "rule", 3, *evaluation.measure(make("random"), "efficiency", 1))
    assert row.text() == f"{row.placement:.3f} ± –"
    assert row._replace(placement=2.1, interval=0.05).text() == "2.100 ± 0.050"
