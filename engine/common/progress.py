"""Progress of a long job on stderr: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import sys
from collections import deque
from time import monotonic

from rich import progress as rich_progress
from rich.console import Console

# If stderr is not a terminal, the time between two lines is proportional to the run time so far: a short job shows some
# progress, and the log of a long one stays short.
LINE_SHARE, MIN_LINE_SECONDS, MAX_LINE_SECONDS = 0.5, 2.0, 60.0

# Rate and time left are computed over the last minutes, to follow the speed of the machine. They are not shown until
# the job has run for a few seconds and done a few units, as they would only reflect its start.
WINDOW_SECONDS, WINDOW_STEP_SECONDS = 300.0, 1.0
ESTIMATE_SECONDS, ESTIMATE_UNITS = 5.0, 10
ROUNDING = 1e-6  # tolerance for sums of fractions of units


def duration(seconds: float) -> str:
    """Format a duration: ``45 s``, ``1 min 25 s``, ``25 min``, ``2 h 5 min``, ``3 d 4 h``."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 600:
        return f"{rounded // 60} min" + (f" {rounded % 60} s" if rounded % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    hours = round(seconds / 3600)
    return f"{hours // 24} d" + (f" {hours % 24} h" if hours % 24 else "")


class Progress:
    """Counts the completed units of a job, and shows them while its ``with`` block runs.

    On a terminal this is a bar with rate and time left, which disappears at the end. Otherwise it is a line like ``350
    of 1,200 games, 10 games/s, 1 min 25 s left``, printed first after two seconds, then less and less often, down to
    once a minute. Lines are printed only when units are completed, so a job that hangs is silent.
    """

    def __init__(
        self,
        unit: str,
        total: int | None,
        done: int = 0,
        console: Console | None = None,
        *,
        parts: tuple[int, str] | None = None,
    ) -> None:
        """``unit``: plural name of what is counted. ``done``: units of ``total`` that were done before the start.

        ``total``: None if the length of the job is unknown. ``console``: the output; stderr by default. ``parts``: the
        parts that a unit consists of, such as ``(128, "samples")``; the rate is then given in parts.
        """
        self.unit = unit
        self.total = total
        self.console = console or Console(stderr=True)
        self._parts, self._part = parts or (1, unit)
        self._window = deque[tuple[float, float]]()  # (time, units done), the first at most about WINDOW_SECONDS old
        self.start_from(done)
        self._next_line = self._start + MIN_LINE_SECONDS
        self._bar = rich_progress.Progress(
            rich_progress.BarColumn(),
            rich_progress.TextColumn("{task.completed:,}") if total is None else rich_progress.MofNCompleteColumn(),
            rich_progress.TextColumn("{task.fields[text]}", markup=False),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
            redirect_stdout=sys.stdout.isatty(),  # lines printed meanwhile appear above the bar
        )
        self._task = self._bar.add_task("", completed=done, total=total, text=unit)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def start_from(self, done: float) -> None:
        """Let rate and time left begin now, with ``done`` units that were done before."""
        self.done = self._done_before = done
        self._start = monotonic()
        self._window.clear()
        self._window.append((self._start, done))

    @property
    def rate(self) -> float | None:
        """Return the units per second over the last minutes; None until that is meaningful."""
        (then, done_then), (now, done) = self._window[0], self._window[-1]
        if now - self._start < ESTIMATE_SECONDS or done - self._done_before < ESTIMATE_UNITS:
            return None
        return (done - done_then) / (now - then)

    def advance(self, n: float = 1, status: str = "") -> None:
        """Count ``n`` more units, or their equivalent, as done; ``status`` is shown next to the count."""
        self.done += n
        now = monotonic()
        if len(self._window) > 1 and now - self._window[-2][0] < WINDOW_STEP_SECONDS:
            self._window.pop()
        self._window.append((now, self.done))
        while now - self._window[1][0] > WINDOW_SECONDS:
            self._window.popleft()
        line_due = not self.console.is_terminal and now >= self._next_line
        if not self.console.is_terminal and not line_due:
            return
        text = ", ".join(filter(None, (self.unit, self._estimate(), status)))
        self._bar.update(self._task, completed=self.done, text=text)
        if line_due:
            interval = LINE_SHARE * (now - self._start)
            self._next_line = now + min(max(interval, MIN_LINE_SECONDS), MAX_LINE_SECONDS)
            of_total = "" if self.total is None else f" of {self.total:,}"
            self.print(f"{int(self.done + ROUNDING):,}{of_total} {text}")

    def _estimate(self) -> str:
        """Return rate and time left, each only if meaningful; seconds have no rate."""
        rate = self.rate
        if not rate:
            return ""
        parts = rate * self._parts
        n_left = 0 if self.total is None else self.total - self.done
        speed = "" if self._part == "seconds" else f"{parts:,.{0 if parts >= 10 else 1}f} {self._part}/s"
        left = f"{duration(n_left / rate)} left" if n_left > 0 else ""
        return ", ".join(filter(None, (speed, left)))

    def print(self, line: str) -> None:
        """Print a line; on a terminal, above the bar."""
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)
