"""What the client prints, for tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.client import playing as client
from agents.client import session
from tests.support.fake_server import PATIENCE


class Output:
    """What the client printed."""

    def __init__(self) -> None:
        self.starts: list[str] = []
        self.results: list[str] = []
        self.errors: list[str] = []

    def report(self, line: str) -> None:
        """Keep a line on stdout."""
        (self.starts if ": against " in line else self.results).append(line)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Iterator[Output]:
    """Captures what the client prints; it reconnects without delay, and waits for a server on a busy machine."""
    found = Output()
    monkeypatch.setattr(client, "MIN_BACKOFF", 0.01)
    monkeypatch.setattr(session, "HELLO_TIMEOUT", PATIENCE)
    monkeypatch.setattr(client, "report", found.report)
    monkeypatch.setattr(client, "log", found.errors.append)
    return found
