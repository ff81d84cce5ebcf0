"""Runs that are interrupted, continued, measured and refused."""

from __future__ import annotations

import signal
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.registry import make
from agents.rl import evaluation, training
from agents.rl.bot import LOGIT_VALUE
from agents.rl.cli import main
from agents.rl.critic import load_critic
from agents.rl.evaluation import Strength, read_curve, write_curve
from agents.rl.families import features_named
from agents.rl.policy import NAMES, Weights, load_weights, random_weights, save_weights
from agents.rl.ppo import Learner
from agents.rl.settings import Games, Hyperparameters, Settings
from agents.rl.training import Run
from agents.training.folders import FILES
from engine.common.program import BAD_ARGUMENTS
from tests.support.small_rl import SMALL, weights_of
from tests.support.views import views_of_games

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def _short_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "WARM_UP", 1)


def interrupt(*ignored: object) -> None:
    """Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def weights_after(folder: Path, interruptions: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The weights after five iterations; some are interrupted when all is played, and played again."""
    clock = count()
    monkeypatch.setattr(training, "monotonic", lambda: next(clock))  # an iteration takes a second
    folder.mkdir()
    settings = replace(SMALL, former_every=2 / 60)
    run = Run(folder, settings, None)
    for iteration in range(5):
        run.save()
        if iteration in interruptions:
            with monkeypatch.context() as patch:
                patch.setattr(Learner, "learn", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    run.next_iteration()
            run = Run(folder, settings, None)
        run.next_iteration()
    assert len(run.former) == 2
    run.save()
    load_critic(folder / "critic.npz", run.features.n_state)  # complete, too
    return load_weights(folder / "network.npz", run.features)


@pytest.mark.slow
def test_an_interrupted_run_comes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights_after(tmp_path / "whole", (), monkeypatch)
    broken = weights_after(tmp_path / "broken", (1, 3, 4), monkeypatch)
    assert all((whole[name] == broken[name]).all() for name in whole)
    start = random_weights(features_named("residual"), SMALL.width, SMALL.hidden, SMALL.seed)
    assert any((whole[name] != start[name]).any() for name in whole)


def test_the_learning_rate_falls_from_when_the_policy_begins_to_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count()
    monkeypatch.setattr(training, "monotonic", lambda: next(clock))  # an iteration takes a second
    monkeypatch.setattr(training, "WARM_UP", 2)
    settings, rates, of_critic = replace(SMALL, minutes=6 / 60), [], []
    for iteration in range(7):
        run = Run(tmp_path, settings, None)
        run.next_iteration()
        run.save()
        rates.append(run.learner.optimizer.param_groups[0]["lr"] / settings.hyperparameters.learning_rate)
        of_critic.append(run.learner.value_optimizer.param_groups[0]["lr"] / settings.hyperparameters.critic_rate)
        assert run.phase == (f"warm-up {iteration + 1}/2" if iteration < 2 else f"iteration {iteration + 1}")
    assert rates == pytest.approx([0, 0, 1, 0.75, 0.5, 0.25, 0])
    assert of_critic == pytest.approx([1, 1, 1, 0.75, 0.5, 0.25, 0.1])


def test_runs_of_as_many_iterations_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for folder, slowness in (("fast", 1.0), ("slow", 9.0)):
        clock = count(0.0, slowness)
        monkeypatch.setattr(training, "monotonic", lambda clock=clock: next(clock))
        options = arguments(tmp_path / folder, "--set", "iterations=3", "--set", "measure_every=0.1")
        assert main(options) == 0
        assert main(options) == 0  # nothing is left to do
        found.append(load_weights(tmp_path / folder / "network.npz", features_named("residual")))
        rows = (tmp_path / folder / "curve.csv").read_text().splitlines()
        assert rows[-1].split(",")[1] == "3"
    assert all((found[0][name] == found[1][name]).all() for name in NAMES)
    assert found[0]["logit"].any()


def test_only_the_newest_former_selves_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr(training, "monotonic", lambda: next(clock))  # an iteration takes a second
    monkeypatch.setattr(training, "MOST_FORMER", 2)
    run = Run(tmp_path, replace(SMALL, former_every=1 / 60), None)
    selves = []
    for _ in range(4):
        run.next_iteration()
        selves.append(run.learner.policy.numpy())
    assert len(run.former) == 2
    assert all((run.former[i][name] == selves[i - 2][name]).all() for i in range(2) for name in NAMES)


def test_features_are_whitened_when_the_policy_begins_to_learn(tmp_path: Path) -> None:
    run = Run(tmp_path, SMALL, None)
    found = []
    for _ in range(3):
        run.next_iteration()
        found.append(run.learner.policy.get_buffer("state_whitening").clone())
    assert found[0].equal(torch.eye(len(found[0])))
    assert not found[1].equal(found[0])
    assert found[2].equal(found[1])


def test_a_run_begins_with_the_weights_given(tmp_path: Path) -> None:
    start = weights_of(seed=9)
    save_weights(tmp_path / "start.npz", start)
    run = Run(tmp_path, SMALL, tmp_path / "start.npz")
    assert all((run.learner.policy.numpy()[name] == start[name]).all() for name in NAMES)
    before = run.learner.policy.numpy()
    run.next_iteration()  # in which only the critic learns
    assert all((run.learner.policy.numpy()[name] == before[name]).all() for name in NAMES)
    run.next_iteration()
    assert any((run.learner.policy.numpy()[name] != before[name]).any() for name in NAMES)
    run.save()
    of_folder = Run(tmp_path / "other", SMALL, tmp_path)
    assert all((of_folder.learner.policy.numpy()[name] == run.learner.policy.numpy()[name]).all() for name in NAMES)
    (tmp_path / "start.npz").unlink()
    again = Run(tmp_path, replace(SMALL, width=None), tmp_path / "start.npz")
    assert all((run.learner.policy.numpy()[name] == again.learner.policy.numpy()[name]).all() for name in NAMES)


def test_a_run_keeps_the_widths_of_the_weights_given_or_widens_them(tmp_path: Path) -> None:
    save_weights(tmp_path / "start.npz", weights_of(seed=9))  # 16 and 8
    for width, hidden in ((None, None), (None, 9), (20, None)):
        settings = replace(SMALL, width=width, hidden=hidden)
        run = Run(tmp_path / f"{width}-{hidden}", settings, tmp_path / "start.npz")
        assert run.learner.policy.numpy()["hidden"].shape == (width or 16, hidden or 8)
    with pytest.raises(ValueError, match=r"hidden 7: .*start.npz has 8; a network can only be widened"):
        Run(tmp_path / "narrow", replace(SMALL, hidden=7), tmp_path / "start.npz")


def test_a_run_that_goes_on_keeps_its_anchor(tmp_path: Path) -> None:
    features = features_named("residual")
    anchor = random_weights(features, 5, 3, 7)  # its widths are its own
    save_weights(tmp_path / "anchor.npz", anchor)
    settings = replace(SMALL, hyperparameters=Hyperparameters(kl_start=0.1))
    (tmp_path / "run").mkdir()
    Run(tmp_path / "run", settings, None, tmp_path / "anchor.npz").save()
    for run in (Run(tmp_path / "run", settings, None), Run(tmp_path / "run", settings, None, tmp_path / "other.npz")):
        assert run.learner.start is not None
        kept = run.learner.start.numpy()
        assert all(np.array_equal(kept[name], anchor[name]) for name in NAMES)


def arguments(folder: Path, *more: str) -> list[str]:
    """A command line with a tiny budget."""
    tiny = "--jobs 1 --set measure_against=random --set tables=4 --set width=8 --set hidden=8 --set walls=1"
    return ["train", str(folder), *tiny.split(), *more]


def test_the_command_trains_is_interrupted_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iterations = []
    original = Run.next_iteration

    def counted(run: Run) -> Any:
        if len(iterations) == 2:
            iterations.append(-1)
            signal.raise_signal(signal.SIGINT)
        iterations.append(run.iteration)
        told = original(run)
        run.seconds = 30.0 * run.iteration
        return told

    monkeypatch.setattr(Run, "next_iteration", counted)
    options = arguments(tmp_path, "--minutes", "1.5", "--set", "measure_every=0.75")
    assert main(options) == 130
    assert "stopped; the same command continues after iteration 3" in capsys.readouterr().err
    assert main(options) == 0
    resumed = capsys.readouterr()
    assert resumed.err.startswith("resuming after iteration 3\n")
    assert "has not begun" not in resumed.out
    assert iterations == [0, 1, -1, 2]
    lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == ["iteration", "0", "2", "3"]
    assert make(f"residual:{tmp_path}").name == f"residual:{tmp_path}"
    assert all((tmp_path / name).is_file() for name in FILES["agents.rl"])
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [event.step for event in board.Scalars("placement/random")] == [0, 2, 3]
    assert [event.step for event in board.Scalars("learning/choices_per_second")] == [1, 2, 3]
    assert "against two random" in (tmp_path / "curve.svg").read_text()


def test_a_run_that_ends_in_the_warm_up_says_that_nothing_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    next_iteration = Run.next_iteration

    def in_a_minute(run: Run) -> Any:
        told = next_iteration(run)
        run.seconds = 60.0 * run.iteration
        return told

    monkeypatch.setattr(Run, "next_iteration", in_a_minute)
    assert main(arguments(tmp_path, "--minutes", "1")) == 0
    said, told = capsys.readouterr()
    assert told.startswith("measuring 3 hanchan against two random before the training\n")
    assert "the policy has not begun to learn (warm-up 1/1); the same command with more minutes or iterations" in said
    assert not load_weights(tmp_path / "network.npz", features_named("residual"))["logit"].any()
    assert main(arguments(tmp_path, "--minutes", "2")) == 0
    assert "has not begun" not in capsys.readouterr().out
    assert load_weights(tmp_path / "network.npz", features_named("residual"))["logit"].any()


def test_a_measurement_that_was_interrupted_is_made_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, next_iteration = arguments(tmp_path, "--minutes", "1"), Run.next_iteration

    def in_a_minute(run: Run) -> Any:
        told = next_iteration(run)
        run.seconds = 60.0
        monkeypatch.setattr(training, "measure", interrupt)
        return told

    def iterations_measured() -> list[str]:
        return [line.split(",")[1] for line in (tmp_path / "curve.csv").read_text().splitlines()]

    with monkeypatch.context() as patched:
        patched.setattr(Run, "next_iteration", in_a_minute)
        assert main(options) == 130
    assert iterations_measured() == ["iteration", "0"]
    monkeypatch.setattr(training, "measure", evaluation.measure)
    for _ in range(2):  # the second finds nothing to do
        assert main(options) == 0
        assert iterations_measured() == ["iteration", "0", "1"]


def test_a_run_that_begins_again_begins_a_new_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, "--set", "iterations=3")) == 0
    (tmp_path / "state.pt").write_bytes(b"nothing")
    assert main(arguments(tmp_path, "--set", "iterations=2")) == BAD_ARGUMENTS
    assert "delete it to begin again" in capsys.readouterr().err
    (tmp_path / "state.pt").unlink()
    assert main(arguments(tmp_path, "--set", "iterations=2")) == 0
    assert "before the training" in capsys.readouterr().err
    lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == ["iteration", "0", "2"]


@pytest.mark.parametrize("every", [20.02, 0.1, 7.3])
def test_what_was_measured_is_not_due_again(every: float, tmp_path: Path) -> None:
    run = Run(tmp_path, replace(SMALL, minutes=1e6, measure_every=every), None)
    for multiple in (51, 10_001):
        run.seconds, run.iteration = 60 * every * multiple + 1e-4, multiple
        assert run._is_measurement_due()
        row = Strength(run.seconds / 60, run.iteration, 0, "rule", 3, 2.0, 0.1)
        write_curve(tmp_path / "curve.csv", [row])
        assert not run._is_measurement_due()


def test_a_curve_is_written_whole_and_a_damaged_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curve, more = tmp_path / "curve.csv", arguments(tmp_path, "--set", "iterations=2")
    curve.touch()
    assert read_curve(curve) == []
    assert main(arguments(tmp_path, "--set", "iterations=1")) == 0
    whole, rows = curve.read_bytes(), read_curve(curve)
    assert [row.iteration for row in rows] == [0, 1]
    with pytest.raises(AttributeError):
        write_curve(curve, [*rows, None])  # type: ignore[list-item]
    assert curve.read_bytes() == whole
    without_header, last = whole.partition(b"\n")[2], whole.splitlines()[-1]
    for damaged in (whole[: -len(last)], without_header, b"\xff"):
        curve.write_bytes(damaged)
        assert main(more) == BAD_ARGUMENTS
        assert "curve.csv: damaged; delete it, or its last line, to go on" in capsys.readouterr().err
        assert curve.read_bytes() == damaged
    curve.write_bytes(whole)
    assert main(more) == 0
    assert [row.iteration for row in read_curve(curve)] == [0, 1, 2]


def test_weights_say_what_a_logit_is_worth(tmp_path: Path) -> None:
    start = weights_of(seed=9)
    save_weights(tmp_path / "start.npz", start, 0.5)
    settings = replace(SMALL, hyperparameters=replace(SMALL.hyperparameters, entropy=0.125, kl=0.1, kl_start=0.025))
    run = Run(tmp_path, settings, tmp_path / "start.npz")
    run.next_iteration()  # in which only the critic learns
    run.save()
    assert make(f"residual:{tmp_path}").value_temperature == 0.5
    spread = run.next_iteration()["advantage_std"]
    run.save()
    bot, views = make(f"residual:{tmp_path}"), views_of_games(1)
    assert bot.value_temperature == pytest.approx(0.25 * spread)
    assert Run(tmp_path, settings, None).logit_value == bot.value_temperature
    save_weights(tmp_path / "network.npz", run.learner.policy.numpy())  # as earlier versions did
    earlier = make(f"residual:{tmp_path}")
    assert earlier.value_temperature == LOGIT_VALUE
    scale = bot.value_temperature / LOGIT_VALUE
    np.testing.assert_allclose(bot.action_values(views), earlier.action_values(views) * scale, rtol=1e-5)
    assert (bot.act(views) == earlier.act(views)).all()


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_logit_that_is_worth_no_number_is_refused(value: float, tmp_path: Path) -> None:
    save_weights(tmp_path / "network.npz", weights_of(), value)
    with pytest.raises(ValueError, match=r"network\.npz: 'logit_value' is no number above 0"):
        make(f"residual:{tmp_path}")


def test_what_a_run_began_with_cannot_be_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Run(tmp_path, Settings(Games("residual"), jobs=1, tables=4, width=8, hidden=8), None).save()
    for given, said in (
        (["--set", "width=9"], "width 8, not 9"),
        (["--set", "hidden=9"], "hidden 8, not 9"),
        (["--set", "gae_lambda=0.5"], "--set gae_lambda=0.6 (the default), not 0.5"),
        (["--set", "seed=7"], "--set seed=0 (the default), not 7"),
        (["--bot", "selfplay"], "--bot residual (the default), not selfplay"),
        (["--set", "opponents=linear"], "--set opponents=rule (the default), not linear"),
    ):
        assert main(arguments(tmp_path, *given)) == BAD_ARGUMENTS
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    del state["settings"]["critic_sees"]  # as if that setting had been added since
    torch.save(state, tmp_path / "state.pt")
    Run(tmp_path, Settings(Games("residual"), jobs=1, tables=4), None)
    assert main(arguments(tmp_path, "--set", "critic_sees=view")) == BAD_ARGUMENTS
    assert "--set critic_sees=everything (the default), not view" in capsys.readouterr().err
    (tmp_path / "state.pt").write_bytes(b"nothing")
    assert main(arguments(tmp_path)) == BAD_ARGUMENTS
    assert str(tmp_path / "state.pt") in capsys.readouterr().err


def test_a_run_keeps_its_number_of_threads_on_a_machine_with_other_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "usable_cores", lambda: 2)
    settings = replace(SMALL, jobs=None)
    run = Run(tmp_path, settings, None)
    assert run.jobs == 2
    run.save()
    monkeypatch.setattr(training, "usable_cores", lambda: 1)
    assert Run(tmp_path, settings, None).jobs == 2
    with pytest.raises(ValueError, match="began with --jobs 2, not 1; give the same options"):
        Run(tmp_path, replace(SMALL, jobs=1), None)


def test_measuring_shares_walls_and_knows_the_better_player() -> None:
    bot = make("selfplay")
    assert evaluation.measure(bot, "random", 8) == evaluation.measure(bot, "random", 8, threads=2)
    assert evaluation.measure(make("random"), "rule", 8)[0] > 2.3


@pytest.mark.long
def test_it_learns_to_beat_random_players_always(tmp_path: Path) -> None:
    games = Games("selfplay", against=0.0)
    chosen = Hyperparameters(learning_rate=2e-3, batch_size=1024)
    settings = Settings(games, chosen, jobs=2, tables=128, width=96, hidden=48, walls=40, measure_against=("random",))
    run = Run(tmp_path, settings, None)
    before = run.measure()[0].placement
    for _ in range(50):
        run.next_iteration()
    assert before > 1.3
    assert run.measure()[0].placement < 1.1
