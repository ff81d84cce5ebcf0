"""Compilation with numba: the two decorators of compiled functions, and the cache of their machine code.

Two decorators, one for each kind of compiled function:

* ``@inner``: called only by other compiled functions. It is not cached by itself and has no Python wrapper, which
  shortens a full compilation by a third.
* ``@kernel``: called from Python. Its machine code, including everything it calls, is cached on disk.

numba notices a change only in the file of the cached function, not in the files of the functions it calls. Therefore
the name of the cache folder is a hash of *all* sources that can have been compiled: a change leads to a new folder.

With ``NUMBA_DISABLE_JIT=1`` the functions stay plain Python, with identical results.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import njit
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

ENGINE = Path(__file__).parent
if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # 64-bit integers wrap around, as in compiled code; numpy would warn
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def cache_root() -> Path:
    """Folder of all caches: ``$NUKIDORA_CACHE``, else `nukidora` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    own = os.environ.get("NUKIDORA_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nukidora"


@cache
def cache_folder(package: Path, recursive: bool = True) -> Path:
    """The cache folder of `package` (a source folder), named by a hash of its sources and the engine's."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {numba.config.BOUNDSCHECK}".encode())
    for folder in sorted({ENGINE, package}):
        files = "**/*" if recursive or folder == ENGINE else "*"
        for source in sorted([*folder.glob(files + ".py"), *folder.glob(files + ".npz")]):
            digest.update(str(source.relative_to(folder)).encode())
            digest.update(source.read_bytes())
    return cache_root() / digest.hexdigest()[:16]


def cache_folder_of(function: Callable[..., Any]) -> Path:
    """The cache folder of a function: that of its top-level package, or of the folder of a module outside packages."""
    source, module = Path(function.__code__.co_filename), function.__module__
    if source.stem == "__init__":
        module += ".__init__"
    depth = module.count(".")
    return cache_folder(source.parents[max(depth - 1, 0)], recursive=depth > 0)


def inner(function: F) -> F:
    """Compile `function` for calls from other compiled functions."""
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """Compile `function` for calls from Python, and cache the machine code on disk."""
    if numba.config.DISABLE_JIT:
        return function
    before = numba.config.CACHE_DIR
    folder = cache_folder_of(function)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numba.config.CACHE_DIR = str(folder)  # numba reads it while decorating; restored below for other packages
        return njit(**OPTIONS, cache=True)(function)  # type: ignore[no-any-return]
    except (OSError, RuntimeError):  # the folder cannot be written
        _announcer.text = f"compiling the rules, at every start: {cache_root()} cannot be written (NUKIDORA_CACHE) …"
        return njit(**OPTIONS)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


class _Announcer(event.Listener):
    """Prints once why the program pauses when something has to be compiled."""

    def __init__(self) -> None:
        self.text = "compiling the rules once, this takes less than a minute …"
        self.printed = False

    def on_start(self, event: event.Event) -> None:
        if not self.printed and sys.stderr is not None:
            self.printed = True
            print(self.text, file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


_announcer = _Announcer()
event.register("numba:compile", _announcer)
