"""A worker on a machine of a cluster: what runs in the processes that Ray starts there.

Ray has unpacked the package (`engine.common.cluster_package`), of which this module is a part. Nothing is
imported here that needs more than the standard library: where compiled code is cached must be set before any of it is
imported.
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
    """An update of a task that sends another after it."""

    value: Any


@dataclass(frozen=True, slots=True)
class Done:
    """A task is done; ``updates``: its last update, none if it had none."""

    updates: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker could not be opened, or a task has raised ``error``."""

    error: Exception


class Worker:
    """Does what `engine.common.workers._serve` does in a process of a local pool."""

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
        """Run a pickled task; yields pickled messages, as Ray itself would make arrays that cannot be written.

        The last update comes with the news that the task is done: the parent gets both or neither.
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
        """Show that the worker lives."""

    def close(self) -> None:
        """Leave the context manager."""
        self._stack.close()


def error_message(error: Exception) -> Failed:
    """The message of an error that has just been raised."""
    return Failed(picklable(error))


def settle() -> None:
    """Make the package ready for use: the machine code that was sent, and the folder of the user's files."""
    os.environ["NUKIDORA_CACHE"] = str(ROOT / CACHE)
    (ROOT / FILES).mkdir(exist_ok=True)
    os.chdir(ROOT / FILES)
