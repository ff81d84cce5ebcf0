"""Progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from arena import progress


def test_lines_tell_games_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    console = Console(file=io.StringIO(), width=100)
    with progress.progress(console, 300, 1200) as shown:
        for _ in range(30):
            now += 1.0
            shown.advance(10)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "350 of 1,200 games, 10 games/s, 85 s left"
    assert lines[-1] == "600 of 1,200 games, 10 games/s, 60 s left"
    assert len(lines) == 6


def test_a_terminal_gets_a_bar() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with progress.progress(console, 300, 1200) as shown:
        shown.advance(30)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "330/1200" in written
    assert "games/s" in written
