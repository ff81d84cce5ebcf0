"""Options, fixtures and settings shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# The first call of a compiled function may take half a minute, any other a microsecond: no deadline fits both.
hypothesis.settings.register_profile("compiled", deadline=None)
hypothesis.settings.load_profile("compiled")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--oracle-games", type=int, default=300, metavar="N", help="games replayed on another engine")
    parser.addoption("--hands", type=int, default=100_000, metavar="N", help="hands compared with another library")
    parser.addoption("--conservation-games", type=int, default=2_000, metavar="N", help="games whose tiles are counted")
    parser.addoption("--kills", type=int, default=50, metavar="N", help="times the server is killed")
    parser.addoption("--docker-build", action="store_true", help="carry out the Dockerfile, without Docker")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real records and scored hands: ``$NUKIDORA_TEST_DATA``, else ``shared/data`` beside the repository."""
    folder = Path(os.environ.get("NUKIDORA_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real records: {folder} is not a folder (NUKIDORA_TEST_DATA names another place)")
    return folder


@pytest.fixture(scope="session")
def records_dir(data_dir: Path) -> Path:
    """Folder of real game records."""
    folder = data_dir / "records"
    if not folder.is_dir():
        pytest.skip(f"no real records: {folder} is not a folder")
    return folder
