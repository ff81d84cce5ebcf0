"""The pool of workers on a cluster: order, state, errors, and workers that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.common import cluster_pool
from engine.common.cluster import LOCAL, Cluster, import_ray
from engine.common.workers import WorkerError, at_most, connected, open_pool, run_tasks, stateless

import_ray().cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers do not have the tests
TWO = Cluster(LOCAL, 2)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A connection for all tests here."""
    with connected(TWO) as n:
        assert n == 2
        yield


def squares(number: int) -> Iterator[tuple[int, int]]:
    """Two updates: the number and its square, with the process that computed them."""
    yield os.getpid(), number
    yield os.getpid(), number * number


STRANGER = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_put(b"stranger", b"was here", True, None, timeout=10)
"""


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


def identity(number: int) -> Iterator[int]:
    """A task with one update, its number."""
    yield number


@contextmanager
def counting(folder: Path) -> Iterator[Callable[[int], Iterator[int]]]:
    """Counts the tasks of each worker; its end is written to a file."""
    n = 0

    def work(number: int) -> Iterator[int]:
        nonlocal n
        n += 1
        yield n

    yield work
    (folder / str(os.getpid())).touch()


def fail(number: int) -> Iterator[int]:
    """A task that raises."""
    if number == 2:
        raise FileNotFoundError(2, "No such file", "two.txt")
    yield number


@contextmanager
def failing_setup() -> Iterator[Callable[[int], Iterator[int]]]:
    """A worker that cannot be opened."""
    raise ValueError("no such bot")
    yield identity


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


def test_every_task_is_run_once_in_other_processes() -> None:
    updates = list(run_tasks(stateless(squares), range(1, 30), TWO))
    assert sorted(number for _, number in updates) == sorted([*range(1, 30), *(n * n for n in range(1, 30))])
    assert os.getpid() not in {process for process, _ in updates}
    assert 1 <= len({process for process, _ in updates}) <= 2
    assert [number for _, number in updates[:2]] == [1, 1], "the first task does not run alone"


def test_no_tasks_need_no_workers() -> None:
    assert list(run_tasks(stateless(squares), [], TWO)) == []


def test_a_pool_runs_tasks_again_in_the_same_workers_and_closes_them(tmp_path: Path) -> None:
    with open_pool(partial(counting, tmp_path), at_most(TWO, 1)) as pool:
        assert list(pool.run(range(3))) == [1, 2, 3]
        assert list(pool.run(range(2))) == [4, 5]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_task_is_taken_when_a_worker_is_free_for_it() -> None:
    done: set[int] = set()

    def tasks() -> Iterator[int]:
        for number in range(1, 9):
            assert len(done) >= number - 3, "taken before a worker was free"
            yield number

    with open_pool(stateless(identity), TWO) as pool:
        for number in pool.run(tasks()):
            done.add(number)
    assert done == set(range(1, 9))


def test_an_exception_of_a_task_is_raised_with_its_traceback() -> None:
    with pytest.raises(FileNotFoundError, match="two") as raised:
        list(run_tasks(stateless(fail), range(4), TWO))
    assert "in fail\n" in raised.value.__notes__[0]


def test_an_exception_of_the_setup_is_raised() -> None:
    with pytest.raises(ValueError, match="no such bot"):
        list(run_tasks(failing_setup, range(4), TWO))


def test_a_task_whose_worker_dies_is_run_again_and_nothing_counts_twice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    updates = list(run_tasks(stateless(partial(die_once, tmp_path)), range(6), TWO))
    texts = [*(f"update {step}" for step in range(4)), "result"]
    assert len(list(tmp_path.iterdir())) == len(DIES_AFTER), "no worker has died"
    for task in range(6):
        assert [text for number, text in updates if number == task] == texts
    assert capfd.readouterr() == ("", len(DIES_AFTER) * "a worker of the cluster has died; its task is run again\n")


def test_a_task_that_always_kills_its_worker_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_pool, "ATTEMPTS", 2)
    with pytest.raises(WorkerError, match="2 workers ended unexpectedly at the same task"):
        list(run_tasks(stateless(die), range(4), at_most(TWO, 1)))


@contextmanager
def dying_setup(folder: Path, n: int) -> Iterator[Callable[[int], Iterator[int]]]:
    """A worker that dies as it starts, if fewer than ``n`` have."""
    if len(list(folder.iterdir())) < n:
        (folder / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield identity


def test_workers_that_die_as_they_start_cost_nothing_while_others_start(tmp_path: Path) -> None:
    """A machine may die while all of its workers start: more than ATTEMPTS of them."""
    n = cluster_pool.ATTEMPTS + 1
    assert sorted(run_tasks(partial(dying_setup, tmp_path, n), range(3), TWO)) == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) >= n, "no worker has died"


def test_workers_that_always_die_as_they_start_are_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_pool, "ATTEMPTS", 1)
    with pytest.raises(WorkerError, match="no worker starts on the cluster"):
        list(run_tasks(partial(dying_setup, tmp_path, 99), range(3), at_most(TWO, 1)))


def test_no_cluster_is_one_clear_error() -> None:
    with pytest.raises(ConnectionError, match=r"no cluster at 127.0.0.1:9: .*refused; start one with: ray start"):
        cluster_pool.connect(Cluster("127.0.0.1:9"), Path())


def add_one(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """A task that changes the array that it is given."""
    numbers += 1
    yield numbers


def test_arrays_can_be_written_here_and_there() -> None:
    (numbers,) = run_tasks(stateless(add_one), [np.zeros(100_000)], at_most(TWO, 1))
    numbers += 1
    assert (numbers == 2).all()


def look_at_cache(task: int) -> Iterator[tuple[int, int]]:
    """A task that imports kernels: how many there are, and how many the cache lacks before any is compiled."""
    from engine.compiling import imported
    from engine.warm_up import import_if_possible, lacking

    for module in ("arena.bot_games", "engine.shanten"):
        import_if_possible(module)
    yield len(imported()), len(lacking())


def test_machine_code_is_sent() -> None:
    ((n_kernels, n_lacking),) = run_tasks(stateless(look_at_cache), [0], at_most(TWO, 1))
    assert n_kernels > 0
    assert n_lacking == 0
