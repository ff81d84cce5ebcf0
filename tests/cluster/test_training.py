"""Training data and self-play on a cluster are those of one machine."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from agents.bert.training.data import build
from agents.bert.training.data import workers as data_workers
from agents.bert.training.data.sources import Records, read_ahead
from agents.bert.training.data.workers import Task
from agents.selfplay.games import Exploration, play_chunk
from agents.selfplay.training import Run, Settings
from engine.common.cluster import LOCAL, Cluster
from engine.common.workers import connected, open_pool, stateless

CLUSTER = Cluster(LOCAL, 2)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A connection for all tests here."""
    with connected(CLUSTER):
        yield


def make(*arguments: object) -> int:
    """Run ``agents.bert data`` in this process."""
    return build.main([str(argument) for argument in arguments])


def files(folder: Path) -> dict[str, bytes]:
    """The names and contents of all files."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_training_data_are_the_same(tmp_path: Path) -> None:
    options = ("--selfplay", "random,efficiency,rule", "--games", 40, "--teacher", "rule")
    assert make(tmp_path / "here", *options, "--jobs", 2) == 0
    assert make(tmp_path / "there", *options, "--cluster", LOCAL) == 0
    assert files(tmp_path / "here") == files(tmp_path / "there")
    assert len(files(tmp_path / "there")) == 1 + 3 * 5


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
    assert make(tmp_path / "there", "--records", record, "--cluster", LOCAL) == 0
    assert not record.exists()
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_only_the_records_of_a_task_are_sent(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.xml").write_bytes(b"<mjloggm/>")
    first, *others = read_ahead(enumerate(Records([tmp_path], "all", None).chunks()))
    assert len(others) > 10
    assert len(pickle.dumps(first)) < 200 * first[1].n_games


def run(folder: Path, chunks: int, *, on_cluster: bool) -> Run:
    """Two generations of self-play."""
    folder.mkdir()
    settings = Settings(seed=3, games=12, chunks=chunks, steps=2, batch_size=64, exploration=Exploration())
    if not on_cluster:
        trained = Run(folder, settings)
        return generations(trained)
    with open_pool(stateless(play_chunk), CLUSTER) as pool:
        return generations(Run(folder, settings, pool))


def generations(trained: Run) -> Run:
    """Play and learn."""
    for _ in range(2):
        trained.next_generation()
    trained.save()
    return trained


def test_self_play_is_the_same(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / f"{chunks}{on_cluster}", chunks, on_cluster=on_cluster)
        for chunks, on_cluster in ((3, False), (3, True), (1, False))
    ]
    first, second, other = [list(each.published.values()) for each in runs]
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert files(tmp_path / "3False")["games.buffer"] == files(tmp_path / "3True")["games.buffer"]
