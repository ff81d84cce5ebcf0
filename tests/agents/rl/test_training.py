"""Acting, advantages, the loss, and runs that are interrupted and continued."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.registry import make
from agents.rl import measuring, training
from agents.rl.acting import Actor, Experience, StoppedError
from agents.rl.cli import main
from agents.rl.families import FAMILIES, features_named
from agents.rl.learning import Learner, estimate_advantages
from agents.rl.oracle import LINE_UP_AT
from agents.rl.policy import NAMES, Weights, load_weights, random_weights, save_weights
from agents.rl.settings import Games, Hyperparameters, Settings
from agents.rl.training import Run

GAMES = Games("residual", handicaps=((35_000, 35_000, 35_000), (25_000, 35_000, 45_000)))
SMALL = Settings(GAMES, Hyperparameters(batch_size=256), tables=8, width=16, hidden=8, walls=1)
LAMBDA = 0.9


@pytest.fixture(autouse=True)
def _short_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "WARM_UP", 1)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Sums in several threads depend on how many there are at the moment."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def weights_of(family: str = "residual", seed: int = 1) -> Weights:
    """Small random weights."""
    return random_weights(features_named(family), 16, 8, seed)


def played(rounds: int = 1, seed: int = 3, games: Games = GAMES) -> Experience:
    """The experience of the last of some rounds."""
    actor = Actor(games, 16, seed)
    for _ in range(rounds):
        experience = actor.play(weights_of(games.bot), [], Event())
    return experience


@pytest.mark.parametrize("family", FAMILIES)
def test_experience_depends_on_the_seed_alone(family: str) -> None:
    games = Games(family)
    first, again, other = played(2, 3, games), played(2, 3, games), played(2, 4, games)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first.seat) != len(other.seat) or not np.array_equal(first.chosen, other.chosen)


def test_an_actor_goes_on_from_its_state_and_from_a_pickle() -> None:
    actor = Actor(GAMES, 8, 5)
    actor.play(weights_of(), [], Event())
    copies = [Actor(GAMES, 8, 6), pickle.loads(pickle.dumps(actor))]
    copies[0].load_state(actor.state())
    expected = actor.play(weights_of(), [], Event())
    for copy in copies:
        assert all(np.array_equal(a, b) for a, b in zip(expected, copy.play(weights_of(), [], Event()), strict=True))
    with pytest.raises(ValueError, match="has 8 tables, not 9"):
        Actor(GAMES, 9, 6).load_state(actor.state())


def test_each_thread_has_opponents_of_its_own() -> None:
    """A bot may have a state that two threads must not change at once."""
    actors = [Actor(Games("residual", ("search:n=4",)), 2, seed) for seed in range(2)]
    for actor in actors:
        actor.play(weights_of(), [], Event())
    bots = [actor._opponents[0].__self__ for actor in actors if actor._opponents]  # type: ignore[union-attr]
    assert len(bots) == 2
    assert bots[0] is not bots[1]


def test_former_selves_are_among_the_opponents() -> None:
    actor, former = Actor(Games("selfplay", ("random",), against=1.0), 60, 5), weights_of("selfplay", 2)
    for _ in range(12):  # in which most of the games have ended, and others begun
        experience = actor.play(weights_of("selfplay"), [former], Event())
    players = actor.state()["players"].numpy()
    shares = np.bincount(players.ravel(), minlength=3) / players.size
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.1)
    assert (players[experience.table, experience.seat][~experience.over[experience.table]] == 0).all()


def test_acting_can_be_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(StoppedError):
        Actor(GAMES, 4, 5).play(weights_of(), [], stop)


def test_seats_games_and_results_are_as_asked() -> None:
    actor, over, learning = Actor(GAMES, 200, 5), 0, []
    for _ in range(12):
        experience = actor.play(weights_of(), [], Event())
        points = experience.before[:, 0, :3].sum(axis=1) * 20_000 + experience.before[:, 0, 16] * 3_000  # and sticks
        assert points == pytest.approx(0, abs=1)
        over += experience.over.sum()
        ranks = experience.ranks[experience.over]
        assert np.array_equal(np.sort(ranks, axis=1), np.tile([1, 2, 3], (len(ranks), 1)))
        assert not experience.ranks[~experience.over].any()
        learning += [len(set(experience.seat[experience.table == table].tolist())) for table in range(200)]
        assert (experience.chosen < experience.counts).all()
        assert (experience.log_probability <= 0).all()
        assert experience.counts.sum() == len(experience.base) == len(experience.actions)
    assert over > 150
    shares = np.bincount(learning, minlength=4)[1:] / len(learning)
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.06)


def test_the_critic_sees_the_hidden_hands() -> None:
    """The tiles that the oracle tells of the next seat are those that this seat's own features say it holds."""
    experience = played(1, 3, Games("selfplay", against=0.0))
    own = experience.states[:, -54:-27]  # its tiles of each kind, halved: see `agents.selfplay.features`
    told = experience.oracle[:, 48 : 48 + 27]
    compared = 0
    for i in range(len(own) - 1):
        j = (
            i
            + 1
            + np.flatnonzero(
                (experience.table[i + 1 :] == experience.table[i])
                & (experience.seat[i + 1 :] == (experience.seat[i] + 1) % 3)
            )
        )
        if len(j):  # the next seat acts later: by then it has drawn and discarded few tiles
            assert abs(own[j[0]] - told[i]).sum() <= 6
            compared += 1
    assert compared > 100


def test_advantages_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    n, rounds = 60, 4
    round_of, seat = np.sort(rng.integers(rounds, size=n)), rng.integers(3, size=n)
    values = rng.standard_normal(n).astype(np.float32)
    ends = rng.standard_normal((rounds, 3)).astype(np.float32)
    found = np.empty(n, dtype=np.float32)
    estimate_advantages(round_of, seat, values, ends, LAMBDA, found)
    for r in range(rounds):
        for s in range(3):
            mine = np.flatnonzero((round_of == r) & (seat == s))
            path = [*values[mine], ends[r, s]]
            for k, i in enumerate(mine):
                steps = range(k, len(mine))
                expected = sum(LAMBDA ** (j - k) * (path[j + 1] - path[j]) for j in steps)
                assert found[i] == pytest.approx(expected, abs=1e-4)


def log_probability(learner: Learner, part: Experience) -> np.ndarray:
    """The logarithm of the probability of what was chosen, by the present policy."""
    rows = torch.arange(len(part.seat))
    with torch.no_grad():
        log_policy, _ = learner.log_policy(learner.evaluate(part), rows, torch.from_numpy(part.states))
    return log_policy.numpy()[rows.numpy(), part.chosen]


def test_the_critic_can_be_kept_from_hidden_tiles() -> None:
    part = played(3)
    changed = part._replace(oracle=part.oracle.copy())
    changed.oracle[:, :LINE_UP_AT] = 0
    for sees, alike in (("everything", False), ("view", True)):
        learner = Learner(weights_of(), Hyperparameters(critic_sees=sees, batch_size=64))
        learner.learn([part], np.random.default_rng(0))
        advantages = (learner.evaluate(each).advantage for each in (part, changed))
        assert torch.equal(*advantages) == alike


@pytest.mark.parametrize("family", FAMILIES)
def test_acting_and_learning_agree_on_the_probabilities(family: str) -> None:
    part = played(1, 3, Games(family))
    learner = Learner(weights_of(family), Hyperparameters())
    np.testing.assert_allclose(log_probability(learner, part), part.log_probability, atol=1e-4)


def test_the_sum_of_a_logit_is_not_rounded_to_bf16() -> None:
    learner, choices = Learner(weights_of(), Hyperparameters()), torch.zeros(5, dtype=torch.int64)
    n_state, n_action = (learner.policy.weights[name].shape[0] for name in ("state", "action"))
    inputs = torch.ones(1, n_state), torch.ones(5, n_action), choices
    learner.policy.weights["logit"].data[:] = 1 + torch.arange(len(learner.policy.weights["logit"])) / 1000
    exact = learner.policy(*inputs)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = learner.policy(*inputs)
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, rounded.bfloat16().float())
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=0.02)


def test_learning_makes_choices_that_turned_out_well_likelier() -> None:
    part = played(3)
    learner = Learner(weights_of(), Hyperparameters(learning_rate=3e-3, epochs=10, batch_size=128, entropy=0.0))
    advantage, before = learner.evaluate(part).advantage.numpy(), log_probability(learner, part)
    metrics = learner.learn([part], np.random.default_rng(0))
    gained = log_probability(learner, part) - before
    good, bad = advantage > np.quantile(advantage, 0.9), advantage < np.quantile(advantage, 0.1)
    assert gained[good].mean() > gained[bad].mean() + 0.005
    assert metrics["gain"] > 0
    again = learner.learn([part], np.random.default_rng(0))
    assert again["value_loss"] < metrics["value_loss"]
    assert again["explained_variance"] > metrics["explained_variance"]


def test_learning_rates_can_be_zero() -> None:
    learner, part = Learner(weights_of(), Hyperparameters(batch_size=64)), played()
    before = learner.policy.numpy(), [each.detach().clone() for each in learner.critic.parameters()]
    learner.set_rates(0.0, 1.0)
    learner.learn([part], np.random.default_rng(0))
    assert all((learner.policy.numpy()[name] == before[0][name]).all() for name in NAMES)
    assert not all(map(torch.equal, learner.critic.parameters(), before[1]))


def test_nothing_is_learned_where_nothing_was_chosen() -> None:
    part = played()
    none = Experience(*(each[:0] for each in part[:9]), *part[9:])
    assert Learner(weights_of(), Hyperparameters()).learn([none], np.random.default_rng(0)) == {}


def test_entropy_and_divergence_hold_the_policy() -> None:
    part = played(3)
    found = {}
    for entropy, kl in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        chosen = Hyperparameters(epochs=8, batch_size=128, entropy=entropy, kl=kl, learning_rate=3e-3)
        learner = Learner(weights_of(), chosen)
        learner.learn([part], np.random.default_rng(0))
        found[entropy, kl] = learner.learn([part], np.random.default_rng(0))
    assert found[1.0, 0.0]["entropy"] > found[0.0, 0.0]["entropy"] + 0.05
    assert found[0.0, 1.0]["kl"] < found[0.0, 0.0]["kl"]


def interrupt(*ignored: object) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


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
    return load_weights(folder / "network.npz", run.features)


def test_an_interrupted_run_comes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights_after(tmp_path / "whole", (), monkeypatch)
    broken = weights_after(tmp_path / "broken", (1, 3, 4), monkeypatch)
    assert all((whole[name] == broken[name]).all() for name in whole)
    start = random_weights(features_named("residual"), SMALL.width, SMALL.hidden, SMALL.seed)
    assert any((whole[name] != start[name]).any() for name in whole)


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
    (tmp_path / "start.npz").unlink()
    again = Run(tmp_path, replace(SMALL, width=None), tmp_path / "start.npz")
    assert all((run.learner.policy.numpy()[name] == again.learner.policy.numpy()[name]).all() for name in NAMES)


def test_a_run_keeps_the_widths_of_the_weights_given_or_widens_them(tmp_path: Path) -> None:
    save_weights(tmp_path / "start.npz", weights_of(seed=9))  # 16 and 8
    for width, hidden in ((None, None), (None, 9), (20, None)):
        settings = replace(SMALL, width=width, hidden=hidden)
        run = Run(tmp_path / f"{width}-{hidden}", settings, tmp_path / "start.npz")
        assert run.learner.policy.numpy()["hidden"].shape == (width or 16, hidden or 8)
    with pytest.raises(ValueError, match=r"--hidden 7: .*start.npz has 8; a network can only be widened"):
        Run(tmp_path / "narrow", replace(SMALL, hidden=7), tmp_path / "start.npz")


def arguments(folder: Path, *more: str) -> list[str]:
    """A command line with a tiny budget."""
    tiny = "--jobs 1 --tables 4 --width 8 --hidden 8 --walls 1 --measure-against random"
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
    options = arguments(tmp_path, "--minutes", "1.5", "--measure-every", "0.75")
    assert main(options) == 130
    assert "stopped in iteration 2" in capsys.readouterr().err
    assert main(options) == 0
    assert iterations == [0, 1, -1, 2]
    lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == ["iteration", "0", "2", "3"]
    assert make(f"residual:{tmp_path}").name == f"residual:{tmp_path}"
    assert list((tmp_path / "tensorboard").iterdir())
    assert "against two random" in (tmp_path / "curve.svg").read_text()


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
    monkeypatch.setattr(training, "measure", measuring.measure)
    for _ in range(2):  # the second finds nothing to do
        assert main(options) == 0
        assert iterations_measured() == ["iteration", "0", "1"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--handicaps", "35000-35000-35000,1-2"], "is no handicap"),
        (["--handicaps", "100-100-100"], "must add up to 105000"),
        (["--against", "1.5"], "is not a share"),
        (["--gae-lambda", "2"], "is not a share"),
        (["--tables", "0"], "is not a positive integer"),
        (["--width", "1025"], "is not a width: a number from 1 to 1024"),
        (["--measure-against", ""], "no bot is named"),
        (["--opponents", ""], "no bot is named"),
        (["--bot", "bert"], "invalid choice"),
    ],
)
def test_bad_options_are_one_line(capsys: pytest.CaptureFixture[str], options: list[str], told: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "nowhere", *options])
    assert ended.value.code == 2
    errors = capsys.readouterr().err
    assert told in errors
    assert errors.count("\n") == 1


def test_bad_folders_bots_and_devices_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*options: str, code: int = 2) -> str:
        assert main(arguments(tmp_path, *options)) == code
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        return errors

    assert "unknown bot 'nobody'" in told("--opponents", "nobody")
    assert "unknown bot 'nobody'" in told("--measure-against", "nobody")
    assert "no NumPy archive" in told("--start", __file__)
    assert "abacus" in told("--device", "abacus")
    assert "give --against above 0" in told("--former-every", "1", "--against", "0")
    run = Run(tmp_path, Settings(Games("residual"), jobs=1, tables=4, width=8, hidden=8), None)
    run.save()
    assert "its network has --width 8, not 9; widen it in another folder by --start" in told("--width", "9")
    assert "its network has --hidden 8, not 9" in told("--hidden", "9")
    assert "began with --seed 0, not 7" in told("--seed", "7")
    assert "began with --opponents ('rule',), not ('linear',)" in told("--opponents", "linear")
    (tmp_path / "state.pt").write_bytes(b"nothing")
    assert "cannot be continued" in told()
    (tmp_path / "file").write_text("")
    assert main(["train", str(tmp_path / "file")]) == 1
    assert "File exists" in capsys.readouterr().err


def test_measuring_shares_walls_and_knows_the_better_player() -> None:
    bot = make("selfplay")
    assert measuring.measure(bot, "random", 8) == measuring.measure(bot, "random", 8, threads=2)
    assert measuring.measure(make("random"), "rule", 8)[0] > 2.3


@pytest.mark.slow
def test_it_learns_to_beat_random_players_always(tmp_path: Path) -> None:
    games = Games("selfplay", against=0.0)
    chosen = Hyperparameters(learning_rate=2e-3, batch_size=1024)
    run = Run(
        tmp_path, Settings(games, chosen, tables=128, width=96, hidden=48, walls=40, measured_against=("random",)), None
    )
    before = run.measure()[0].placement
    for _ in range(50):
        run.next_iteration()
    assert before > 1.3
    assert run.measure()[0].placement < 1.1
