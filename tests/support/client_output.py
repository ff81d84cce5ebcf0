"""What the client prints, for tests."""

from __future__ import annotations

from time import sleep

import pytest

from agents.client import session
from tests.support.fake_server import PATIENCE


class Output:
    """What the client printed."""

    def __init__(self) -> None:
        self.starts: list[str] = []
        self.results: list[str] = []
        self.errors: list[str] = []
        self.waits: list[float] = []  # seconds, between two attempts to connect

    def report(self, line: str) -> None:
        """Keep a line on stdout."""
        (self.starts if ": against " in line else self.results).append(line)

    def wait(self, told: str, seconds: float) -> None:
        """Keep an error, and wait for a moment."""
        self.errors.append(told)
        self.waits.append(seconds)
        sleep(0.01)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    """What the client is to print to; it waits for a server on a busy machine."""
    monkeypatch.setattr(session, "HELLO_TIMEOUT", PATIENCE)
    return Output()
