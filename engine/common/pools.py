"""Code shared by the local pool (`engine.common.workers`) and that of a cluster (`engine.common.cluster_pool`).

Imports only the standard library, as the machines of a cluster require (`engine.common.cluster_node`).
"""

from __future__ import annotations

import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")  # task
U = TypeVar("U")  # update
T_contra = TypeVar("T_contra", contravariant=True)
U_co = TypeVar("U_co", covariant=True)

Work = Callable[[T], Iterable[U]]  # runs a task; yields its updates
OpenWorker = Callable[[], AbstractContextManager[Work[T, U]]]


class WorkerError(Exception):
    """A worker process ended without an exception: it was killed, or crashed."""

    def __init__(
        self, what: str = "a worker process ended unexpectedly; if memory ran out, try fewer: NUKIDORA_JOBS=1"
    ) -> None:
        super().__init__(what)


class AnyPool(Protocol[T_contra, U_co]):
    """A pool that runs tasks, see `open_pool`."""

    def run(self, tasks: Iterable[T_contra]) -> Generator[U_co]:
        """Run `tasks` and yield their updates as they arrive, see `engine.common.workers.Pool.run`."""
        ...


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block. Processes started in the block never receive it."""
    received: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))  # another thread may get it
    mask = _block_interrupts()  # inherited by processes started here
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)


def _block_interrupts() -> set[signal.Signals] | set[int]:
    """Block SIGINT and return the previous mask; Windows (not tested) has no signal masks."""
    if sys.platform == "win32":
        return set()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def picklable(error: Exception) -> Exception:
    """Return an error just raised, with its traceback as a note; if it cannot be pickled, an equivalent one."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    return error
