"""Pools of workers, as processes here and on a cluster: order, state and errors, and workers of a cluster that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.common import cluster_pool
from engine.common.cluster import LOCAL, Cluster, import_ray
from engine.common.pools import WorkerError
from engine.common.workers import at_most, connected, open_pool, run_tasks, stateless

import_ray().cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers of a cluster do not have the tests
Workers = int | Cluster
WORKERS: dict[str, Workers] = {"none": 0, "processes": 2, "cluster": Cluster(LOCAL, 2)}
CLUSTER = pytest.param("cluster", marks=pytest.mark.long)  # Ray takes seconds for each
elsewhere = pytest.mark.parametrize("workers", ["processes", CLUSTER], indirect=True)
on_cluster = pytest.mark.parametrize("workers", [CLUSTER], indirect=True)


@pytest.fixture(scope="module", params=["none", "processes", CLUSTER])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """No, or two, workers; one connection to the cluster for all tests."""
    found = WORKERS[request.param]
    with connected(found) as n:
        assert n == (2 if found else 0)
        yield found


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
            time.sleep(1)  # workers of a cluster do not start at the same moment
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


def identity(number: int) -> Iterator[int]:
    """A task with one update, its number."""
    yield number


def fail(number: int) -> Iterator[int]:
    """A task that raises."""
    if number == 2:
        raise FileNotFoundError(2, "No such file", "two.txt")
    yield number


class UnpicklableError(Exception):
    """An exception that pickle cannot rebuild."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("cannot be sent")


def fail_unpicklable(number: int) -> Iterator[int]:
    """A task that raises what cannot be sent."""
    yield number
    raise UnpicklableError(1, 2)


@contextmanager
def failing_setup() -> Iterator[Callable[[int], Iterator[int]]]:
    """A worker that cannot be opened."""
    raise ValueError("no such bot")
    yield identity


def test_without_workers_tasks_run_in_order_in_this_process() -> None:
    expected = [(os.getpid(), number) for number in (2, 4, 3, 9)]
    assert list(run_tasks(stateless(squares), [2, 3], 0)) == expected


@elsewhere
def test_every_task_is_run_once_in_other_processes(workers: Workers) -> None:
    updates = list(run_tasks(stateless(squares), range(1, 30), workers))
    assert sorted(number for _, number in updates) == sorted([*range(1, 30), *(n * n for n in range(1, 30))])
    processes = {process for process, _ in updates}
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes


def test_no_tasks_need_no_workers(workers: Workers) -> None:
    assert list(run_tasks(stateless(squares), [], workers)) == []


@elsewhere
def test_the_first_task_runs_alone(tmp_path: Path, workers: Workers) -> None:
    log = tmp_path / "log"
    assert sorted(run_tasks(stateless(partial(log_task, log)), range(3), workers)) == [0, 1, 2]
    lines = log.read_text().splitlines()
    assert lines[:2] == ["start 0", "end 0"]
    assert {line.split()[0] for line in lines[2:4]} == {"start"}, "the others do not run beside each other"


def test_a_pool_runs_tasks_again_in_the_same_workers_and_closes_them(tmp_path: Path, workers: Workers) -> None:
    with open_pool(partial(counting, tmp_path), at_most(workers, 1)) as pool:
        assert list(pool.run(range(3))) == [1, 2, 3]
        assert list(pool.run(range(2))) == [4, 5]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_task_is_taken_when_a_worker_is_free_for_it(workers: Workers) -> None:
    done: set[int] = set()

    def tasks() -> Iterator[int]:
        for number in range(1, 9):
            assert len(done) >= number - 3, "taken before a worker was free"
            yield number

    with open_pool(stateless(identity), workers) as pool:
        for number in pool.run(tasks()):
            done.add(number)
    assert done == set(range(1, 9))


@elsewhere
def test_an_exception_of_a_task_is_raised_with_its_traceback(workers: Workers) -> None:
    with pytest.raises(FileNotFoundError, match="two") as raised:
        list(run_tasks(stateless(fail), range(4), workers))
    assert "in fail\n" in raised.value.__notes__[0]
    with pytest.raises(RuntimeError, match="UnpicklableError: cannot be sent"):
        list(run_tasks(stateless(fail_unpicklable), range(4), workers))


def test_an_exception_of_the_setup_is_raised(workers: Workers) -> None:
    with pytest.raises(ValueError, match="no such bot"):
        list(run_tasks(failing_setup, range(4), workers))


# On a cluster ---------------------------------------------------------------------------------------------------------


STRANGER = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_put(b"stranger", b"was here", True, None, timeout=10)
"""


@on_cluster
@pytest.mark.usefixtures("workers")
def test_a_local_cluster_lets_no_stranger_in(tmp_path: Path) -> None:
    """Ray listens on all addresses of the machine: who has not its token may do nothing."""
    address = import_ray().get_runtime_context().gcs_address
    without = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    ended = subprocess.run(
        [sys.executable, "-c", STRANGER, address],
        env=without | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "AuthenticationError" in ended.stderr


DIES_AFTER = {2: 0, 3: 2, 4: 4}  # task -> number of updates


def die_once(folder: Path, task: int) -> Iterator[tuple[int, str]]:
    """Four updates and a result; the workers of some tasks are killed, the first time."""
    for step in range(5):
        if DIES_AFTER.get(task) == step and not (folder / str(task)).exists():
            (folder / str(task)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield task, "result" if step == 4 else f"update {step}"


def die(task: int) -> Iterator[int]:
    """A task that always kills its worker."""
    yield task
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("workers", [pytest.param("cluster", marks=pytest.mark.slow)], indirect=True)
def test_a_task_whose_worker_dies_is_run_again_and_nothing_counts_twice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], workers: Workers
) -> None:
    updates = list(run_tasks(stateless(partial(die_once, tmp_path)), range(6), workers))
    texts = [*(f"update {step}" for step in range(4)), "result"]
    assert len(list(tmp_path.iterdir())) == len(DIES_AFTER), "no worker has died"
    for task in range(6):
        assert [text for number, text in updates if number == task] == texts
    assert capfd.readouterr() == ("", len(DIES_AFTER) * "a worker of the cluster has died; its task is run again\n")


@on_cluster
def test_a_task_that_always_kills_its_worker_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, workers: Workers
) -> None:
    monkeypatch.setattr(cluster_pool, "ATTEMPTS", 2)
    with pytest.raises(WorkerError, match="2 workers ended unexpectedly at the same task"):
        list(run_tasks(stateless(die), range(4), at_most(workers, 1)))


@contextmanager
def dying_setup(folder: Path, n: int) -> Iterator[Callable[[int], Iterator[int]]]:
    """A worker that dies as it starts, if fewer than ``n`` have."""
    if len(list(folder.iterdir())) < n:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield identity


@on_cluster
def test_workers_that_die_as_they_start_cost_nothing_while_others_start(tmp_path: Path, workers: Workers) -> None:
    """A machine may die while all of its workers start: more than ATTEMPTS of them."""
    n = cluster_pool.ATTEMPTS + 1
    assert sorted(run_tasks(partial(dying_setup, tmp_path, n), range(3), workers)) == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) >= n, "no worker has died"


@on_cluster
def test_workers_that_always_die_as_they_start_are_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: Workers
) -> None:
    monkeypatch.setattr(cluster_pool, "ATTEMPTS", 1)
    with pytest.raises(WorkerError, match="no worker starts on the cluster"):
        list(run_tasks(partial(dying_setup, tmp_path, 99), range(3), at_most(workers, 1)))


def test_no_cluster_is_one_clear_error() -> None:
    with pytest.raises(ConnectionError, match=r"no cluster at 127.0.0.1:9: .*refused; start one with: ray start"):
        cluster_pool.connect(Cluster("127.0.0.1:9"), Path())


def add_one(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """A task that changes the array that it is given."""
    numbers += 1
    yield numbers


@on_cluster
def test_arrays_can_be_written_here_and_there(workers: Workers) -> None:
    (numbers,) = run_tasks(stateless(add_one), [np.zeros(100_000)], at_most(workers, 1))
    numbers += 1
    assert (numbers == 2).all()


def look_at_cache(task: int) -> Iterator[tuple[int, int]]:
    """A task that imports kernels: how many there are, and how many the cache lacks before any is compiled."""
    from engine.kernel_registry import imported
    from engine.warm_up import import_if_possible, lacking

    for module in ("arena.bot_games", "engine.shanten"):
        import_if_possible(module)
    yield len(imported()), len(lacking())


@on_cluster
def test_machine_code_is_sent(workers: Workers) -> None:
    ((n_kernels, n_lacking),) = run_tasks(stateless(look_at_cache), [0], at_most(workers, 1))
    assert n_kernels > 0
    assert n_lacking == 0
