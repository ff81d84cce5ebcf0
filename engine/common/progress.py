"""Progress of a long job, on stderr: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
from time import monotonic

from rich import progress as rich_progress
from rich.console import Console

LINE_INTERVAL = 5.0  # seconds between two lines where stderr is no terminal


class Progress:
    """Counts the units of a job that are done. Shown while its ``with`` block runs.

    On a terminal it is a bar with rate and time left, which disappears at the end. Elsewhere it is a line like
    ``350 of 1,200 games, 10 games/s, 85 s left``, at most one every `LINE_INTERVAL` seconds.
    """

    def __init__(self, unit: str, total: int, done: int = 0, console: Console | None = None) -> None:
        """``unit``: plural name of what is counted. ``done``: units of ``total`` that were done before the start.

        ``console``: where to show it; stderr by default.
        """
        self.unit = unit
        self.total = total
        self.done = self._done_before = done
        self.console = console or Console(stderr=True)
        self._start = monotonic()
        self._next_line = self._start + LINE_INTERVAL
        self._bar = rich_progress.Progress(
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TextColumn("{task.fields[rate]}"),
            rich_progress.TimeRemainingColumn(compact=True),
            rich_progress.TextColumn("left {task.fields[status]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
            redirect_stdout=sys.stdout.isatty(),  # lines printed meanwhile go above the bar
        )
        self._task = self._bar.add_task("", completed=done, total=total, rate=unit, status="")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    @property
    def rate(self) -> float:
        """Units per second since the start."""
        return (self.done - self._done_before) / max(monotonic() - self._start, 1e-9)

    def advance(self, n: int = 1, status: str = "") -> None:
        """``n`` more units are done; ``status`` is shown beside them."""
        self.done += n
        rate = f"{self.rate:,.{0 if self.rate >= 10 else 1}f} {self.unit}/s"
        self._bar.update(self._task, completed=self.done, rate=f"{self.unit}  {rate} ", status=status)
        if not self.console.is_terminal and self.rate > 0 and monotonic() >= self._next_line:
            self._next_line = monotonic() + LINE_INTERVAL
            time_left = f"{(self.total - self.done) / self.rate:.0f} s left"
            self.print(
                ", ".join(filter(None, (f"{self.done:,} of {self.total:,} {self.unit}", rate, time_left, status)))
            )

    def print(self, line: str) -> None:
        """Print a line, on a terminal above the bar."""
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)
