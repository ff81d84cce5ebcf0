"""The examples learn, can be interrupted and continued, and their bots play."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from agents.registry import make
from arena import play

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PPO = REPOSITORY / "examples" / "ppo.py"
# PyTorch's threads wait for each other, which takes long where other tests run.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "curve.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
def test_ppo_beats_tsumogiri_and_random_after_a_minute(tmp_path: Path) -> None:
    run = start(PPO, tmp_path, "--minutes", 1)
    printed, told = run.communicate()
    assert run.returncode == 0, told
    assert f"{tmp_path},tsumogiri,random" in printed
    (row,) = rows_of(tmp_path)
    assert (float(row["minutes"]) >= 1, int(row["decisions"]) > 10_000, int(row["games"]) > 100) == (True, True, True)
    match = play([f"{PPO}:Trained:{tmp_path}", "tsumogiri", "random"], games=150, length="east")
    placement = match.bots["ppo"].placement
    assert placement.mean + placement.interval < 1.9
    for pair in match.comparisons[:2]:
        assert (pair.bot, pair.significant) == ("ppo", True)


@pytest.mark.long
def test_ppo_is_interrupted_and_continued(tmp_path: Path) -> None:
    run = start(PPO, tmp_path, "--minutes", 10)
    assert run.stderr is not None
    for line in run.stderr:
        if re.match(r"\d+ of 600 seconds", line):
            break
    run.send_signal(signal.SIGINT)
    _, told = run.communicate()
    assert run.returncode == 130
    assert told.splitlines()[-1].endswith("the same command continues")
    before = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert before["decisions"] > 0
    assert make(f"{PPO}:Trained:{tmp_path}").name == "ppo"
    run = start(PPO, tmp_path, "--minutes", before["seconds"] / 60 + 0.02)
    _, told = run.communicate()
    assert run.returncode == 0, told
    after = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert after["decisions"] > before["decisions"]
    assert after["seconds"] > before["seconds"]


def test_a_folder_without_a_network_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no .*network\.pt: python examples/ppo\.py .* makes it"):
        make(f"{PPO}:Trained:{tmp_path}")


@pytest.mark.long
def test_maskable_ppo_runs(tmp_path: Path) -> None:
    run = start(
        REPOSITORY / "examples" / "maskable_ppo.py", "--steps", 4096, "--games", 30, "--save", tmp_path / "model"
    )
    printed, told = run.communicate()
    assert run.returncode == 0, told
    assert re.findall(r"^(\w+): mean placement \d\.\d\d ± \d\.\d\d in 30 games$", printed, re.M) == ["before", "after"]
    assert (tmp_path / "model.zip").exists()
