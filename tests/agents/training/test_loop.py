"""The loop of the trainers: a run of numbers is stopped, saved and resumed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from agents.training import loop
from agents.training.checkpoint import reading
from agents.training.loop import Step, StopRequest, Training, run_training
from agents.training.schedule import linear_decay
from engine.common.progress import Progress


class Counting(Training):
    """Counts to six; `during` is called in each step with its number."""

    save_every = 1e9

    def __init__(self, during: Callable[[int], object] = lambda number: None, done: int = 0) -> None:
        self.done = self.saved = done
        self.saves = 0
        self.at_once: tuple[int, ...] = ()  # the steps that may be stopped in their midst
        self._during = during

    @property
    def budget(self) -> tuple[int, str]:
        return 6, "numbers"

    @property
    def spent(self) -> float:
        return self.done

    def steps(self) -> Generator[Step]:
        while not self.finished:
            number = self.done + 1
            if number in self.at_once:
                yield Step("measuring", at_once=True)
            self._during(number)
            self.done = number
            yield Step(f"at {number}", f"number {number}")

    def save(self) -> None:
        self.saved = self.done
        self.saves += 1


def interrupt_at(at: int, how: signal.Signals = signal.SIGINT, times: int = 1) -> Callable[[int], None]:
    """Signals in the step of a number."""

    def during(number: int) -> None:
        if number == at:
            for _ in range(times):
                signal.raise_signal(how)

    return during


def test_a_run_to_the_end_tells_each_step_and_is_saved() -> None:
    told = StringIO()
    training = Counting(done=2)
    run_training(training, Console(file=told))
    assert told.getvalue().splitlines() == [f"number {number}" for number in (3, 4, 5, 6)]
    assert (training.saved, training.saves) == (6, 1)
    run_training(training, Console(file=told))
    assert training.done == 6, "nothing is left to do"


def test_the_progress_is_that_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes between two steps counts nothing, and what is beyond the budget neither."""
    told: list[tuple[float, str]] = []
    advance = Progress.advance

    def recorded(progress: Progress, n: float, status: str) -> None:
        advance(progress, n, status)
        told.append((progress.done, status))

    monkeypatch.setattr(Progress, "advance", recorded)
    monkeypatch.setattr(Counting, "spent", property(lambda training: 2.2 * training.done))
    training = Counting(done=1)
    training.at_once = (3,)
    run_training(training)
    assert told == [(4, "at 2"), (4, "measuring"), (6, "at 3")]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_the_step_end_and_saves(how: signal.Signals) -> None:
    before = signal.getsignal(how)
    training = Counting(interrupt_at(3, how))
    with pytest.raises(KeyboardInterrupt):
        run_training(training)
    assert (training.done, training.saved) == (3, 3)
    assert signal.getsignal(how) is before


def test_the_second_signal_ends_the_step_and_what_was_saved_counts() -> None:
    training = Counting(interrupt_at(3, times=2))
    with pytest.raises(KeyboardInterrupt):
        run_training(training)
    assert (training.done, training.saves) == (2, 0)


def test_what_may_be_stopped_in_its_midst_is() -> None:
    training = Counting(interrupt_at(3))
    training.at_once = (3,)
    with pytest.raises(KeyboardInterrupt):
        run_training(training)
    assert training.done == 2
    training = Counting(interrupt_at(4))
    training.at_once = (3,)  # only that
    with pytest.raises(KeyboardInterrupt):
        run_training(training)
    assert training.done == 4


def test_a_signal_in_the_last_step_is_too_late() -> None:
    training = Counting(interrupt_at(6))
    run_training(training)
    assert training.saved == 6


def test_a_run_is_saved_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(loop, "monotonic", lambda: now[0])
    training = Counting()
    training.save_every = 2.5
    saved = []
    for _ in training.train():
        saved.append(training.saved)
        now[0] += 1.0
    assert saved == [0, 0, 0, 4, 4, 4]
    assert training.saved == 6


def test_closing_early_saves_and_an_error_does_not() -> None:
    training = Counting()
    steps = training.train()
    next(steps)
    next(steps)
    steps.close()
    assert training.saved == 2

    def fail(number: int) -> None:
        raise OSError("no disk")

    failing = Counting(fail, done=3)
    with pytest.raises(OSError, match="no disk"):
        run_training(failing)
    assert failing.saves == 0


def test_processes_that_train_together_stop_and_save_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """They agree at even numbers only: a signal and a save that are due wait for those."""
    monkeypatch.setattr(Counting, "any_process", lambda training, flag: flag and training.done % 2 == 0)
    training = Counting(interrupt_at(3))
    training.save_every = -1.0
    with pytest.raises(KeyboardInterrupt):
        run_training(training)
    assert (training.done, training.saves) == (4, 3)  # after 2, after 4, and at the end


def test_a_stop_request_counts_only_in_its_block() -> None:
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.received
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("error", "told"), [(ValueError("2 tables,\n not 3"), r"\(2 tables, not 3\)"), (KeyError("a"), r"\(KeyError\)")]
)
def test_whatever_a_damaged_file_raises_is_told_in_one_line(error: Exception, told: str) -> None:
    line = rf"^run/state: damaged, or of another version {told}; delete it to begin again, or train in another folder$"
    with pytest.raises(ValueError, match=line), reading(Path("run/state")):
        raise error
    with pytest.raises(KeyboardInterrupt), reading(Path("run/state")):
        raise KeyboardInterrupt


def test_the_learning_rate_falls_linearly_from_the_start_to_the_end() -> None:
    assert [linear_decay(done, 2, 6) for done in range(8)] == [1, 1, 1, 0.75, 0.5, 0.25, 0, 0]
    assert linear_decay(4, 6, 6) == 1
    assert linear_decay(6, 6, 6) == 0
