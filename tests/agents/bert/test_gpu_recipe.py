"""`experiments/gpu.sh` at the scale of a few games and seconds, on a CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert.training.data.dataset import is_validation
from agents.bert.training.data.records import file_id
from agents.bert.training.data.shards import GAME
from engine.records.files import write_record
from tests.support import small_games

REPOSITORY = Path(__file__).parents[3]
SMALL = ("0.02", "--jobs", "1", "--set", "tables=8", "--set", "walls=10")
MAX_STATE = 60e6  # bytes


def names() -> list[str]:
    """Three names of records: that of the last is of a validation game."""
    games = np.zeros(1000, dtype=GAME)
    games["id"] = [file_id(Path(f"{number}.mjson")) for number in range(len(games))]
    validation = is_validation(games)
    training = (number for number in count() if not validation[number])
    return [f"{number}.mjson" for number in (next(training), next(training), int(validation.argmax()))]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_one_command_trains_all_networks_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    records = folder / "records"
    records.mkdir(parents=True)
    for seed, name in enumerate(names()):
        write_record(small_games.play(seed, ("rule",) * 3).record, records / name)
    command = ["bash", str(REPOSITORY / "experiments" / "gpu.sh"), str(folder), *SMALL]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "NUKIDORA_JOBS": "1"}

    def run() -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = run()
    assert "wrote a network of 16 layers to made/deeper" in out
    assert "measured small" in out
    kept = {path: path.read_bytes() for name in ("large", "small") for path in (folder / name / "model").iterdir()}
    assert {path.name for path in kept} == {"README.md", "config.json", "model.onnx", "model.safetensors"}
    assert "--set teacher=large/model" in (folder / "small" / "model" / "README.md").read_text()
    assert (folder / "rl" / "network.npz").is_file()
    assert {path.name for path in folder.iterdir()} == {"large", "made", "records", "rl", "small"}
    files = [path for path in folder.rglob("*") if path.is_file() and not {"made", "records"} & set(path.parts)]
    assert sum(path.stat().st_size for path in files) < MAX_STATE
    again = run()
    assert "wrote a network" not in again
    assert {path: path.read_bytes() for path in kept} == kept
