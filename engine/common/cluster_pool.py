"""A pool of workers on the machines of a Ray cluster, the counterpart of the local `engine.common.workers.Pool`.

A worker is a Ray actor with one CPU, which enters ``open_worker()`` as a process of a local pool does. If the worker or
its machine dies, its task is given to another worker. Duplicate updates are handled as follows: the last update of a
task arrives together with the message that the task is done, so it counts once, whichever worker sends it. Earlier
updates report progress; when a task is repeated, only updates beyond those already passed on are passed on. So a
repeated task must yield the same updates only if progress is to be exact.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Generic

from engine.common.cluster import LOCAL, Cluster, import_ray
from engine.common.cluster_node import Done, Failed, Update, Worker
from engine.common.cluster_package import write_package
from engine.common.options import usable_cores
from engine.common.pools import OpenWorker, T, U, WorkerError, delay_interrupts
from engine.warm_up import import_if_possible, modules_with_kernels, warm_up_imported

ATTEMPTS = 3  # at a task or at starting each worker, before the task or ``open_worker`` is considered faulty
LOOK_SECONDS = 5.0  # between checks of the number of CPUs of the cluster
REACH_SECONDS = 5.0  # for the head of a cluster to accept a connection
CLOSE_SECONDS = 5.0  # for idle workers to leave ``open_worker()``
OBJECT_STORE = 256 << 20  # bytes, for a cluster started here; results wait in it until they are fetched


@contextmanager
def connection(cluster: Cluster) -> Iterator[None]:
    """Stay connected to a cluster while the block runs; does nothing inside a block that is already connected.

    Raises ConnectionError if there is no such cluster, ValueError or OSError if the files cannot be sent.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    for module in modules_with_kernels():  # workers may import more than this process; all machine code is sent
        import_if_possible(module)
    warm_up_imported()
    with ExitStack() as stack:
        # Below /tmp, as paths of Unix sockets have a low limit, and Ray's are long.
        folder = tempfile.TemporaryDirectory(
            prefix="nuki-", dir="/tmp" if os.name == "posix" else None, ignore_cleanup_errors=True
        )
        package = Path(stack.enter_context(folder)) / "nukidora.zip"
        write_package(package, cluster.files)
        connect(cluster, package)
        stack.callback(ray.shutdown)
        yield


def connect(cluster: Cluster, package: Path) -> None:
    """Connect to a cluster, or start one, and send the package. Raises ConnectionError."""
    ray = import_ray()
    options: dict[str, Any] = {"address": cluster.address}
    if cluster.address != LOCAL:
        check_reachable(cluster.address)
    else:
        n = cluster.limit or usable_cores()
        options |= {"num_cpus": n, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
        options["_temp_dir"] = str(package.parent)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with delay_interrupts() if cluster.address == LOCAL else nullcontext():
            ray.init(
                **options,
                runtime_env={"working_dir": str(package)},
                log_to_driver=False,
                logging_level=logging.CRITICAL,
            )
    except Exception as error:
        ray.shutdown()
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        if cluster.address != LOCAL:
            reason += f"; this machine must be a part of it: ray start --address={cluster.address} --num-cpus=0"
        raise ConnectionError(f"no cluster at {cluster.address}: {reason}") from error
    finally:
        signal.signal(signal.SIGTERM, handler)  # Ray installs its own


def check_reachable(address: str) -> None:
    """Raise ConnectionError if nothing listens at ``address``: Ray would try for minutes."""
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"no cluster at {address}: {error}; start one with: ray start --head") from error


def n_workers(cluster: Cluster) -> int:
    """Return how many workers the cluster has room for now. Raises ConnectionError if it has none."""
    nodes = [node for node in import_ray().nodes() if node["Alive"]]
    cpus = sum(int(node["Resources"].get("CPU", 0)) for node in nodes)
    if not cpus:
        raise ConnectionError(f"the cluster at {cluster.address} has no CPU: start a worker there")
    return min(cpus, cluster.limit or cpus)


@contextmanager
def open_cluster_pool(open_worker: OpenWorker[T, U], cluster: Cluster) -> Iterator[ClusterPool[T, U]]:
    """Open a pool on a cluster; see `engine.common.workers.open_pool`. Raises what `connection` raises."""
    with connection(cluster):
        pool = ClusterPool(open_worker, cluster)
        try:
            yield pool
        finally:
            pool.close()


@dataclass
class Attempt(Generic[T]):
    """A task with the state of its current run, which may not be its first."""

    task: T
    n_passed_on: int = 0  # updates passed on so far
    n_received: int = 0  # updates from the worker that runs it now
    n_failed: int = 0  # workers that died while running it


class ClusterPool(Generic[T, U]):
    """A pool on a cluster, see `open_cluster_pool`."""

    def __init__(self, open_worker: OpenWorker[T, U], cluster: Cluster) -> None:
        self._ray = import_ray()
        self._cluster = cluster
        self._open_worker = self._ray.cloudpickle.dumps(open_worker)
        self._actor = self._ray.remote(num_cpus=1)(Worker)
        self._starting: dict[Any, tuple[Any, bool]] = {}  # pending sign of life -> worker, whether it is new
        self._idle: list[Any] = []
        self._busy: dict[Any, tuple[Any, Attempt[T]]] = {}  # stream of messages -> worker and its task
        self._n_failed = 0  # failed starts since the last successful one
        self._warm = False  # whether a task has been completed
        self._next_look = 0.0  # at the machines of the cluster

    def run(self, tasks: Iterable[T]) -> Generator[U]:
        """Run ``tasks`` and yield their updates; see `engine.common.workers.Pool.run`.

        Raises WorkerError if workers repeatedly die at the same task or during startup, ConnectionError if no machine
        is left.
        """
        queue = iter(tasks)
        waiting: deque[Attempt[T]] = deque()
        while True:
            while len(waiting) + len(self._busy) < max(1, self._n_open if self._warm else 1):
                if (task := next(queue, self)) is self:
                    break
                waiting.append(Attempt(task))  # type: ignore[arg-type]
            if not waiting and not self._busy:
                return
            self._start_workers()
            while waiting and self._idle and (self._warm or not self._busy):
                self._begin(waiting.popleft())
            handles = [*self._starting, *self._busy]
            for handle in self._ray.wait(handles, num_returns=1, timeout=LOOK_SECONDS)[0]:
                if handle in self._starting:
                    self._opened(handle)
                else:
                    yield from self._receive(handle, waiting)

    @property
    def _n_open(self) -> int:
        return len(self._idle) + len(self._busy)

    def _start_workers(self) -> None:
        """Periodically start as many workers as there is room for, as machines join and leave the cluster."""
        if monotonic() < self._next_look:
            return
        self._next_look = monotonic() + LOOK_SECONDS
        for _ in range(n_workers(self._cluster) - self._n_open - len(self._starting)):
            worker = self._actor.remote()
            self._starting[worker.open.remote(self._open_worker)] = worker, True

    def _opened(self, handle: Any) -> None:
        """Handle the sign of life or the death of a worker. Raises the exception of ``open_worker``, or WorkerError."""
        worker, is_new = self._starting.pop(handle)
        try:
            answer = self._ray.get(handle)
        except self._ray.exceptions.RayError as error:
            self._next_look = 0.0
            self._n_failed += is_new
            if self._n_failed >= ATTEMPTS * n_workers(self._cluster):  # all that start on one machine may die with it
                raise WorkerError(f"no worker starts on the cluster: {last_line(error)}") from error
            return
        if isinstance(answer, Failed):
            raise answer.error
        self._n_failed = 0
        self._idle.append(worker)

    def _begin(self, attempt: Attempt[T]) -> None:
        worker = self._idle.pop()
        attempt.n_received = 0
        messages = worker.run.options(num_returns="streaming").remote(self._ray.cloudpickle.dumps(attempt.task))
        self._busy[messages] = (worker, attempt)

    def _receive(self, messages: Any, waiting: deque[Attempt[T]]) -> Iterator[U]:
        """Handle the next message of a worker, and yield its update. Raises the task's exception, or WorkerError."""
        worker, attempt = self._busy[messages]
        try:
            message: Update | Done | Failed = pickle.loads(self._ray.get(next(messages)))
        except (StopIteration, self._ray.exceptions.RayError) as error:
            del self._busy[messages]
            attempt.n_failed += 1
            if attempt.n_failed >= ATTEMPTS:
                told = f"{ATTEMPTS} workers ended unexpectedly at the same task: {last_line(error)}"
                raise WorkerError(f"{told}; if memory ran out, give the machines fewer CPUs") from error
            print("a worker of the cluster has died; its task is run again", file=sys.stderr, flush=True)
            waiting.appendleft(attempt)
            self._next_look = 0.0
            self._look_after_idle()
            return
        if isinstance(message, Failed):
            raise message.error
        if isinstance(message, Update):
            attempt.n_received += 1
            if attempt.n_received > attempt.n_passed_on:
                attempt.n_passed_on += 1
                yield message.value
            return
        del self._busy[messages]
        self._idle.append(worker)
        self._warm = True
        yield from message.updates

    def _look_after_idle(self) -> None:
        """Check that idle workers are alive: the machine of the worker that died may have been theirs, too."""
        for worker in self._idle:
            self._starting[worker.answer.remote()] = worker, False
        self._idle.clear()

    def close(self) -> None:
        """Let idle workers leave ``open_worker()``, then kill all workers."""
        closing = [worker.close.remote() for worker in self._idle]
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_SECONDS)
        for worker in [*self._idle, *(worker for worker, _ in [*self._starting.values(), *self._busy.values()])]:
            self._ray.kill(worker)


def last_line(error: Exception) -> str:
    """Return the last line of a Ray error message; the lines before it name internal classes and ids."""
    return ([line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__])[-1]
