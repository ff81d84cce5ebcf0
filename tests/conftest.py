"""Options, fixtures and settings shared by all tests. CONTRIBUTING.md tells which options `make test-all` gives."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

DATA = Path(__file__).resolve().parent / "data"

# The first call of a compiled function may take half a minute, any other a microsecond: no deadline fits both.
hypothesis.settings.register_profile("compiled", deadline=None)
hypothesis.settings.load_profile("compiled")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--oracle-games", type=int, default=30, metavar="N", help="games replayed on another engine")
    parser.addoption("--hands", type=int, default=10_000, metavar="N", help="hands compared with another library")
    parser.addoption("--conservation-games", type=int, default=500, metavar="N", help="games whose tiles are counted")
    parser.addoption("--kills", type=int, default=5, metavar="N", help="times the server is killed")
    parser.addoption("--docker-build", action="store_true", help="carry out the Dockerfile, without Docker")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the anonymised real records and scored hands; see its README."""
    return DATA


@pytest.fixture(scope="session")
def records_dir() -> Path:
    """Folder of the anonymised real game records."""
    return DATA / "records"
