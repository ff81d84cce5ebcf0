"""The commands that train: their command lines, last lines, resuming, Ctrl-C, several processes."""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert import cli as commands  # noqa: E402
from agents.bert.model import PolicyValue, make_config  # noqa: E402
from agents.bert.options import training_parser  # noqa: E402
from agents.bert.sizes import PRESETS  # noqa: E402
from agents.bert.training import trainer  # noqa: E402
from agents.bert.training.commands import CONFIG_FILE, check_config, save_config, training_command  # noqa: E402
from agents.bert.training.config import TrainingConfig  # noqa: E402
from agents.bert.training.data.manifest import Part, write_manifest  # noqa: E402
from agents.training.folders import FILES  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

REPOSITORY = Path(__file__).parents[3]
SMALL = ("--from", "micro", "--batch-size", "32", "--set", "eval_steps=4", "--steps", "8")


@pytest.fixture(autouse=True)
def few_validation_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "VALIDATION_SAMPLES", 256)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The line with which a command refuses its arguments."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_code:
        commands.main([str(argument) for argument in arguments])
    assert exit_code.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    return line


def test_a_run_is_described_and_not_repeated(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o027)
    try:
        assert commands.main(["train", str(data), "a run", *SMALL]) == 0
    finally:
        os.umask(before)
    assert json.loads(Path("a run", "training_config.json").read_text())["steps"] == 8
    assert all(Path("a run", name).is_file() for name in FILES["agents.bert"])
    card = Path("a run", "model", "README.md").read_text()
    assert "validation_accuracy" in card
    settings = "--from micro --batch-size 32 --steps 8 --set eval_steps=4"
    assert f"python -m agents.bert train {data} 'a run' {settings}" in card
    files = [path for folder in ("model", "checkpoint") for path in Path("a run", folder).iterdir()]
    assert {(path.name, stat.filemode(path.stat().st_mode)) for path in files} == {
        (path.name, "-rw-r-----") for path in files
    }
    printed = capsys.readouterr().out
    outcome, *suggested = printed.splitlines()
    assert outcome.startswith("8 steps in ")
    assert outcome.endswith("wrote the network of that step to a run/model; next:")
    assert [shlex.split(line) for line in suggested] == [
        shlex.split(f"python -m agents.bert evaluate 'a run/model' --data {data}"),
        shlex.split("python -m arena --games 300 --bots 'bert:a run/model,rule,random'"),
    ]
    assert commands.main(["train", str(data), "a run", *SMALL]) == 0
    again = capsys.readouterr()
    assert again.err.startswith("a run: ")
    assert again.out == printed
    assert "began with --steps 8, not 9" in refusal(capsys, "train", data, "a run", *SMALL, "--steps", 9)


def test_a_folder_may_be_written_differently(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path / "start")
    (tmp_path / "dataset").symlink_to(data)
    monkeypatch.chdir(tmp_path)
    small = SMALL[2:]
    assert commands.main(["train", "dataset", "run", *small, "--from", "start"]) == 0
    for folder in ("dataset/", "./dataset", tmp_path / "dataset", data):
        for network in ("start/", tmp_path / "start"):
            assert commands.main(["train", str(folder), "run/", *small, "--from", str(network)]) == 0
    shutil.copytree(data, "other")
    shutil.copytree("start", "other start")
    assert "began with data " in refusal(capsys, "train", "other", "run", *small, "--from", "start")
    began = f"began with --from {tmp_path / 'start'}, not"
    for model, told in (("other start", "other start;"), ("micro", "micro;"), ("laptop", "laptop (the default);")):
        assert f"{began} {told}" in refusal(capsys, "train", "dataset", "run", *small, "--from", model)
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert commands.main(["train", "../dataset", "../run", *small, "--from", "../start"]) == 0


def test_a_run_from_before_a_setting_existed_is_continued(tmp_path: Path) -> None:
    config = TrainingConfig("train", "data", "micro", learning_rate=0.5)
    save_config(config, tmp_path)
    path = tmp_path / CONFIG_FILE
    before = json.loads(path.read_text())
    del before["patience"]
    path.write_text(json.dumps(before))
    check_config(config, tmp_path)
    with pytest.raises(ValueError, match=r"began with --set patience=0 \(the default\), not 3"):
        check_config(replace(config, patience=3), tmp_path)
    with pytest.raises(ValueError, match=r"began with --set learning_rate=0\.5, not 0\.25"):
        check_config(replace(config, learning_rate=0.25), tmp_path)


def test_improve_needs_rollouts(data: Path, network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    command = ["improve", folder, tmp_path / "run", "--steps", 2, "--from", network]
    write_manifest(folder, [Part("--selfplay rule,rule,rule --teacher rule", "120 games", 0, 2)])
    line = refusal(capsys, *command)
    assert str(folder) in line
    assert "python -m agents.bert data rollouts --selfplay rule,rule,rule --teacher rule --rollouts 8" in line
    assert not (tmp_path / "run").exists()
    write_manifest(folder, [Part("--selfplay rule,rule,rule --teacher rule --rollouts 8", "120 games", 0, 2)])
    assert commands.main([str(word) for word in command]) == 0


def test_pretraining_is_followed_by_training(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder that is proposed does not exist yet
    assert commands.main(["pretrain", str(data), str(tmp_path / "run"), *SMALL]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"  python -m agents.bert train {data} runs/first --from {tmp_path / 'run' / 'model'}"


def test_the_command_of_a_card_gives_the_same_settings() -> None:
    settings = {"epochs": 2.5, "weight_decay": 0.0, "max_grad_norm": 3.0, "patience": 4, "augment": False}
    settings |= {
        "warmup_ratio": 0.25,
        "value_weight": 0.0,
        "batch_size": 64,
        "steps": 5,
        "learning_rate": 1e-4,
        "eval_steps": 7,
        "seed": 9,
    }
    config = TrainingConfig("train", "data", "micro", **settings)
    words = shlex.split(training_command(config, Path("out")))
    assert words[:4] == ["python", "-m", "agents.bert", "train"]
    options = vars(training_parser("train").parse_args(words[4:]))
    assert options.pop("out") == Path("out")
    assert TrainingConfig("train", **options) == config


# A checkpoint is due in one of the processes and not in the other, as when their clocks differ.
TOGETHER = """
import os, sys
from agents.bert.cli import main  # noqa: E402
from agents.bert.training.trainer import Trainer  # noqa: E402

Trainer.save_every = 0.0 if os.environ["RANK"] == "1" else 3600.0
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.long
def test_processes_train_together(data: Path, tmp_path: Path) -> None:
    """As on several GPUs: one of them writes, each saves its random state, and none waits for ever."""
    (tmp_path / "together.py").write_text(TOGETHER)
    out = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += [str(tmp_path / "together.py"), "train", str(data), str(out), "--from", "micro", "--batch-size", "32"]
    command += ["--steps", "60", "--set", "eval_steps=30"]
    environment = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "checkpoint" / "progress.json").read_text())["step"] == 60
    states = sorted(path.name for path in (out / "checkpoint").glob("random_states_*"))
    assert states == ["random_states_0.pkl", "random_states_1.pkl"]
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    assert [row["step"] for row in rows if row["validation_loss"]] == ["30", "60"]
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert again.stderr.count("already finished") == 1
    for printed in (done.stdout, again.stdout):
        assert printed.count("wrote the network") == 1
