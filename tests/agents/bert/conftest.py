"""A network, and positions to answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.registry import make
from engine import compiling
from engine.tables import Tables
from tests.support.small_networks import write_network


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a network."""
    return write_network(tmp_path_factory.mktemp("networks") / "tiny")


@pytest.fixture(scope="session")
def views() -> np.ndarray:
    """TABLE[n]: some hundred views of all kinds, of games between two bots that play and one that does anything."""
    seen: list[np.ndarray] = []
    bots = [make(name, seed=1) for name in ("rule", "efficiency", "random")]

    def act(views: np.ndarray, of: int) -> np.ndarray:
        seen.append(views[::4].copy())
        return bots[of].act(views)

    policies = [lambda views, of=of: act(views, of) for of in range(3)]
    for _ in Tables(range(3)).play(policies, np.tile(np.arange(3, dtype=np.int8), (3, 1))):
        pass
    return np.concatenate(seen)


@pytest.fixture(scope="session", autouse=True)
def _no_notice_of_compiling() -> None:
    """Tests look at what commands print; with a cold cache the notice would come among it."""
    compiling._announcer.said = True
