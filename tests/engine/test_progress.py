"""Progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from engine.common import progress
from engine.common.progress import Progress


def test_lines_have_count_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    console = Console(file=io.StringIO(), width=100)
    with Progress("games", 1200, 300, console) as shown:
        for _ in range(30):
            now += 1.0
            shown.advance(10)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "350 of 1,200 games, 10 games/s, 85 s left"
    assert lines[-1] == "600 of 1,200 games, 10 games/s, 60 s left"
    assert len(lines) == 6


def test_a_slow_rate_has_a_decimal_and_a_status_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    console = Console(file=io.StringIO(), width=100)
    with Progress("steps", 10, console=console) as shown:
        now = 8.0
        shown.advance(status="loss 0.5")
        shown.print("note")
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines == ["1 of 10 steps, 0.1 steps/s, 72 s left, loss 0.5", "note"]


def test_a_terminal_gets_a_bar() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with Progress("games", 1200, 300, console) as shown:
        shown.advance(30, "loss 0.5")
        shown.print("note")
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "330/1200" in written
    assert "games/s" in written
    assert "loss 0.5" in written
    assert "note\n" in written
    assert "330 of 1,200" not in written
