"""How rule code becomes machine code, and where the result is kept.

Two decorators, one for each kind of compiled function:

* ``@inner``: called by other compiled functions only. Not cached by itself and without a Python wrapper,
  which makes a full compile a third shorter.
* ``@kernel``: called from Python. Its machine code, with everything it calls, is cached on disk.

numba checks only the file of the cached function, not the files of what that function calls. So the cache lives in a
folder named by a hash of *all* sources that could have been compiled in: change one of them and a new folder is used.

With ``NUMBA_DISABLE_JIT=1`` both decorators leave the functions as plain Python, with identical results.
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
    np.seterr(over="ignore")  # 64-bit words wrap around, as in compiled code, without a warning each time
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def cache_root() -> Path:
    """Folder of all compiled code: ``$NUKIDORA_CACHE``, else `nukidora` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    own = os.environ.get("NUKIDORA_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nukidora"


@cache
def cache_folder(package: Path) -> Path:
    """The cache folder for compiled code of `package` (a source folder): a hash of that code and the engine's."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {numba.config.BOUNDSCHECK}".encode())
    for folder in sorted({ENGINE, package}):
        for source in sorted([*folder.rglob("*.py"), *folder.rglob("*.npz")]):
            digest.update(str(source.relative_to(folder)).encode())
            digest.update(source.read_bytes())
    return cache_root() / digest.hexdigest()[:16]


def top_package(source: Path) -> Path:
    """The outermost folder around `source` that is still a Python package."""
    folder = source.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def inner(function: F) -> F:
    """Compile `function` for use inside other compiled functions."""
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """Compile `function` for calls from Python and keep the machine code on disk."""
    if numba.config.DISABLE_JIT:
        return function
    before = numba.config.CACHE_DIR
    folder = cache_folder(top_package(Path(function.__code__.co_filename)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numba.config.CACHE_DIR = str(folder)  # read once, while decorating: other packages keep their own folder
        return njit(**OPTIONS, cache=True)(function)  # type: ignore[no-any-return]
    except (OSError, RuntimeError):  # nowhere to write
        _announcer.text = f"compiling the rules, at every start: {cache_root()} cannot be written (NUKIDORA_CACHE) …"
        return njit(**OPTIONS)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


class _Announcer(event.Listener):
    """Says once what the wait is about when something has to be compiled."""

    def __init__(self) -> None:
        self.text = "compiling the rules once, this takes less than a minute …"
        self.said = False

    def on_start(self, event: event.Event) -> None:
        if not self.said and sys.stderr is not None:
            self.said = True
            print(self.text, file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


_announcer = _Announcer()
event.register("numba:compile", _announcer)
