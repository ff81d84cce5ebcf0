"""Training a tiny network on a few games: objectives, resuming, the commands."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from transformers import BertForMaskedLM  # noqa: E402

from agents.bert import cli as commands  # noqa: E402
from agents.bert.checkpoint import REGRET_UNIT  # noqa: E402
from agents.bert.model import PRESETS, PolicyValue, encode_tokens, make_config  # noqa: E402
from agents.bert.training import trainer as trainer_module  # noqa: E402
from agents.bert.training.config import TrainingConfig  # noqa: E402
from agents.bert.training.data.dataset import Batch, Dataset  # noqa: E402
from agents.bert.training.data.selfplay import SelfPlayConfig, play  # noqa: E402
from agents.bert.training.data.shards import UNKNOWN_REGRET, save  # noqa: E402
from agents.bert.training.networks import quiet_libraries  # noqa: E402
from agents.bert.training.objectives import (  # noqa: E402
    REGRET_TOLERANCE,
    Imitation,
    Improvement,
    Pretraining,
    mask_tokens,
)
from agents.bert.training.trainer import Trainer  # noqa: E402
from agents.bert.vocabulary import MASK, N_SPECIAL  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
GAMES = 60
FAST = {"model": "micro", "batch_size": 64, "learning_rate": 3e-3, "eval_steps": 60}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tests run in parallel: torch's threads would compete for the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    config = SelfPlayConfig(("efficiency",) * 3, seed=1)
    for number in range(2):
        save(play(config, number * GAMES, GAMES), folder, number)
    return folder


@pytest.fixture(autouse=True)
def few_validation_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "VALIDATION_SAMPLES", 1024)


@pytest.fixture(scope="module")
def batch(data: Path) -> Batch:
    dataset = Dataset(data)
    return dataset.batch(next(dataset.batches(64, seed=0, epoch=0)))


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in trainer.objective.model.state_dict().items()}


@pytest.mark.slow
def test_imitation_learns(data: Path, tmp_path: Path) -> None:
    trainer = Trainer(TrainingConfig("train", str(data), steps=120, **FAST), Imitation, tmp_path)
    last = {}
    for metrics in trainer.train():
        last = dict(metrics)
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["validation_loss"]) for row in rows if row["validation_loss"]]
    assert losses[-1] < losses[0]
    validation = Dataset(data, validation=True)
    sample = validation.batch(next(validation.batches(512, seed=0, epoch=0)))
    chance = (1 / sample.legal.sum(axis=1)).mean()
    assert last["validation_accuracy"] > 2 * chance
    assert last["validation_placement_loss"] < np.log(3)


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
    ("objective", "make_objective"), [("train", Imitation), ("pretrain", Pretraining), ("improve", Improvement)]
)
def test_a_resumed_run_ends_with_the_same_weights_as_an_uninterrupted_one(
    data: Path, tmp_path: Path, objective: str, make_objective: type
) -> None:
    initial = tmp_path / "initial"
    torch.manual_seed(2)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(initial)
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


def test_a_kill_while_a_checkpoint_is_replaced_loses_nothing(data: Path, tmp_path: Path) -> None:
    config = TrainingConfig("train", str(data), steps=20, **FAST)
    steps = Trainer(config, Imitation, tmp_path).train()
    list(islice(steps, 4))
    steps.close()
    (tmp_path / "checkpoint").rename(tmp_path / "checkpoint.old")
    (tmp_path / "checkpoint.new").mkdir()
    again = Trainer(config, Imitation, tmp_path)
    assert again.progress.step == 4
    again.save_checkpoint()
    assert sorted(path.name for path in tmp_path.glob("checkpoint*")) == ["checkpoint"]


def test_early_stop(data: Path, tmp_path: Path) -> None:
    config = TrainingConfig(
        "train", str(data), steps=50, **(FAST | {"learning_rate": 1e-12, "eval_steps": 2}), patience=3
    )
    trainer = Trainer(config, Imitation, tmp_path)
    trainer.progress.best_loss = -1.0  # no loss is lower
    for _ in trainer.train():
        pass
    assert trainer.progress.step == 6


def test_only_the_first_token_is_the_same_as_the_whole_bert(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    ids, mask, positions = map(torch.from_numpy, (batch.input_ids, batch.attention_mask, batch.position_ids))
    with torch.inference_mode():
        ours = encode_tokens(model.bert, ids, mask, positions, only_first=True)[:, 0]
        theirs = model.bert(input_ids=ids, attention_mask=mask, position_ids=positions).last_hidden_state[:, 0]
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_padding_changes_nothing(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    wide = [np.pad(array, ((0, 0), (0, 8))) for array in (batch.input_ids, batch.attention_mask, batch.position_ids)]
    with torch.inference_mode():
        narrow_out = model(*map(torch.from_numpy, (batch.input_ids, batch.attention_mask, batch.position_ids)))
        wide_out = model(*map(torch.from_numpy, wide))
    for narrow, padded in zip(narrow_out, wide_out, strict=True):
        assert torch.allclose(narrow, padded, atol=1e-5)


def test_illegal_labels_have_no_loss_and_are_never_chosen(batch: Batch) -> None:
    torch.manual_seed(1)
    objective = Imitation(TrainingConfig("train", "", model="micro"))
    with torch.no_grad():
        objective.model.policy.bias[:] = torch.from_numpy(np.where(batch.legal.any(axis=0), 0.0, 1e4))
    loss = objective.loss(objective.model, batch, np.random.default_rng(0), torch.device("cpu"))
    assert float(loss.metrics["loss"]) < 2 * np.log(46)


def test_imitation_of_regrets(batch: Batch) -> None:
    """Nearly equal labels get nearly equal probability; the metric is the regret of the likeliest label."""
    regret = np.full_like(batch.regret, np.inf)
    regret[:, :3] = 0.0, REGRET_UNIT, 0.1
    legal = np.zeros_like(batch.legal)
    legal[:, :4] = True
    labelled = batch._replace(regret=regret, legal=legal, label=np.zeros_like(batch.label))
    objective = Imitation(TrainingConfig("train", "", model="micro", value_weight=0.0))

    def loss_of(*logits: float) -> tuple[float, float, float]:
        with torch.no_grad():
            objective.model.policy.weight.zero_()
            objective.model.policy.bias[: len(logits)] = torch.tensor(logits)
        loss = objective.loss(objective.model, labelled, np.random.default_rng(0), torch.device("cpu"))
        return float(loss.loss.detach()), float(loss.metrics["loss"]), float(loss.metrics["regret"])

    best = (0.0, -1.0, -25.0, -100.0)
    for worse in ((0.0, 0.0, -25.0, -100.0), (0.0, -2.0, -25.0, -100.0), (0.0, -1.0, -2.0, -100.0), (0, -1, -25, -2)):
        assert loss_of(*worse)[1] > loss_of(*best)[1]
    assert loss_of(*best)[2] == 0.0
    assert loss_of(0.0, 0.0, 5.0, 0.0)[2] == pytest.approx(0.1)
    assert loss_of(0.0, 0.0, 0.0, 5.0)[2] == UNKNOWN_REGRET
    costly, cheap = loss_of(0.0, -1.0, 3.0, -100.0), loss_of(0.0, 3.0, -25.0, -100.0)
    assert costly[0] - costly[1] > 10 * (cheap[0] - cheap[1])  # the expected regret


@pytest.mark.slow
def test_improvement_follows_regrets_and_stays_at_the_reference_without_them(batch: Batch, tmp_path: Path) -> None:
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path)
    objective = Improvement(TrainingConfig("improve", "", model=str(tmp_path), value_weight=0.0))
    optimizer = torch.optim.AdamW(objective.model.parameters(), lr=1e-3)
    cpu = torch.device("cpu")

    def learn(regret: np.ndarray) -> dict[str, float]:
        for _ in range(60):
            loss = objective.loss(objective.model, batch._replace(regret=regret), np.random.default_rng(0), cpu)
            loss.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return {name: float(value) for name, value in loss.metrics.items()}

    nothing = np.where(batch.legal, np.float32(0.0), np.float32(np.inf))
    assert learn(nothing)["kl"] < 1e-3
    tolerated = np.where(
        batch.legal, np.float32(REGRET_TOLERANCE) * (batch.legal.cumsum(axis=1) - 1 > 0), np.float32(np.inf)
    )
    assert learn(tolerated)["kl"] < 1e-3
    first = batch.legal & (np.cumsum(batch.legal, axis=1) == 1)
    lowest_is_best = np.where(first, np.float32(0.0), np.where(batch.legal, np.float32(0.1), np.float32(np.inf)))
    metrics = learn(lowest_is_best)
    assert metrics["regret"] < 0.5 * metrics["reference_regret"]
    assert metrics["kl"] > 0.1
    assert learn(nothing)["kl"] < 0.2 * metrics["kl"]


def test_masking_follows_bert(batch: Batch) -> None:
    random = np.random.default_rng(3)
    many = batch._replace(input_ids=np.tile(batch.input_ids, (40, 1)))
    chosen, shown = mask_tokens(many, random)
    ordinary = many.input_ids >= N_SPECIAL
    assert not chosen[~ordinary].any()
    assert (shown[~chosen] == many.input_ids[~chosen]).all()
    assert chosen.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.005)
    assert (shown[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.02)
    assert (shown[chosen] == many.input_ids[chosen]).mean() == pytest.approx(0.1, abs=0.02)


def test_the_command_trains_refuses_other_options_and_reports_a_finished_run(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(data), str(tmp_path), "--from", "micro", "--batch-size", "32", "--eval-steps", "4"]
    assert commands.main([*command, "--steps", "8"]) == 0
    assert json.loads((tmp_path / "training_config.json").read_text())["steps"] == 8
    card = (tmp_path / "model" / "README.md").read_text()
    assert "validation_accuracy" in card
    assert (
        f"python -m agents.bert train {data} {tmp_path} --from micro --batch-size 32 --steps 8 --eval-steps 4" in card
    )
    capsys.readouterr()
    assert commands.main([*command, "--steps", "8"]) == 0
    assert "finished after 8 steps" in capsys.readouterr().err
    with pytest.raises(SystemExit) as exit_code:
        commands.main([*command, "--steps", "9"])
    assert exit_code.value.code == 2
    assert "started with steps = 8, not 9" in capsys.readouterr().err


def test_ctrl_c_leaves_a_checkpoint_and_a_network(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(data), str(tmp_path), "--from", "micro", "--batch-size", "32", "--steps", "100000"]
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert commands.main(command) == 130
    assert "the same command resumes" in capsys.readouterr().err
    step = json.loads((tmp_path / "checkpoint" / "progress.json").read_text())["step"]
    assert 0 < step < 100_000
    PolicyValue.from_pretrained(tmp_path / "model")


# A checkpoint is due in one of the processes and not in the other, as when their clocks differ.
TOGETHER = """
import os, sys
from agents.bert.cli import main  # noqa: E402
from agents.bert.training import trainer  # noqa: E402

trainer.CHECKPOINT_SECONDS = 0.0 if os.environ["RANK"] == "1" else 3600.0
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_processes_train_together(data: Path, tmp_path: Path) -> None:
    """As on several GPUs: one of them writes, each saves its random state, and none waits for ever."""
    (tmp_path / "together.py").write_text(TOGETHER)
    out = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(tmp_path / "together.py"), "train", str(data), str(out), "--from", "micro", "--batch-size", "32"]
    command += ["--steps", "60", "--eval-steps", "30"]
    environment = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "checkpoint" / "progress.json").read_text())["step"] == 60
    states = sorted(path.name for path in (out / "checkpoint").glob("random_states_*"))
    assert states == ["random_states_0.pkl", "random_states_1.pkl"]
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    assert [row["step"] for row in rows if row["validation_loss"]] == ["30", "60"]


def test_without_torch_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [
        name for name in sys.modules if name.startswith("agents.bert.training") or name == "agents.bert.model"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(SystemExit) as exit_code:
        commands.main(["train"])
    assert exit_code.value.code == 2
    assert capsys.readouterr().err == (
        'agents.bert: train needs accelerate; install it with: pip install "nukidora[train]"\n'
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nowhere", "out"], "nowhere: no training files here"),
        (["train", "DATA", "out", "--from", "huge"], "huge: neither a size"),
        (["improve", "DATA", "out", "--from", "micro"], "micro is a size: name the folder of a trained network"),
        (["pretrain", "DATA", "out", "--learning-rate", "0"], "'0' is not a positive number"),
        (["pretrain"], "required: data, out"),
        (["teach"], "invalid choice: 'teach'"),
    ],
)
def test_bad_arguments_get_one_line(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_code:
        commands.main([str(data) if word == "DATA" else word for word in arguments])
    assert exit_code.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("out", "training_config.json").exists()  # the folder is free for the corrected command
