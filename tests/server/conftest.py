"""Fixtures for databases and logs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.logs import use_stdlib_logging
from tests.support.postgres import postgres_cluster, postgres_url
from tests.support.read_only import read_only

__all__ = ["postgres_cluster", "postgres_url", "read_only"]


@pytest.fixture(scope="session", autouse=True)
def log_through_stdlib() -> None:
    """Let `caplog` capture the entries that the server logs with structlog."""
    use_stdlib_logging()


@pytest.fixture
def no_error_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails the test if the server or one of its libraries logs an error."""
    yield
    assert [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR] == []


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'nukidora.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """URL of an empty database, once of each type."""
    return str(request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]))
