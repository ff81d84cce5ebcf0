"""A worker on a machine of a cluster: the code that runs in the processes that Ray starts there.

Ray has unpacked the package (`engine.common.cluster_package`), which includes this module. Only modules that need
nothing but the standard library are imported here: the cache folder must be set before compiled code is imported.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.common.pools import picklable

ROOT = Path(__file__).parents[2]
CACHE, FILES = "cache", "files"  # in the package


@dataclass(frozen=True, slots=True)
class Update:
    """An update of a task that is not its last."""

    value: Any


@dataclass(frozen=True, slots=True)
class Done:
    """A task is done; ``updates``: its last update, or empty if it sent none."""

    updates: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker could not be opened, or a task has raised ``error``."""

    error: Exception


class Worker:
    """The counterpart of `engine.common.workers._serve` in a process of a local pool."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._work: Callable[[Any], Iterable[Any]]

    def open(self, open_worker: bytes) -> Failed | None:
        """Enter the context manager that ``open_worker``, a pickled function, returns."""
        try:
            settle()
            manager = pickle.loads(open_worker)()
        except ImportError as error:
            told = f"{error}; every machine of the cluster needs the same packages"
            return Failed(ConnectionError(f"{socket.gethostname()}: {told}"))
        except Exception as error:
            return error_message(error)
        try:
            self._work = self._stack.enter_context(manager)
        except Exception as error:
            return error_message(error)
        return None

    def run(self, task: bytes) -> Iterator[bytes]:
        """Run a pickled task. Yields pickled messages, because arrays that Ray itself transfers are read-only.

        The last update is part of the Done message, so that the parent gets both or neither.
        """
        last: list[Any] = []
        try:
            for update in self._work(pickle.loads(task)):
                if last:
                    yield pickle.dumps(Update(last.pop()))
                last.append(update)
        except Exception as error:
            yield pickle.dumps(error_message(error))
        else:
            yield pickle.dumps(Done(tuple(last)))

    def answer(self) -> None:
        """Return, which shows that the worker is alive."""

    def close(self) -> None:
        """Leave the context manager."""
        self._stack.close()


def error_message(error: Exception) -> Failed:
    """Return the message for an error that has just been raised."""
    return Failed(picklable(error))


def settle() -> None:
    """Set up the package for use: the machine code that was sent, and the folder of the user's files."""
    os.environ["NUKIDORA_CACHE"] = str(ROOT / CACHE)
    (ROOT / FILES).mkdir(exist_ok=True)
    os.chdir(ROOT / FILES)
