"""Fixtures: a small network, views to predict, and data to train on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.bert.training.data.selfplay import SelfPlayConfig, play
from agents.bert.training.data.shards import save
from agents.registry import make
from engine.tables import Tables
from tests.support.small_networks import write_network


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with random weights."""
    return write_network(tmp_path_factory.mktemp("networks") / "tiny")


@pytest.fixture(scope="session")
def views() -> np.ndarray:
    """TABLE[n]: hundreds of views of all kinds, from games of `rule`, `efficiency` and `random`."""
    collected: list[np.ndarray] = []
    bots = [make(name, seed=1) for name in ("rule", "efficiency", "random")]

    def act(views: np.ndarray, seat: int) -> np.ndarray:
        collected.append(views[::4].copy())
        return bots[seat].act(views)

    policies = [lambda views, seat=seat: act(views, seat) for seat in range(3)]
    for _ in Tables(range(3)).play(policies, np.tile(np.arange(3, dtype=np.int8), (3, 1))):
        pass
    return np.concatenate(collected)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of 120 games between three `efficiency`, without a manifest."""
    folder = tmp_path_factory.mktemp("data")
    for number in range(2):
        save(play(SelfPlayConfig(("efficiency",) * 3, seed=1), 60 * number, 60), folder, number)
    return folder
