"""Running the arena as a user does, in a process of its own, with bots of another package beside the built-in ones."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from arena import series
from engine.common.workers import open_pool
from tests.support.arena_runs import REPOSITORY, Arena

# Bots of another package: after N calls raising:N raises when asked for seat 1, illegal answers 127 for seat 2,
# dying takes its process with it, hanging waits for ever once the checkpoint $CHECKPOINT has a chunk, and says so by a
# file beside it, PROCESS.hanging.
BOTS = """
import os
import time
from functools import partial
from pathlib import Path

import numpy as np

from agents.registry import make as make_built_in


class Wrapped:
    def __init__(self, name, argument, seed):
        self.name = name
        self.calls = 0
        self.limit = int(argument or 0)
        self.random = make_built_in("random", seed=seed)

    def act(self, views):
        self.calls += 1
        if self.name == "raising" and self.calls > self.limit and 1 in views["viewer"]:
            raise ZeroDivisionError("out of\\nideas")
        if self.name == "hanging" and "CHECKPOINT" in os.environ:
            checkpoint = Path(os.environ["CHECKPOINT"])
            if checkpoint.read_bytes().count(b"\\n") > 1:
                checkpoint.with_name(f"{os.getpid()}.hanging").touch()
                time.sleep(600)
        actions = self.random.act(views)
        if self.name == "dying":
            os._exit(3)
        return np.where(views["viewer"] == 2, 127, actions) if self.name == "illegal" else actions


raising, illegal, dying, hanging = (partial(Wrapped, name) for name in ("raising", "illegal", "dying", "hanging"))
"""
ENTRY_POINTS = """
[nukidora.agents]
raising = visiting_bots:raising
illegal = visiting_bots:illegal
hanging = visiting_bots:hanging
dying = visiting_bots:dying
"""


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment in which a package with three more bots is installed."""
    site = tmp_path_factory.mktemp("site")
    (site / "visiting_bots.py").write_text(BOTS)
    metadata = site / "visiting_bots-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: visiting-bots\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(REPOSITORY)])}


@pytest.fixture(scope="session")
def arena(environment: dict[str, str]) -> Arena:
    """Runs ``python -m arena`` to its end, with one job unless told otherwise; keywords are environment variables.

    It must end with `code`.
    """

    def run(*arguments: object, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        jobs = () if "--jobs" in arguments else ("--jobs", "1")  # a process that starts costs more than a few games
        command = [sys.executable, "-m", "arena", *map(str, arguments), *jobs]
        done = subprocess.run(
            command, env=environment | variables, cwd=REPOSITORY, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """All games of a series are played in this process, which is faster than to start others."""
    monkeypatch.setattr(series, "open_pool", lambda open_worker, n: open_pool(open_worker, 0))
