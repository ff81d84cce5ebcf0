"""Training a tiny network on a few games: objectives, losses, resuming."""

from __future__ import annotations

import csv
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from accelerate import Accelerator  # noqa: E402
from transformers import BertForMaskedLM  # noqa: E402

from agents.bert.families import WEIGHTS  # noqa: E402
from agents.bert.model import PolicyValue  # noqa: E402
from agents.bert.training import trainer as trainer_module  # noqa: E402
from agents.bert.training.config import TrainingConfig  # noqa: E402
from agents.bert.training.data.dataset import Dataset  # noqa: E402
from agents.bert.training.networks import create_or_load, quiet_libraries  # noqa: E402
from agents.bert.training.objectives import Imitation, Improvement, Pretraining  # noqa: E402
from agents.bert.training.trainer import PREFETCHED, Trainer, prefetch  # noqa: E402
from agents.training import loop  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

FAST = {"model": "micro", "batch_size": 64, "learning_rate": 3e-3, "eval_steps": 60}


@pytest.fixture(autouse=True)
def few_validation_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "VALIDATION_SAMPLES", 1024)


@dataclass
class MakesFolder:
    """Makes a folder when it is unpickled."""

    path: Path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return os.mkdir, (self.path,)


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in trainer.objective.model.state_dict().items()}


@pytest.mark.slow
def test_imitation_learns(data: Path, tmp_path: Path) -> None:
    trainer = Trainer(TrainingConfig("train", str(data), steps=120, **FAST), Imitation, tmp_path)
    for _ in trainer.train():
        pass
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["validation_loss"]) for row in rows if row["validation_loss"]]
    assert losses[-1] < losses[0]
    validation = Dataset(data, validation=True)
    sample = validation.batch(next(validation.batches(512, seed=0, epoch=0)))
    chance = (1 / sample.legal.sum(axis=1)).mean()
    assert trainer.metrics["validation_accuracy"] > 2 * chance
    assert trainer.metrics["validation_placement_loss"] < np.log(3)


def test_it_learns_from_training_games_and_validates_on_others(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(TrainingConfig("train", str(data), steps=3, **FAST), Imitation, tmp_path)
    for part in (trainer.data, trainer.validation):
        monkeypatch.setattr(part, "batch", lambda indices, *others: indices)
    validated, learned = [*trainer._validation_batches()], [part for part, _ in islice(trainer._remaining_batches(), 3)]
    for batches, validation in ((validated, True), (learned, False)):
        assert batches
        assert np.isin(np.concatenate(batches), Dataset(data, validation=validation).indices).all()


@pytest.mark.slow
def test_pretraining_learns_and_leaves_a_masked_language_model(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = Trainer(TrainingConfig("pretrain", str(data), steps=120, **FAST), Pretraining, tmp_path)
    quiet_libraries()
    for _ in trainer.train():
        pass
    assert "shared tensor" not in capsys.readouterr().err
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["train_loss"]) for row in rows if row["train_loss"]]
    assert losses[-1] < losses[0] < 1.1 * np.log(994)
    loaded = BertForMaskedLM.from_pretrained(tmp_path / "model")
    trained = PolicyValue.from_pretrained(tmp_path / "model")
    for name, value in trained.bert.state_dict().items():
        assert torch.equal(value, loaded.bert.state_dict()[name]), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "make_objective", "size"),
    [("pretrain", Pretraining, "micro"), ("improve", Improvement, "micro"), ("train", Imitation, "dwarf")],
)
def test_a_resumed_run_ends_with_the_same_weights_as_an_uninterrupted_one(
    data: Path, tmp_path: Path, objective: str, make_objective: type, size: str
) -> None:
    """The last of these is a CNN."""
    initial = tmp_path / "initial"
    torch.manual_seed(2)
    create_or_load(size).save_pretrained(initial)
    config = TrainingConfig(objective, str(data), steps=14, **(FAST | {"eval_steps": 5, "model": str(initial)}))
    whole = Trainer(config, make_objective, tmp_path / "whole")
    for _ in whole.train():
        pass
    for _ in range(20):
        part = Trainer(config, make_objective, tmp_path / "part")
        if part.finished:
            break
        steps = part.train()
        list(islice(steps, 4))
        steps.close()
    assert part.progress.step == whole.progress.step
    assert part.progress.best_loss == whole.progress.best_loss
    for (name, one), other in zip(weights(whole).items(), weights(part).values(), strict=True):
        assert torch.equal(one, other), name


@pytest.mark.parametrize("n", [1, 2, 4])
def test_processes_share_each_batch_of_the_present_step(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    trainer = Trainer(TrainingConfig("train", str(data), steps=9, **FAST), Imitation, tmp_path)
    trainer.progress.step = 3
    wanted = [set(batch.tolist()) for batch in islice(trainer.data.batches(64, 0, 0), 3, 6)]

    def parts_of(rank: int) -> list[tuple[list[int], list[int]]]:
        monkeypatch.setattr(trainer, "accelerator", SimpleNamespace(num_processes=n, process_index=rank))
        with monkeypatch.context() as patch:
            patch.setattr(trainer.data, "batch", lambda indices, variants: (indices.tolist(), variants.tolist()))
            return [part for part, _ in islice(trainer._remaining_batches(), 3)]

    for batch, *parts in zip(wanted, *map(parts_of, range(n)), strict=True):
        assert {len(indices) for indices, _ in parts} == {64 // n}
        assert set().union(*(indices for indices, _ in parts)) == batch
        assert len({tuple(variants) for _, variants in parts}) == n, "processes drew the same random numbers"


@pytest.mark.parametrize(
    ("n", "samples", "told"),
    [
        (3, 1000, "--batch-size 64 is no multiple of the number of processes, 3"),
        (64, 63, "63 training samples are too few for 64 processes"),
    ],
)
def test_a_batch_that_processes_cannot_share_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int, samples: int, told: str
) -> None:
    monkeypatch.setattr(Accelerator, "num_processes", n)
    monkeypatch.setattr(Dataset, "__len__", lambda _: samples)
    with pytest.raises(ValueError, match=told):
        Trainer(TrainingConfig("train", str(data), steps=9, **FAST), Imitation, tmp_path)
    assert not list(tmp_path.iterdir())


def test_batches_are_prepared_ahead_in_their_order_and_errors_come_through() -> None:
    asked = []

    def numbers() -> Iterator[int]:
        for number in range(9):
            asked.append(number)
            yield number
        raise ValueError("the tenth is damaged")

    before = threading.active_count()
    items = prefetch(numbers())
    assert [next(items) for _ in range(4)] == [0, 1, 2, 3]
    assert threading.active_count() == before + 1
    items.close()
    assert threading.active_count() == before
    assert asked == list(range(4 + PREFETCHED))
    items = prefetch(numbers())
    assert [next(items) for _ in range(9)] == list(range(9))
    with pytest.raises(ValueError, match="the tenth is damaged"):
        next(items)


def test_an_error_leaves_the_checkpoint_before_it(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TrainingConfig("train", str(data), steps=20, **FAST)
    steps = Trainer(config, Imitation, tmp_path).train()
    next(steps)
    steps.close()
    trainer = Trainer(config, Imitation, tmp_path)
    assert trainer.progress.step == 1
    step = trainer.optimizer.step

    def interrupted() -> None:
        step()
        raise KeyboardInterrupt  # the optimizer has made a step that `progress` does not count

    monkeypatch.setattr(trainer.optimizer, "step", interrupted)
    before = (tmp_path / "checkpoint" / WEIGHTS).read_bytes()
    with pytest.raises(KeyboardInterrupt):
        next(trainer.train())
    assert (tmp_path / "checkpoint" / WEIGHTS).read_bytes() == before


def test_a_kill_while_a_checkpoint_is_replaced_loses_nothing(data: Path, tmp_path: Path) -> None:
    config = TrainingConfig("train", str(data), steps=20, **FAST)
    steps = Trainer(config, Imitation, tmp_path).train()
    list(islice(steps, 4))
    steps.close()
    (tmp_path / "checkpoint").rename(tmp_path / "checkpoint.old")
    (tmp_path / "checkpoint.new").mkdir()
    again = Trainer(config, Imitation, tmp_path)
    assert again.progress.step == 4
    again.save()
    assert sorted(path.name for path in tmp_path.glob("checkpoint*")) == ["checkpoint"]


def test_a_checkpoint_of_pickled_objects_runs_nothing(data: Path, tmp_path: Path) -> None:
    """A checkpoint may come from somebody else, as weights may: each of its files in turn would make a folder."""
    config = TrainingConfig("train", str(data), steps=2, **FAST)
    Trainer(config, Imitation, tmp_path / "run").save()
    names = [path.name for path in (tmp_path / "run" / "checkpoint").iterdir()]
    assert len(names) >= 4
    for name in names:
        copytree(tmp_path / "run", tmp_path / name)
        made = tmp_path / f"made by {name}"
        (tmp_path / name / "checkpoint" / name).write_bytes(pickle.dumps(MakesFolder(made)))
        with suppress(ValueError):  # random numbers that cannot be read are left as they are
            Trainer(config, Imitation, tmp_path / name)
        assert not made.exists()


def test_a_run_of_minutes_goes_by_the_clock(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate rises and falls with the time spent, also over an interruption, and the end is measured."""
    tick = map(float, count()).__next__
    monkeypatch.setattr(trainer_module, "time", SimpleNamespace(monotonic=tick))
    monkeypatch.setattr(loop, "monotonic", tick)
    config = TrainingConfig("train", str(data), minutes=1.0, **(FAST | {"eval_steps": 1000}))
    rates = {}
    for n in (12, 1000):
        trainer = Trainer(config, Imitation, tmp_path)
        steps = trainer.train()
        for _ in islice(steps, n):
            rates[trainer.progress.seconds] = trainer.scheduler.get_last_lr()[0]
        steps.close()
    assert trainer.finished
    assert trainer.progress.step == len(rates) < 60  # a step and its checks look at the clock several times
    assert 60 <= max(rates) < 64
    times = sorted(rates)
    peak = max(times, key=rates.__getitem__)
    assert peak < 10
    falling = [rates[each] for each in times if each >= peak]
    assert falling == sorted(falling, reverse=True)
    middle = min(times, key=lambda each: abs(each - 31.5))
    assert rates[middle] == pytest.approx(0.5 * config.learning_rate, rel=0.1)
    assert rates[times[-1]] < 0.1 * config.learning_rate
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    assert [row["step"] for row in rows if row["validation_loss"]] == [str(len(rates))]


@pytest.mark.parametrize(("n", "steps"), [(1, 5), (2, 0)])
def test_minutes_are_of_one_process_and_exclude_steps(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int, steps: int
) -> None:
    monkeypatch.setattr(Accelerator, "num_processes", n)
    with pytest.raises(ValueError, match="--minutes"):
        Trainer(TrainingConfig("train", str(data), steps=steps, minutes=1.0, **FAST), Imitation, tmp_path)


def test_early_stop(data: Path, tmp_path: Path) -> None:
    config = TrainingConfig(
        "train", str(data), steps=50, **(FAST | {"learning_rate": 1e-12, "eval_steps": 2}), patience=3
    )
    trainer = Trainer(config, Imitation, tmp_path)
    trainer.progress.best_loss = -1.0  # no loss is lower
    for _ in trainer.train():
        pass
    assert trainer.progress.step == 6


def test_the_policy_loss_selects_the_network(data: Path, tmp_path: Path) -> None:
    config = TrainingConfig("train", str(data), steps=2, **(FAST | {"eval_steps": 1}))
    trainer = Trainer(config, Imitation, tmp_path)
    for _ in trainer.train():
        pass
    rows = csv.DictReader((tmp_path / "metrics.csv").open())
    found = [float(text) for row in rows if (text := row["validation_policy_loss"])]
    assert trainer.progress.best_loss == pytest.approx(min(found), abs=1e-4)
