"""Databases to test with, and tests that are coroutines."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.logs import log_by_the_standard_library
from tests.support.postgres import postgres_cluster, postgres_url

__all__ = ["postgres_cluster", "postgres_url"]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in arguments}))
    return True


@pytest.fixture(scope="session", autouse=True)
def logs_are_seen() -> None:
    """`caplog` has what the server logs itself as well."""
    log_by_the_standard_library()


@pytest.fixture
def no_error_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test in whose course the server, or a library of its, logs an error."""
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
