"""What the pools of this machine (`engine.common.workers`) and of a cluster (`engine.common.cluster_pool`) share.

Only the standard library is imported here, for a machine of a cluster, see `engine.common.cluster_node`.
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

    def __init__(self, what: str = "a worker process ended unexpectedly; if memory ran out, try fewer --jobs") -> None:
        super().__init__(what)


class AnyPool(Protocol[T_contra, U_co]):
    """A pool that runs tasks, see `open_pool`."""

    def run(self, tasks: Iterable[T_contra]) -> Generator[U_co]:
        """See `Pool.run`."""
        ...


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block. Processes that are started in the block never receive it."""
    received: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))  # another thread may get it
    mask = _block_interrupts()  # is inherited by processes started here
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)


def _block_interrupts() -> set[signal.Signals] | set[int]:
    """Block SIGINT and return the mask before; Windows (not tested) has no such masks."""
    if sys.platform == "win32":
        return set()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def picklable(error: Exception) -> Exception:
    """An error that was just raised, with its traceback as a note, or one that says the same if it cannot be sent."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    return error
