"""Progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from engine.common import progress
from engine.common.progress import Progress, duration
from engine.records.commands import with_progress
from engine.records.stream import Item


class Clock:
    """Stands in for the time; `progress` reads it."""

    def __init__(self) -> None:
        self.now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", lambda: clock.now)
    return clock


def lines_of(console: Console) -> list[str]:
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def log() -> Console:
    return Console(file=io.StringIO(), width=100)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"), (45.4, "45 s"), (59.6, "1 min"), (85, "1 min 25 s"), (120, "2 min"), (599.7, "10 min"),
        (1520, "25 min"), (3599, "1 h"), (7500, "2 h 5 min"), (86399, "1 d"), (100 * 3600, "4 d 4 h"),
    ],
)  # fmt: skip
def test_times_are_in_minutes_and_hours(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_have_count_rate_and_time_left(clock: Clock) -> None:
    console = log()
    with Progress("games", 1200, 300, console) as shown:
        for _ in range(30):
            clock.now += 1.0
            shown.advance(10)
    lines = lines_of(console)
    assert lines[0] == "320 of 1,200 games"  # too early for an estimate
    assert lines[2] == "360 of 1,200 games, 10 games/s, 1 min 24 s left"
    assert lines[-1] == "510 of 1,200 games, 10 games/s, 1 min 9 s left"


def test_parts_of_units_add_up(clock: Clock) -> None:
    console = log()
    with Progress("games", 10, console=console) as shown:
        for _ in range(100):
            clock.now += 1.0
            shown.advance(0.1)
        clock.now += 60.0
        shown.advance(0)
    lines = lines_of(console)
    assert lines[0] == "0 of 10 games"
    assert lines[-1].startswith("10 of 10 games")


def test_lines_come_less_often_as_time_goes_by(clock: Clock) -> None:
    console = log()
    at = []
    with Progress("steps", 10_000, console=console) as shown:
        for second in range(1, 1001):
            clock.now += 1.0
            before = len(lines_of(console))
            shown.advance()
            if len(lines_of(console)) > before:
                at.append(second)
    assert at[:6] == [2, 4, 6, 9, 14, 21]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert gaps == sorted(gaps)
    assert gaps[-1] == 60


@pytest.mark.parametrize(
    "work", [lambda clock, shown: shown.advance(500), lambda clock, shown: setattr(clock, "now", clock.now + 60.0)]
)
def test_there_is_no_estimate_after_a_moment_or_a_few_units(clock: Clock, work: Callable[..., None]) -> None:
    """Neither many units in a moment nor much time for a few units make an estimate."""
    console = log()
    with Progress("games", 1000, console=console) as shown:
        clock.now += 2.0
        work(clock, shown)
        shown.advance(2)
    assert shown.rate is None
    [line] = lines_of(console)
    assert line.endswith("of 1,000 games")


def test_the_rate_is_of_the_last_minutes(clock: Clock) -> None:
    shown = Progress("games", 100_000, console=log())
    for seconds, each in ((600, 50), (600, 2)):
        for _ in range(10 * seconds):
            clock.now += 0.1
            shown.advance(each)
    assert shown.rate == pytest.approx(20.0)
    assert len(shown._window) < 400  # memory is bounded


def test_the_bytes_that_a_resumed_job_skips_are_not_in_its_rate(
    clock: Clock, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    archive = tmp_path / "games.tar"
    archive.write_bytes(bytes(1_000_000))

    def results() -> Iterator[tuple[Item, int]]:
        for number, position in enumerate((600_000, 700_000, 800_000)):
            clock.now += 10.0
            yield Item(f"games.tar:{number}", archive, str(number), position, None), number

    assert [number for _, number in with_progress(results(), [archive], 60)] == [0, 1, 2]
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "600 of 1,000 kB, 61 records"
    assert last == "800 of 1,000 kB, 10 kB/s, 20 s left, 63 records"


def test_a_rate_may_be_in_parts_and_a_status_is_shown(clock: Clock) -> None:
    console = log()
    with Progress("steps", 100, console=console, parts=(32, "samples")) as shown:
        clock.now += 80.0
        shown.advance(10, status="cpu, loss 0.5")
        shown.print("note")
    assert lines_of(console) == ["10 of 100 steps, 4.0 samples/s, 12 min left, cpu, loss 0.5", "note"]


def test_seconds_have_no_rate(clock: Clock) -> None:
    console = log()
    with Progress("seconds", 60, console=console) as shown:
        for done, status in ((20, "iteration 3"), (40, "")):
            clock.now += 40.0
            shown.advance(done, status)
    assert lines_of(console) == ["20 of 60 seconds, 1 min 20 s left, iteration 3", "60 of 60 seconds"]


def test_a_terminal_gets_a_bar(clock: Clock) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with Progress("games", 1200, 300, console) as shown:
        clock.now += 10.0
        shown.advance(30, "loss 0.5")
        shown.print("note")
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "330/1200" in written
    assert "games, 3.0 games/s, 4 min 50 s left, loss 0.5" in written
    assert "note\n" in written
    assert "330 of 1,200" not in written


def test_a_status_is_no_markup(clock: Clock) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with Progress("games", 10, console=console) as bar:
        bar.advance(5, "bert:runs/[a]net leads")
    assert "bert:runs/[a]net leads" in console.file.getvalue()  # type: ignore[attr-defined]
