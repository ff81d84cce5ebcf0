"""The kernels of all modules that have been imported; `engine.compiling.kernel` enters them here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numba.core import event

from engine.machine_code import name_of

KERNELS: dict[str, list[tuple[Any, list[tuple[Any, ...]]]]] = {}  # module -> its kernels with their signatures


def compile_imported() -> None:
    """Compile, or load from the cache, all kernels of the modules that have been imported."""
    for dispatcher, signature in imported():
        dispatcher.compile(signature)


def cached_files() -> list[Path]:
    """The files of the cache that have the kernels of the modules that have been imported, as far as they exist."""
    kernels = [(dispatcher._cache, signature) for dispatcher, signature in imported()]
    return sorted({cache.path(signature) for cache, signature in kernels if cache.has(signature)})


def imported() -> list[tuple[Any, tuple[Any, ...]]]:
    """The kernels of all modules that have been imported, once for each signature."""
    found = [each for kernels in KERNELS.values() for each in kernels]
    return [(dispatcher, signature) for dispatcher, signatures in found for signature in signatures]


class _Announcer(event.Listener):
    """Says why the program pauses when a kernel has to be compiled that the warm-up has not compiled.

    Not of functions that another package compiles with numba.
    """

    def __init__(self) -> None:
        self.on = True
        self._depth = 0

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if self._depth == 0 and self.on and function.__module__ in KERNELS and sys.stderr is not None:
            print(f"compiling {name_of(function)} …", file=sys.stderr, flush=True)
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1


_announcer = _Announcer()
event.register("numba:compile", _announcer)


def announce(on: bool) -> None:
    """Whether to print what is compiled; at first it is printed."""
    _announcer.on = on
