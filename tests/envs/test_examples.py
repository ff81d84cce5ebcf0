"""The examples learn, can be interrupted and continued, and their bots play."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

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


@pytest.fixture
def ppo(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with rollouts of a few decisions."""
    spec = spec_from_file_location("examples_ppo", PPO)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ENVS", 4)
    monkeypatch.setattr(module, "STEPS", 4)
    return module


OPPONENTS = "tsumogiri,random"


@pytest.mark.parametrize("failure", [OSError("no memory"), None], ids=["an error", "NaN"])
def test_a_run_that_fails_keeps_its_checkpoint(failure: Exception | None, ppo: Any, tmp_path: Path) -> None:
    run = ppo.Run(tmp_path, OPPONENTS, 0)
    ppo.train(run, 1e-9)
    kept = {name: (tmp_path / name).read_bytes() for name in ("network.pt", "checkpoint.pt")}

    def learn() -> None:
        if failure is not None:
            raise failure
        next(run.network.parameters()).data.view(-1)[3] = torch.nan

    run.learn = learn
    with pytest.raises((OSError, ValueError), match=r"no memory|infinite or NaN, which is not saved"):
        ppo.train(run, run.seconds + 1)
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    assert ppo.Run(tmp_path, OPPONENTS, 0).decisions > 0


def test_a_run_that_is_interrupted_is_saved_if_its_weights_are_numbers(ppo: Any, tmp_path: Path) -> None:
    run = ppo.Run(tmp_path, OPPONENTS, 0)
    weight = next(run.network.parameters()).data.view(-1)

    def interrupt(value: float) -> None:
        weight[3] = value
        raise KeyboardInterrupt

    run.learn = lambda: interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        ppo.train(run, 60)
    kept = (tmp_path / "network.pt").read_bytes()
    run.learn = lambda: interrupt(torch.inf)
    with pytest.raises(ValueError, match="weights became infinite or NaN"):
        ppo.train(run, 60)
    assert (tmp_path / "network.pt").read_bytes() == kept


def test_a_run_is_continued_with_its_own_opponents_and_seed_only(ppo: Any, tmp_path: Path) -> None:
    ppo.Run(tmp_path, OPPONENTS, 0).save()
    for opponents, seed, said in (
        ("random,random", 0, "--opponents tsumogiri,random, not random,random"),
        (OPPONENTS, 1, "--seed 0, not 1"),
    ):
        with pytest.raises(ValueError, match=f"began with {said}; give the same, or another folder"):
            ppo.Run(tmp_path, opponents, seed)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    del state["options"]  # as earlier versions saved it
    torch.save(state, tmp_path / "checkpoint.pt")
    ppo.Run(tmp_path, OPPONENTS, 1)


def test_a_network_for_other_planes_or_damaged_is_an_error_in_one_line(ppo: Any, tmp_path: Path) -> None:
    ppo.Run(tmp_path, OPPONENTS, 0).save()
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    state["network"]["kinds.weight"] = state["network"]["kinds.weight"][:, 1:].clone()
    torch.save(state, tmp_path / "checkpoint.pt")
    torch.save(state["network"], tmp_path / "network.pt")
    for begin in (lambda: ppo.Run(tmp_path, OPPONENTS, 0), lambda: make(f"{PPO}:Trained:{tmp_path}")):
        with pytest.raises(ValueError, match=r"^[^\n]*\.pt: damaged, or made by a version with other planes [^\n]*$"):
            begin()
    (tmp_path / "network.pt").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"network\.pt: damaged"):
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
