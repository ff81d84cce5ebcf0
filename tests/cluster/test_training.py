"""Training data and self-play on a cluster are those of one machine."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from agents.bert.cli import main
from agents.bert.training.data import workers as data_workers
from agents.bert.training.data.sources import Records, read_ahead
from agents.bert.training.data.workers import Task
from agents.rl import training
from agents.rl.policy import NAMES
from agents.rl.rollouts import play_task
from agents.rl.settings import Games, Hyperparameters, Settings
from agents.rl.training import Run
from engine.common.cluster import LOCAL, Cluster
from engine.common.workers import connected, open_pool, stateless
from tests.support.folders import folder_bytes

CLUSTER = Cluster(LOCAL, 2)
pytestmark = pytest.mark.long  # Ray takes seconds to start


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A connection for all tests here."""
    with connected(CLUSTER):
        yield


def make(*arguments: object) -> int:
    """Run ``agents.bert data`` in this process."""
    return main(["data", *map(str, arguments)])


def test_training_data_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--selfplay", "random,efficiency,rule", "--games", 40, "--teacher", "rule")
    monkeypatch.setenv("NUKIDORA_JOBS", "2")
    assert make(tmp_path / "here", *options) == 0
    monkeypatch.delenv("NUKIDORA_JOBS")
    monkeypatch.setenv("NUKIDORA_CLUSTER", LOCAL)
    assert make(tmp_path / "there", *options) == 0
    assert folder_bytes(tmp_path / "here") == folder_bytes(tmp_path / "there")
    assert len(folder_bytes(tmp_path / "there")) == 1 + 3 * 5


def test_records_are_sent_with_the_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of a cluster need not have their files."""
    record = tmp_path / "game.mjson"
    shutil.copy(Path(__file__).parents[2] / "examples" / "game.mjson", record)
    assert make(tmp_path / "here", "--records", record) == 0

    def read_and_deleted(tasks: Iterable[Task]) -> Iterator[Task]:
        for task in read_ahead(tasks):
            record.unlink()
            yield task

    monkeypatch.setattr(data_workers, "read_ahead", read_and_deleted)
    monkeypatch.setenv("NUKIDORA_CLUSTER", LOCAL)
    assert make(tmp_path / "there", "--records", record) == 0
    assert not record.exists()
    assert folder_bytes(tmp_path / "here") == folder_bytes(tmp_path / "there")


def test_only_the_records_of_a_task_are_sent(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.xml").write_bytes(b"<mjloggm/>")
    first, *others = read_ahead(enumerate(Records([tmp_path], "all", None).chunks()))
    assert len(others) > 10
    assert len(pickle.dumps(first)) < 200 * first[1].n_games


def run(folder: Path, *, on_cluster: bool) -> Run:
    """Two iterations of reinforcement learning."""
    folder.mkdir()
    settings = Settings(Games("residual"), Hyperparameters(batch_size=64), seed=3, jobs=2, tables=6, width=8, hidden=8)
    trained = Run(folder, settings, None)
    if not on_cluster:
        return iterations(trained)
    with open_pool(stateless(play_task), CLUSTER) as trained.pool:
        return iterations(trained)


def iterations(trained: Run) -> Run:
    """Act and learn."""
    for _ in range(2):
        trained.next_iteration()
    return trained


def test_reinforcement_learning_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "WARM_UP", 1)
    monkeypatch.setattr(training, "monotonic", lambda: 0.0)  # the learning rate depends on the time
    here, there = (run(tmp_path / str(on_cluster), on_cluster=on_cluster) for on_cluster in (False, True))
    assert all(np.array_equal(here.learner.policy.numpy()[name], there.learner.policy.numpy()[name]) for name in NAMES)
    assert all(
        np.array_equal(mine.state()["tables"], theirs.state()["tables"])
        for mine, theirs in zip(here._actors, there._actors, strict=True)
    )
