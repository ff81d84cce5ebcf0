"""The loop of all trainers: steps until the budget is spent, with progress; it can be stopped and resumed.

A trainer is a `Training`: what one step is, and how all that the next one needs is saved. Its command calls
`run_training`. The first Ctrl-C or SIGTERM lets the present step end, and saves; a second one ends the program at once,
and the run goes on from what was saved before.
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from time import monotonic
from types import FrameType, TracebackType
from typing import NamedTuple

from rich.console import Console

from engine.common.program import interrupt_when_safe
from engine.common.progress import Progress


class Step(NamedTuple):
    """What a trainer reports after a step, or between two."""

    status: str = ""  # shown next to the count
    line: str = ""  # printed
    at_once: bool = False  # what follows may be stopped in its midst, as everything is saved: a measurement


class Training(ABC):
    """A run in a folder, which can be stopped between steps and resumed."""

    save_every: float  # seconds

    @property
    @abstractmethod
    def budget(self) -> tuple[int, str]:
        """How long the run is, and the unit."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """What is done of the budget, in its unit."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.spent >= self.budget[0]

    @abstractmethod
    def steps(self) -> Generator[Step]:
        """Do the steps that are left; yields after each."""

    @abstractmethod
    def save(self) -> None:
        """Write all that the next step needs. Raises OSError."""

    def any_process(self, flag: bool) -> bool:
        """Whether `flag` is true in any of the processes that train together; by default, there is one."""
        return flag

    def train(self) -> Generator[Step]:
        """As `steps`, but saves from time to time and at the end. Closing it early also saves.

        After an exception, training can only resume from what was saved before.
        """
        saved = monotonic()
        with closing(self.steps()) as steps:
            for step in steps:
                if self.any_process(monotonic() - saved > self.save_every):
                    self.save()
                    saved = monotonic()
                try:
                    yield step
                except GeneratorExit:
                    break
        self.save()


class StopRequest:
    """Within the block the first Ctrl-C or SIGTERM only sets `received`, unless `at_once`; a second one interrupts."""

    def __init__(self) -> None:
        self.received = self.at_once = False

    def __enter__(self) -> StopRequest:
        self._before = {number: signal.signal(number, self._receive) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received or self.at_once:
            interrupt_when_safe(number, frame)
        self.received = True


def run_training(training: Training, console: Console | None = None, parts: tuple[int, str] | None = None) -> None:
    """Train to the end, with a progress bar; `console` and `parts` as in `Progress`.

    Raises KeyboardInterrupt if it was stopped before; the same run can go on.
    """
    total, unit = training.budget
    with (
        Progress(unit, total, min(int(training.spent), total), console, parts=parts) as progress,
        StopRequest() as stop,
        closing(training.train()) as steps,
    ):
        for step in steps:
            if step.line:
                progress.print(step.line)
            progress.advance(min(int(training.spent), total) - progress.done, step.status)
            stop.at_once = step.at_once
            if training.any_process(stop.received):
                break
    if not training.finished:
        raise KeyboardInterrupt
