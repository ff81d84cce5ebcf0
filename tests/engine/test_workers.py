"""The worker pool: order, state, errors, Ctrl-C, and what becomes of workers at the end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from engine.common.workers import WorkerError, delayed_interrupts, open_pool, run_tasks, stateless

REPOSITORY = Path(__file__).resolve().parents[2]


def squares(number: int) -> Iterator[tuple[int, int]]:
    """Two updates: the number and its square, with the process that computed them."""
    yield os.getpid(), number
    yield os.getpid(), number * number


def log_task(path: Path, number: int) -> Iterator[int]:
    """Write the start and end of a task to a file; the second and the third wait for the start of each other."""
    for what in ("start", "end"):
        with path.open("a") as file:
            file.write(f"{what} {number}\n")
        if number == 0:
            time.sleep(0.1)
        elif what == "start":
            wait_for_starts(path, 3)
    yield number


def wait_for_starts(path: Path, n: int) -> None:
    """Wait until so many tasks have started, but not for ever."""
    deadline = time.monotonic() + 60
    while path.read_text().count("start") < n and time.monotonic() < deadline:
        time.sleep(0.01)


@contextmanager
def counting(path: Path) -> Iterator[Callable[[int], Iterator[int]]]:
    """Count the tasks of each process; its end is written to a file, SIGTERM included."""
    n = 0

    def work(number: int) -> Iterator[int]:
        nonlocal n
        n += 1
        yield n

    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit())
    try:
        yield work
    finally:
        (path / str(os.getpid())).touch()


def fail(number: int) -> Iterator[int]:
    """A task that raises."""
    if number == 2:
        raise FileNotFoundError(2, "No such file", "two.txt")
    yield number


@contextmanager
def failing_setup() -> Iterator[Callable[[int], Iterator[int]]]:
    """A worker that cannot be opened."""
    raise ValueError("no such bot")
    yield squares


@contextmanager
def deaf_once(path: Path) -> Iterator[Callable[[int], Iterator[int]]]:
    """SIGTERM ends the worker by an exception, but falls into a callback that ignores it, as those of numba's compiler.

    The end of the worker is written to a file.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit())

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        time.sleep(60)

    def work(number: int) -> Iterator[int]:
        yield number
        callback()
        time.sleep(60)

    try:
        yield work
    finally:
        path.touch()


class UnpicklableError(Exception):
    """An exception that pickle cannot rebuild."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("cannot be sent")


def fail_unpicklable(number: int) -> Iterator[int]:
    """A task that raises what cannot be sent."""
    yield number
    raise UnpicklableError(1, 2)


def identity(number: int) -> Iterator[int]:
    """A task with one update, its number."""
    yield number


def die(number: int) -> Iterator[int]:
    """A task that is killed, as if memory had run out."""
    yield number
    os.kill(os.getpid(), signal.SIGKILL)


def wait_long(number: int) -> Iterator[int]:
    """The third task takes long."""
    yield number
    time.sleep(100 if number == 2 else 0)


def test_without_workers_tasks_run_in_order_in_this_process() -> None:
    expected = [(os.getpid(), number) for number in (2, 4, 3, 9)]
    assert list(run_tasks(stateless(squares), [2, 3], 0)) == expected


def test_no_tasks_need_no_workers() -> None:
    assert list(run_tasks(stateless(squares), [], 2)) == []


def test_every_task_is_run_once_in_other_processes() -> None:
    updates = list(run_tasks(stateless(squares), range(1, 20), 2))
    assert sorted(number for _, number in updates) == sorted([*range(1, 20), *(n * n for n in range(1, 20))])
    processes = {process for process, _ in updates}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_the_first_task_runs_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert sorted(run_tasks(stateless(partial(log_task, log)), range(3), 2)) == [0, 1, 2]
    lines = log.read_text().splitlines()
    assert lines[:2] == ["start 0", "end 0"]
    assert {line.split()[0] for line in lines[2:4]} == {"start"}, "the others do not run beside each other"


def test_workers_keep_state_and_close_it(tmp_path: Path) -> None:
    counts = list(run_tasks(partial(counting, tmp_path), range(5), 1))
    assert counts == [1, 2, 3, 4, 5]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("n_workers", [0, 2])
def test_a_pool_runs_tasks_again_in_the_same_processes(tmp_path: Path, n_workers: int) -> None:
    with open_pool(partial(counting, tmp_path), n_workers) as pool:
        before = list(pool.run(range(6)))
        assert len(before) == 6
        after = list(pool.run(range(6)))
    assert max(after) > max(before), "the workers were started anew"
    assert len(list(tmp_path.iterdir())) == max(n_workers, 1)


@pytest.mark.parametrize("n_workers", [0, 2])
def test_a_task_is_taken_when_a_worker_is_free_for_it(n_workers: int) -> None:
    done: set[int] = set()

    def tasks() -> Iterator[int]:
        for number in range(1, 9):
            assert len(done) >= number - 1 - max(n_workers, 1), "taken before a worker was free"
            yield number

    with open_pool(stateless(identity), n_workers) as pool:
        for number in pool.run(tasks()):
            done.add(number)
    assert done == set(range(1, 9))


def test_an_exception_of_a_task_is_raised_with_its_traceback() -> None:
    with pytest.raises(FileNotFoundError, match="two") as raised:
        list(run_tasks(stateless(fail), range(4), 2))
    assert "in fail\n" in raised.value.__notes__[0]
    with pytest.raises(RuntimeError, match="UnpicklableError: cannot be sent"):
        list(run_tasks(stateless(fail_unpicklable), range(4), 2))


@pytest.mark.parametrize("n_workers", [0, 1, 2])
def test_an_exception_of_the_setup_is_raised(n_workers: int) -> None:
    with pytest.raises(ValueError, match="no such bot"):
        list(run_tasks(failing_setup, range(4), n_workers))


def test_a_worker_that_dies_is_one_clear_error() -> None:
    with pytest.raises(WorkerError, match=r"^a worker process ended unexpectedly; if memory ran out, try"):
        list(run_tasks(stateless(die), range(4), 2))


def test_a_worker_ends_although_a_callback_ignores_the_signal(tmp_path: Path) -> None:
    path = tmp_path / "ended"
    updates = run_tasks(partial(deaf_once, path), [1], 1)
    assert next(updates) == 1
    time.sleep(0.2)  # the worker is in the callback
    start = time.monotonic()
    updates.close()
    assert time.monotonic() - start < 30
    assert path.exists()


def test_closing_ends_the_workers_at_once() -> None:
    updates = run_tasks(stateless(wait_long), range(3), 2)
    assert sorted(next(updates) for _ in range(3)) == [0, 1, 2]
    start = time.monotonic()
    updates.close()
    assert time.monotonic() - start < 50


@pytest.fixture
def another_thread() -> Iterator[None]:
    """A thread to which a signal may be delivered instead of the main thread."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("another_thread")
def test_ctrl_c_while_workers_start_is_raised_afterwards_and_only_here() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start_and_interrupt() -> None:
        with delayed_interrupts():
            started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
            started[0].send_signal(signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # until the other thread has received it
            started.append(started[0])

    with pytest.raises(KeyboardInterrupt):
        start_and_interrupt()
    assert len(started) == 2
    started[0].communicate(b"\n")
    assert started[0].returncode == 0


@pytest.mark.parametrize("handler", ["default", "exit"])
def test_workers_end_when_the_parent_is_killed(tmp_path: Path, handler: str) -> None:
    """Both busy ones, without and with a SIGTERM handler of their own."""
    module = tmp_path / "parent.py"
    module.write_text(
        "import os, signal, sys, time\n"
        "from pathlib import Path\n"
        "from engine.common.workers import run_tasks, stateless\n"
        "def work(task):\n"
        "    yield os.getpid()\n"
        f"    if {handler == 'exit'}: signal.signal(signal.SIGTERM, lambda *_: sys.exit())\n"
        "    time.sleep(100 if task else 0)\n"
        "if __name__ == '__main__':\n"
        "    for process in run_tasks(stateless(work), range(3), 2): print(process, flush=True)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, str(module)],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    processes = {int(parent.stdout.readline()) for _ in range(3)}
    assert len(processes) == 2
    parent.kill()
    parent.communicate(timeout=30)  # stdout is closed when all processes have ended


def test_the_first_worker_does_not_receive_ctrl_c_while_it_starts(tmp_path: Path) -> None:
    """The module is imported by the worker as it starts; it says whether Ctrl-C would interrupt that."""
    module = tmp_path / "parent.py"
    module.write_text(
        "import signal\n"
        "from engine.common.workers import run_tasks, stateless\n"
        "blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
        "def work(task):\n"
        "    yield blocked\n"
        "if __name__ == '__main__':\n"
        "    print(*run_tasks(stateless(work), range(2), 1))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, str(module)], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
