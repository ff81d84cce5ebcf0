"""Fixtures for servers, databases and logs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from server.logs import use_stdlib_logging
from server.running import Running
from tests.support.postgres import postgres_cluster, postgres_url
from tests.support.read_only import read_only
from tests.support.running_server import Live, live
from tests.support.server_bots import serving

__all__ = ["postgres_cluster", "postgres_url", "read_only"]


@pytest.fixture(scope="session", autouse=True)
def log_through_stdlib() -> None:
    """Let `caplog` capture the entries that the server logs with structlog."""
    use_stdlib_logging()


@pytest.fixture
def no_error_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails the test if the server or one of its libraries logs an error, also when it stops."""
    yield
    records = [*caplog.get_records("call"), *caplog.get_records("teardown")]
    assert [record.getMessage() for record in records if record.levelno >= logging.ERROR] == []


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A server with the settings that most tests have: see `serving`."""
    async with serving(tmp_path) as started:
        yield started


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Live]:
    """The same with a client of its HTTP API."""
    async with live(tmp_path) as started:
        yield started


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'nukidora.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """URL of an empty database, once of each type."""
    return str(request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]))
