"""How far a run is, on stderr: a bar on a terminal, else a line now and then."""

from __future__ import annotations

from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

LINE_EVERY = 5.0  # seconds


class Progress:
    """Counts the games that are over, `done` of them before this sitting; shown while its block runs."""

    def __init__(self, console: Console, done: int, total: int) -> None:
        self.console = console
        self.over = self._done_before = done
        self.total = total
        self._start = monotonic()

    @property
    def seconds(self) -> float:
        """Time since the start of this sitting."""
        return monotonic() - self._start

    @property
    def rate(self) -> float:
        """Games per second in this sitting."""
        return (self.over - self._done_before) / max(self.seconds, 1e-9)

    def advance(self, games: int) -> None:
        """So many more games are over."""
        self.over += games
        self.show()

    def note(self, line: str) -> None:
        """Print a line beside what is shown."""
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to clear away."""

    def show(self) -> None:
        """Bring what is shown up to date."""


class Bar(Progress):
    """A bar with rate and time left."""

    def __init__(self, console: Console, done: int, total: int) -> None:
        super().__init__(console, done, total)
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[rate]:,.0f} games/s "),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
        )
        self._bar = RichProgress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("", completed=done, total=total, rate=0.0)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show(self) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=self.over, rate=self.rate)


class Lines(Progress):
    """A plain line every few seconds."""

    def __init__(self, console: Console, done: int, total: int) -> None:
        super().__init__(console, done, total)
        self._next_line = LINE_EVERY

    def show(self) -> None:
        """Print a line where one is due."""
        if self.seconds < self._next_line or self.rate == 0.0:
            return
        self._next_line = self.seconds + LINE_EVERY
        left = (self.total - self.over) / self.rate
        line = f"{self.over:,} of {self.total:,} games, {self.rate:,.0f} games/s, {left:.0f} s left"
        self.console.print(line, soft_wrap=True)


def progress(console: Console, done: int, total: int) -> Progress:
    """The progress that suits the console."""
    return (Bar if console.is_terminal else Lines)(console, done, total)
