"""The registry of the kernels of all imported modules, filled by `engine.compiling.kernel`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numba.core import event

from engine.machine_code import name_of

KERNELS: dict[str, list[tuple[Any, list[tuple[Any, ...]]]]] = {}  # module -> its kernels with their signatures


def compile_imported() -> None:
    """Compile all kernels of the imported modules, or load them from the cache."""
    for dispatcher, signature in imported():
        dispatcher.compile(signature)


def cached_files() -> list[Path]:
    """Return the existing cache files of the kernels of all imported modules."""
    kernels = [(dispatcher._cache, signature) for dispatcher, signature in imported()]
    return sorted({cache.path(signature) for cache, signature in kernels if cache.has(signature)})


def imported() -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the kernels of all imported modules, once for each signature."""
    found = [each for kernels in KERNELS.values() for each in kernels]
    return [(dispatcher, signature) for dispatcher, signatures in found for signature in signatures]


class _Announcer(event.Listener):
    """Prints why the program pauses when a kernel that the warm-up has missed is compiled.

    Functions that other packages compile with numba are ignored.
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
    """Set whether compilations are printed; the default is True."""
    _announcer.on = on
