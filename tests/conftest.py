"""Options, fixtures and settings shared by all tests."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import hypothesis
import pytest

from engine.common.options import usable_cores

DATA = Path(__file__).resolve().parent / "data"
REPOSITORY = Path(__file__).resolve().parents[1]

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start hundreds of programs
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it; programs print their tables as wide as they should be
# The first call of a compiled function may take a second, any other a microsecond: no deadline fits both.
hypothesis.settings.register_profile("compiled", deadline=None)
hypothesis.settings.load_profile("compiled")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile everything first, on all cores: tests compare what programs print, and some limit their time.

    Once, before the workers of pytest-xdist start; not what a planted fault changes, of which a part is enough.
    """
    planted = session.config.pluginmanager.hasplugin("tests.faults.reporter")
    if not planted and not hasattr(session.config, "workerinput"):
        subprocess.run([sys.executable, "-m", "engine.warm_up"], cwd=REPOSITORY, stdout=subprocess.DEVNULL, check=True)


def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: many tests wait."""
    return usable_cores() + 2


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    """Undo what a program that a test calls does to the root logger.

    The server's log goes to the stderr of its test, which is closed after it: every later log would be an error.
    """
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Sizes of the tests marked long; the others have their own."""
    parser.addoption("--oracle-games", type=int, default=300, metavar="N", help="games replayed on another engine")
    parser.addoption("--hands", type=int, default=100_000, metavar="N", help="hands compared with another library")
    parser.addoption("--conservation-games", type=int, default=2_000, metavar="N", help="games whose tiles are counted")
    parser.addoption("--kills", type=int, default=50, metavar="N", help="times the server is killed")


Scale = Literal["quick", "long"]


@pytest.fixture(params=["quick", pytest.param("long", marks=pytest.mark.long)])
def scale(request: pytest.FixtureRequest) -> Scale:
    """Runs a test twice: quickly, and at length if long tests run."""
    return request.param


@pytest.fixture
def oracle_games(scale: Scale, pytestconfig: pytest.Config) -> int:
    """Games to replay on another engine."""
    return 30 if scale == "quick" else pytestconfig.getoption("--oracle-games")


@pytest.fixture
def n_hands(scale: Scale, pytestconfig: pytest.Config) -> int:
    """Hands to compare with another library."""
    return 10_000 if scale == "quick" else pytestconfig.getoption("--hands")


@pytest.fixture
def conservation_games(scale: Scale, pytestconfig: pytest.Config) -> int:
    """Games in which every tile and point is counted at every step."""
    return 300 if scale == "quick" else pytestconfig.getoption("--conservation-games")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Tests run in parallel: torch's threads would compete for the cores, and sums depend on how many there are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the anonymised real records and scored hands; see its README."""
    return DATA


@pytest.fixture(scope="session")
def records_dir() -> Path:
    """Folder of the anonymised real game records."""
    return DATA / "records"
