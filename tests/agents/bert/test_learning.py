"""Training a tiny network on a few games: it learns, and an interruption costs nothing."""

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

from agents.bert import __main__ as commands  # noqa: E402
from agents.bert.checkpoint import REGRET_UNIT  # noqa: E402
from agents.bert.model import PRESETS, PolicyValue, encode_tokens, make_config  # noqa: E402
from agents.bert.training import trainer as running  # noqa: E402
from agents.bert.training.config import Settings  # noqa: E402
from agents.bert.training.data import selfplay, shards  # noqa: E402
from agents.bert.training.data.dataset import Batch, Dataset  # noqa: E402
from agents.bert.training.data.decisions import Decisions  # noqa: E402
from agents.bert.training.data.shards import NOT_THOUGHT_OF  # noqa: E402
from agents.bert.training.objectives import AS_GOOD, Imitation, Improvement, Pretraining, mask_tokens  # noqa: E402
from agents.bert.training.trainer import Run  # noqa: E402
from agents.bert.vocabulary import MASK, N_SPECIAL  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
GAMES = 60
FAST = {"model": "micro", "batch": 64, "rate": 3e-3, "every": 60}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tests run side by side; threads that wait for each other's cores are slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    names = ["efficiency"] * 3
    bots = selfplay.make_bots(names, seed=1)
    for number in range(2):
        shards.save(selfplay.play(bots, names, 1, number * GAMES, GAMES, Decisions()), folder, number)
    return folder


@pytest.fixture(autouse=True)
def few_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "HELD_OUT", 1024)


@pytest.fixture(scope="module")
def batch(data: Path) -> Batch:
    dataset = Dataset(data)
    return dataset.batch(next(dataset.batches(64, seed=0, epoch=0)))


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in run.task.model.state_dict().items()}


def test_imitation_learns(data: Path, tmp_path: Path) -> None:
    run = Run(Settings("train", str(data), steps=120, **FAST), Imitation, tmp_path)
    first, last = {}, {}
    for figures in run.train():
        first = first or dict(figures)
        last = dict(figures)
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    held_out = [float(row["held_out_loss"]) for row in rows if row["held_out_loss"]]
    assert held_out[-1] < held_out[0]
    legal = Dataset(data, held_out=True)
    sample = legal.batch(next(legal.batches(512, seed=0, epoch=0)))
    chance = (1 / sample.legal.sum(axis=1)).mean()
    assert last["held_out_accuracy"] > 2 * chance
    assert last["held_out_placement_loss"] < np.log(3)


def test_pretraining_learns_and_leaves_a_masked_language_model(data: Path, tmp_path: Path) -> None:
    run = Run(Settings("pretrain", str(data), steps=120, **FAST), Pretraining, tmp_path)
    for _ in run.train():
        pass
    rows = list(csv.DictReader((tmp_path / "metrics.csv").open()))
    losses = [float(row["train_loss"]) for row in rows if row["train_loss"]]
    assert losses[-1] < losses[0] < 1.1 * np.log(994)
    loaded = BertForMaskedLM.from_pretrained(tmp_path / "model")
    trained = PolicyValue.from_pretrained(tmp_path / "model")
    for name, value in trained.bert.state_dict().items():
        assert torch.equal(value, loaded.bert.state_dict()[name]), name


@pytest.mark.parametrize(
    ("task", "make_task"), [("train", Imitation), ("pretrain", Pretraining), ("improve", Improvement)]
)
def test_an_interrupted_run_ends_bit_for_bit_like_one_that_was_not(
    data: Path, tmp_path: Path, task: str, make_task: type
) -> None:
    begun = tmp_path / "begun"
    torch.manual_seed(2)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(begun)
    settings = Settings(task, str(data), steps=14, **(FAST | {"every": 5, "model": str(begun)}))
    whole = Run(settings, make_task, tmp_path / "whole")
    for _ in whole.train():
        pass
    for _ in range(20):
        part = Run(settings, make_task, tmp_path / "part")
        if part.over:
            break
        steps = part.train()
        list(islice(steps, 4))
        steps.close()
    assert part.progress.step == whole.progress.step
    assert part.progress.best == whole.progress.best
    for (name, one), other in zip(weights(whole).items(), weights(part).values(), strict=True):
        assert torch.equal(one, other), name


def test_a_checkpoint_cut_off_while_it_replaces_the_last_one_loses_nothing(data: Path, tmp_path: Path) -> None:
    settings = Settings("train", str(data), steps=20, **FAST)
    steps = Run(settings, Imitation, tmp_path).train()
    list(islice(steps, 4))
    steps.close()
    (tmp_path / "checkpoint").rename(tmp_path / "checkpoint.former")
    (tmp_path / "checkpoint.new").mkdir()
    again = Run(settings, Imitation, tmp_path)
    assert again.progress.step == 4
    again.save()
    assert sorted(path.name for path in tmp_path.glob("checkpoint*")) == ["checkpoint"]


def test_early_stop(data: Path, tmp_path: Path) -> None:
    settings = Settings("train", str(data), steps=50, **(FAST | {"rate": 1e-12, "every": 2}), patience=3)
    run = Run(settings, Imitation, tmp_path)
    run.progress.best = -1.0  # nothing is better than that
    for _ in run.train():
        pass
    assert run.progress.step == 6


def test_only_the_first_token_is_the_same_as_the_whole_bert(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    ids, mask, positions = map(torch.from_numpy, (batch.ids, batch.mask, batch.positions))
    with torch.inference_mode():
        ours = encode_tokens(model.bert, ids, mask, positions, only_first=True)[:, 0]
        theirs = model.bert(input_ids=ids, attention_mask=mask, position_ids=positions).last_hidden_state[:, 0]
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_padding_changes_nothing(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    wide = [np.pad(array, ((0, 0), (0, 8))) for array in (batch.ids, batch.mask, batch.positions)]
    with torch.inference_mode():
        narrow_out = model(*map(torch.from_numpy, (batch.ids, batch.mask, batch.positions)))
        wide_out = model(*map(torch.from_numpy, wide))
    for narrow, padded in zip(narrow_out, wide_out, strict=True):
        assert torch.allclose(narrow, padded, atol=1e-5)


def test_illegal_labels_cost_nothing_and_are_never_chosen(batch: Batch) -> None:
    settings = Settings("train", "", model="micro")
    torch.manual_seed(1)
    task = Imitation(settings)
    with torch.no_grad():
        task.model.policy.bias[:] = torch.from_numpy(np.where(batch.legal.any(axis=0), 0.0, 1e4))
    loss = task.loss(task.model, batch, np.random.default_rng(0), torch.device("cpu"))
    assert float(loss.figures["loss"]) < 2 * np.log(46)


def test_a_teachers_regrets_are_what_is_learned(batch: Batch) -> None:
    """Labels that are nearly as good are nearly as likely; the figure is what the likeliest label loses."""
    regret = np.full_like(batch.regret, np.inf)
    regret[:, :3] = 0.0, REGRET_UNIT, 0.1
    legal = np.zeros_like(batch.legal)
    legal[:, :4] = True
    taught = batch._replace(regret=regret, legal=legal, label=np.zeros_like(batch.label))
    task = Imitation(Settings("train", "", model="micro", value=0.0))

    def loss_of(*logits: float) -> tuple[float, float, float]:
        with torch.no_grad():
            task.model.policy.weight.zero_()
            task.model.policy.bias[: len(logits)] = torch.tensor(logits)
        loss = task.loss(task.model, taught, np.random.default_rng(0), torch.device("cpu"))
        return float(loss.loss.detach()), float(loss.figures["loss"]), float(loss.figures["regret"])

    best = (0.0, -1.0, -25.0, -100.0)
    for worse in ((0.0, 0.0, -25.0, -100.0), (0.0, -2.0, -25.0, -100.0), (0.0, -1.0, -2.0, -100.0), (0, -1, -25, -2)):
        assert loss_of(*worse)[1] > loss_of(*best)[1]
    assert loss_of(*best)[2] == 0.0
    assert loss_of(0.0, 0.0, 5.0, 0.0)[2] == pytest.approx(0.1)
    assert loss_of(0.0, 0.0, 0.0, 5.0)[2] == NOT_THOUGHT_OF  # nobody thought of that
    costly, cheap = loss_of(0.0, -1.0, 3.0, -100.0), loss_of(0.0, 3.0, -25.0, -100.0)
    assert costly[0] - costly[1] > 10 * (cheap[0] - cheap[1])  # stakes


def test_improving_follows_results_and_does_not_drift_without_them(batch: Batch, tmp_path: Path) -> None:
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path)
    task = Improvement(Settings("improve", "", model=str(tmp_path), value=0.0))
    optimizer = torch.optim.AdamW(task.model.parameters(), lr=1e-3)

    def learn(regret: np.ndarray) -> dict[str, float]:
        for _ in range(60):
            loss = task.loss(task.model, batch._replace(regret=regret), np.random.default_rng(0), torch.device("cpu"))
            loss.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return {name: float(value) for name, value in loss.figures.items()}

    nothing = np.where(batch.legal, np.float32(0.0), np.float32(np.inf))
    assert learn(nothing)["drift"] < 1e-3
    as_good = np.where(batch.legal, np.float32(AS_GOOD) * (batch.legal.cumsum(axis=1) - 1 > 0), np.float32(np.inf))
    assert learn(as_good)["drift"] < 1e-3
    first = batch.legal & (np.cumsum(batch.legal, axis=1) == 1)
    lowest_is_best = np.where(first, np.float32(0.0), np.where(batch.legal, np.float32(0.1), np.float32(np.inf)))
    figures = learn(lowest_is_best)
    assert figures["regret"] < 0.5 * figures["regret_before"]
    assert figures["drift"] > 0.1
    drifted = figures["drift"]
    assert learn(nothing)["drift"] < 0.2 * drifted


def test_masking_follows_the_recipe(batch: Batch) -> None:
    random = np.random.default_rng(3)
    many = batch._replace(ids=np.tile(batch.ids, (40, 1)))
    chosen, shown = mask_tokens(many, random)
    ordinary = many.ids >= N_SPECIAL
    assert not chosen[~ordinary].any()
    assert (shown[~chosen] == many.ids[~chosen]).all()
    assert chosen.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.005)
    assert (shown[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.02)
    assert (shown[chosen] == many.ids[chosen]).mean() == pytest.approx(0.1, abs=0.02)


def test_the_command_trains_refuses_other_settings_and_says_when_it_is_done(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(data), str(tmp_path), "--from", "micro", "--batch", "32", "--every", "4"]
    assert commands.main([*command, "--steps", "8"]) == 0
    assert json.loads((tmp_path / "settings.json").read_text())["steps"] == 8
    card = (tmp_path / "model" / "README.md").read_text()
    assert "held_out_accuracy" in card
    assert f"python -m agents.bert train {data} {tmp_path} --from micro --batch 32 --steps 8 --every 4" in card
    capsys.readouterr()
    assert commands.main([*command, "--steps", "8"]) == 0
    assert "finished after 8 steps" in capsys.readouterr().err
    with pytest.raises(SystemExit) as exit_code:
        commands.main([*command, "--steps", "9"])
    assert exit_code.value.code == 2
    assert "begun with steps = 8, not 9" in capsys.readouterr().err


def test_ctrl_c_leaves_a_checkpoint_and_a_network(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", str(data), str(tmp_path), "--from", "micro", "--batch", "32", "--steps", "100000"]
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert commands.main(command) == 130
    assert "start it again" in capsys.readouterr().err
    step = json.loads((tmp_path / "checkpoint" / "progress.json").read_text())["step"]
    assert 0 < step < 100_000
    PolicyValue.from_pretrained(tmp_path / "model")


# One of the processes finds that a checkpoint is due while the other does not, as happens where their clocks differ.
TOGETHER = """
import os, sys
from agents.bert.__main__ import main  # noqa: E402
from agents.bert.training import trainer  # noqa: E402

trainer.SAVED_EVERY = 0.0 if os.environ["RANK"] == "1" else 3600.0
sys.exit(main(sys.argv[1:]))
"""


def test_processes_train_together(data: Path, tmp_path: Path) -> None:
    """As they would on several GPUs: one of them writes, each keeps its own random state, and none waits for ever."""
    (tmp_path / "together.py").write_text(TOGETHER)
    out = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(tmp_path / "together.py"), "train", str(data), str(out), "--from", "micro", "--batch", "32"]
    command += ["--steps", "60", "--every", "30"]
    environment = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "checkpoint" / "progress.json").read_text())["step"] == 60
    states = sorted(path.name for path in (out / "checkpoint").glob("random_states_*"))
    assert states == ["random_states_0.pkl", "random_states_1.pkl"]
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    assert [row["step"] for row in rows if row["held_out_loss"]] == ["30", "60"]


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
        (["improve", "DATA", "out", "--from", "micro"], "a new network has nothing to improve"),
        (["pretrain", "DATA", "out", "--rate", "0"], "'0' is not a positive number"),
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
