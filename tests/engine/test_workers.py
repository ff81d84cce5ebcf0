"""Worker processes: Ctrl-C, death, and what becomes of them at the end; what any pool does is in test_pools.py."""

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

from engine.common.pools import WorkerError, delay_interrupts
from engine.common.workers import run_tasks, stateless

REPOSITORY = Path(__file__).resolve().parents[2]


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


def die(number: int) -> Iterator[int]:
    """A task that is killed, as if memory had run out."""
    yield number
    os.kill(os.getpid(), signal.SIGKILL)


def wait_long(number: int) -> Iterator[int]:
    """The third task takes long."""
    yield number
    time.sleep(100 if number == 2 else 0)


def interrupt_itself(task: int) -> Iterator[int]:
    """As Ctrl-C in a terminal does, which all processes hear."""
    os.kill(os.getpid(), signal.SIGINT)
    yield task


def test_workers_do_not_hear_ctrl_c() -> None:
    assert sorted(run_tasks(stateless(interrupt_itself), range(4), 2)) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.timeout(120, method="signal")  # a death that nobody notices is a failure, not the end of the tests
def test_a_worker_that_dies_is_one_clear_error() -> None:
    with pytest.raises(WorkerError, match=r"^a worker process ended unexpectedly; if memory ran out, try"):
        list(run_tasks(stateless(die), range(4), 2))


@pytest.mark.slow
def test_a_worker_ends_although_a_callback_ignores_the_signal(tmp_path: Path) -> None:
    path = tmp_path / "ended"
    updates = run_tasks(partial(deaf_once, path), [1], 1)
    assert next(updates) == 1
    time.sleep(0.2)  # the worker is in the callback
    start = time.monotonic()
    updates.close()
    assert time.monotonic() - start < 30
    assert path.exists()


@pytest.mark.slow
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
        with delay_interrupts():
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


@pytest.mark.slow
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


@pytest.mark.slow
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
