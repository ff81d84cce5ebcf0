"""Self-play, the buffer, replay, the loss, and runs that are interrupted and continued."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.selfplay import measuring, training
from agents.selfplay.bot import SelfPlay
from agents.selfplay.buffer import Buffer
from agents.selfplay.cli import main
from agents.selfplay.games import EVEN, GAME, Exploration, StoppedError, draw_scores, play_games
from agents.selfplay.learning import LAMBDA, Batch, Learner, estimate_advantages
from agents.selfplay.network import Weights, load_weights, random_weights
from agents.selfplay.replay import Choices, replay
from agents.selfplay.training import Run, Settings
from engine.rules import TENHOU

UNEVEN = (25_000, 35_000, 45_000)
HANDICAPS = (EVEN, UNEVEN)  # the default of the command
SMALL = Settings(games=4, steps=2, batch_size=256, buffer=8, walls=1, handicaps=HANDICAPS)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """As the command learns: sums in several threads depend on how many there are at the moment."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def played(n: int = 6, seed: int = 3) -> np.ndarray:
    """Some games of a network with random weights."""
    scores = draw_scores((EVEN, UNEVEN), n, np.random.default_rng(seed))
    seeds = np.arange(n, dtype=np.uint64)
    return play_games(random_weights(1), seeds, scores, Exploration(), seed, Event())


@pytest.fixture(scope="module")
def games() -> np.ndarray:
    return played()


@pytest.fixture(scope="module")
def choices(games: np.ndarray) -> Choices:
    return replay(games, 6)


def test_games_depend_on_the_seed_alone(games: np.ndarray) -> None:
    assert (played() == games).all()
    assert (played(seed=4) != games).any()
    assert {tuple(sorted(scores)) for scores in games["scores"].tolist()} == {EVEN, UNEVEN}


def test_a_generation_can_be_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(StoppedError):
        play_games(random_weights(1), np.arange(2, dtype=np.uint64), np.array([EVEN, EVEN]), Exploration(), 3, stop)


def test_replay_finds_the_same_positions_choices_and_results(games: np.ndarray, choices: Choices) -> None:
    assert len(choices.chosen) == games["n"].sum()
    counts = np.diff(choices.first)
    assert (counts >= 2).all()
    assert (choices.chosen < counts).all()
    assert choices.results.tolist() == [TENHOU.final_points(final) for final in games["final"].tolist()]
    first = np.array([np.flatnonzero(choices.game == game)[0] for game in range(len(games))])
    assert (choices.situations[first, 0, 0] * 20_000 + 35_000).round().tolist() == games["scores"][:, 0].tolist()
    learner = Learner(random_weights(1), 1e-3, 0.0)
    batch = one_batch(learner, choices, noise=0.0)
    probability = learner.log_policy(batch).gather(1, batch.chosen[:, None])[:, 0].exp().detach().numpy()
    kept = np.exp(batch.log_probability.numpy())
    mixed = kept - (1 - Exploration().noise) * probability  # the share of the noise
    assert mixed.min() > -2e-3
    assert mixed.max() < Exploration().noise + 2e-3


def test_a_game_of_other_rules_is_refused(games: np.ndarray) -> None:
    for field, change in (("final", 100), ("seed", 1)):
        changed = games.copy()
        changed[field][0] += changed[field].dtype.type(change)
        with pytest.raises(ValueError, match="rules have changed"):
            replay(changed, 6)


def one_batch(learner: Learner, choices: Choices, noise: float = 0.03) -> Batch:
    """All choices in one minibatch."""
    return next(learner.batches(choices, 10**9, Exploration(noise=noise), np.random.default_rng(0)))


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


@pytest.mark.parametrize("name", ["state_bias", "action", "hidden", "logit", "value_hidden", "situation_out"])
def test_the_gradient_is_that_of_numerical_differences(choices: Choices, name: str) -> None:
    learner = Learner(random_weights(2), 1e-3, 1e-3)
    batch = one_batch(learner, choices)
    for key, tensor in learner.parameters.items():
        scale = 100 if key in ("logit", "value_out", "situation_out") else 1
        learner.parameters[key] = (tensor.detach().double() * scale).requires_grad_()
    doubles = [each.double() if each.dtype == torch.float32 else each for each in batch]
    batch = Batch(*doubles)
    torch.set_default_dtype(torch.float64)
    try:
        learner.total(learner.losses(batch)).backward()
        tensor = learner.parameters[name]
        gradient = tensor.grad
        assert gradient is not None
        generator = torch.Generator().manual_seed(1)
        direction = torch.randn(tensor.shape, generator=generator)
        step = 1e-6
        values = []
        with torch.no_grad():
            for sign in (1, -2):
                tensor += sign * step * direction
                values.append(float(learner.total(learner.losses(batch))))
        measured = (values[0] - values[1]) / (2 * step)
    finally:
        torch.set_default_dtype(torch.float32)
    assert float((gradient * direction).sum()) == pytest.approx(measured, rel=1e-3, abs=1e-7)


def test_a_step_makes_choices_that_turned_out_well_likelier(choices: Choices) -> None:
    learner = Learner(random_weights(2), 1e-3, 0.0)
    batch = one_batch(learner, choices)
    before = learner.log_policy(batch).gather(1, batch.chosen[:, None])[:, 0].detach()
    for _ in range(5):
        first = learner.step(batch)
    after = learner.log_policy(batch).gather(1, batch.chosen[:, None])[:, 0].detach()
    gained = (after - before)[batch.advantage > 1].mean(), (after - before)[batch.advantage < -1].mean()
    assert gained[0] > gained[1]
    assert learner.losses(batch).value < first.value


def test_the_buffer_is_a_ring_that_survives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "buffer"

    def numbered(first: int, n: int) -> np.ndarray:
        games = np.zeros(n, dtype=GAME)
        games["seed"] = first + np.arange(n)
        return games

    def held(buffer: Buffer) -> set[int]:
        return set(buffer.draw(500, np.random.default_rng(0))["seed"].tolist())

    buffer = Buffer(path, 10)
    buffer.add(numbered(0, 4))
    assert len(buffer) == 4
    assert held(buffer) == {0, 1, 2, 3}
    buffer.add(numbered(4, 8))
    assert len(buffer) == 10
    assert held(buffer) == set(range(2, 12))
    buffer.add(numbered(12, 25))
    assert held(buffer) == set(range(27, 37))
    buffer.flush()
    again = Buffer(path, 10, buffer.added)
    assert held(again) == held(buffer)
    again.add(numbered(37, 1))
    assert held(again) == set(range(28, 38))
    with pytest.raises(ValueError, match="a buffer of 11 games"):
        Buffer(path, 11, again.added)
    path.unlink()
    assert len(Buffer(path, 10, again.added)) == 0


def weights_after(folder: Path, interruptions: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The weights after three generations; in some, the process ends when all is played and learned but not kept."""
    folder.mkdir()
    run = Run(folder, SMALL)
    for generation in range(3):
        if generation in interruptions:
            with monkeypatch.context() as patch:
                patch.setattr(Buffer, "add", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    run.next_generation()
            run = Run(folder, SMALL)
        run.next_generation()
        run.save()
    return load_weights(folder / "network.npz")


def interrupt(*ignored: object) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


def test_an_interrupted_run_comes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights_after(tmp_path / "whole", (), monkeypatch)
    broken = weights_after(tmp_path / "broken", (1, 2), monkeypatch)
    assert all((whole[name] == broken[name]).all() for name in whole)
    assert any((whole[name] != random_weights(SMALL.seed)[name]).any() for name in whole)


def arguments(folder: Path, *more: str) -> list[str]:
    """A command line with a tiny budget."""
    tiny = "--games 2 --steps 1 --batch-size 128 --buffer 4 --walls 1"
    return ["train", str(folder), *tiny.split(), *more]


def test_the_command_trains_is_interrupted_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training, "OPPONENTS", ("tsumogiri",))
    generations = []
    original = Run.next_generation

    def counted(run: Run) -> Any:
        if len(generations) == 2:
            generations.append(-1)
            signal.raise_signal(signal.SIGINT)
        generations.append(run.generation)
        losses = original(run)
        run.seconds = 2.0 * run.generation
        return losses

    monkeypatch.setattr(Run, "next_generation", counted)
    options = arguments(tmp_path, "--minutes", "0.1", "--measure-every", "0.05")
    assert main(options) == 130
    assert "stopped after generation 2" in capsys.readouterr().err
    assert main(options) == 0
    assert generations == [0, 1, -1, 2]
    lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == ["generation", "0", "2", "3"]
    assert isinstance(SelfPlay(load_weights(tmp_path / "network.npz")), SelfPlay)
    assert list((tmp_path / "tensorboard").iterdir())


def test_a_measurement_that_was_interrupted_is_made_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "OPPONENTS", ("tsumogiri",))
    options, next_generation = arguments(tmp_path, "--minutes", "1"), Run.next_generation

    def in_a_minute(run: Run) -> Any:
        losses = next_generation(run)
        run.seconds = 60.0
        monkeypatch.setattr(training, "measure", interrupt)
        return losses

    def generations_measured() -> list[str]:
        return [line.split(",")[1] for line in (tmp_path / "curve.csv").read_text().splitlines()]

    with monkeypatch.context() as patched:
        patched.setattr(Run, "next_generation", in_a_minute)
        assert main(options) == 130
    assert generations_measured() == ["generation", "0"]
    monkeypatch.setattr(training, "measure", measuring.measure)
    for _ in range(2):  # the second finds nothing to do
        assert main(options) == 0
        assert generations_measured() == ["generation", "0", "1"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--handicaps", "35000-35000-35000,1-2"], "is no handicap"),
        (["--handicaps", "100-100-100"], "must add up to 105000"),
        (["--noise", "1"], "is not a share"),
        (["--buffer", "0"], "is not a positive integer"),
    ],
)
def test_bad_options_are_one_line(capsys: pytest.CaptureFixture[str], options: list[str], told: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "nowhere", *options])
    assert ended.value.code == 2
    errors = capsys.readouterr().err
    assert told in errors
    assert errors.count("\n") == 1


def test_bad_folders_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(games=2, steps=1, batch_size=128, buffer=8, walls=1, handicaps=HANDICAPS)
    run = Run(tmp_path, settings)
    run.next_generation()
    run.save()

    def told(*options: str) -> str:
        assert main(arguments(tmp_path, *options)) == 2
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        return errors

    assert "a buffer of 4 games" in told()
    (tmp_path / "games.buffer").rename(tmp_path / "moved")
    again = Run(tmp_path, settings)
    again.next_generation()
    assert (again.games, len(again.buffer), again.steps) == (2 * settings.games, settings.games, run.steps)
    (tmp_path / "moved").rename(tmp_path / "games.buffer")
    assert "began with seed = 0, not 7" in told("--seed", "7")
    assert "began with exploration = " in told("--late-temperature", "3")
    (tmp_path / "state.pt").write_bytes(b"nothing")
    assert "cannot be continued" in told()
    (tmp_path / "file").write_text("")
    assert main(["train", str(tmp_path / "file")]) == 1
    assert "File exists" in capsys.readouterr().err


def test_measuring_shares_walls_and_knows_the_better_player(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = random_weights(1)
    against_itself = measuring.measure(weights, "random", 8)
    assert against_itself == measuring.measure(weights, "random", 8)
    assert measuring.measure(weights, "rule", 8)[0] > 2.3


@pytest.mark.slow
def test_it_learns_to_beat_random_players_always(tmp_path: Path) -> None:
    run = Run(tmp_path, Settings(games=64, batch_size=1024, buffer=128))
    before, _ = measuring.measure(run.published, "random", 40)
    for _ in range(10):
        run.next_generation()
    after, _ = measuring.measure(run.published, "random", 40)
    assert before > 1.3
    assert after < 1.1
