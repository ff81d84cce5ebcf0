"""Compilation with numba: the two decorators of compiled functions, and the cache of their machine code.

Two decorators, one for each kind of compiled function:

* ``@inner``: called only by other compiled functions. It is not cached by itself and has no Python wrapper, which
  shortens a full compilation by a third.
* ``@kernel(…)``: called from Python, with arguments of the types given. Its machine code, including everything it
  calls, is cached on disk; `engine.warm_up` fills the cache with all kernels at once.

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
from typing import Any, TypeAlias, TypeVar

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


def array_of(dtype: np.dtype[Any]) -> numba.types.Type:
    """The type of an argument that is an array of records, for `kernel`."""
    return numba.typeof(np.empty(0, dtype=dtype))


Signature: TypeAlias = str | tuple[numba.types.Type, ...]
DECORATED: list[str] = []  # names of all compiled functions that have been imported
KERNELS: dict[str, list[tuple[Any, list[tuple[Any, ...]]]]] = {}  # module -> its kernels with their signatures
# What the text of a signature may name. const(…) is an array that may be read only.
TYPES = vars(numba.types) | {"const": lambda array: array.copy(readonly=True)}


def inner(function: F) -> F:
    """Compile `function` for calls from other compiled functions."""
    DECORATED.append(name_of(function))
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def kernel(*signatures: Signature) -> Callable[[F], F]:
    """Compile a function for calls from Python, and cache the machine code on disk.

    ``signatures``: the types of the arguments as numba writes them, such as ``"uint8[::1], int64"``, one signature or
    several. A call with other types raises TypeError, so that everything can be compiled in advance.
    """
    if callable(signatures[0]):
        raise TypeError('@kernel takes signatures: @kernel("uint8[::1], int64"), or @kernel(DECIDE) for a bot')
    parsed = [parse_signature(signature) for signature in signatures]

    def decorate(function: F) -> F:
        if numba.config.DISABLE_JIT:
            return function
        DECORATED.append(name_of(function))
        dispatcher = _cached(function)
        _restrict(dispatcher, parsed)
        KERNELS.setdefault(function.__module__, []).append((dispatcher, parsed))
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def compile_imported() -> None:
    """Compile, or load from the cache, all kernels of the modules that have been imported."""
    for dispatcher, signatures in [found for kernels in KERNELS.values() for found in kernels]:
        for signature in signatures:
            dispatcher.compile(signature)


def parse_signature(signature: Signature) -> tuple[Any, ...]:
    """The numba types of a signature."""
    return eval(f"({signature},)", TYPES) if isinstance(signature, str) else signature


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in messages."""
    return f"{function.__module__}.{function.__qualname__}"


def _cached(function: Callable[..., Any]) -> Any:
    """A numba dispatcher with a cache on disk, or without one where the folder cannot be written."""
    before = numba.config.CACHE_DIR
    folder = cache_folder_of(function)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numba.config.CACHE_DIR = str(folder)  # numba reads it while decorating; restored below for other packages
        return njit(**OPTIONS, cache=True)(function)
    except (OSError, RuntimeError):  # the folder cannot be written
        _announcer.text = f"compiling the rules, at every start: {cache_root()} cannot be written (NUKIDORA_CACHE) …"
        return njit(**OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


def _restrict(dispatcher: Any, signatures: list[tuple[Any, ...]]) -> None:
    """Let `dispatcher` compile for `signatures` only, and warm up before the first of all compilations."""
    compile_signature = dispatcher.compile

    def compile_declared(signature: tuple[Any, ...]) -> Any:
        if tuple(signature) not in signatures:
            texts = " or ".join(f"({', '.join(map(str, types))})" for types in signatures)
            given = ", ".join(map(str, signature))
            raise TypeError(f"{name_of(dispatcher.py_func)} takes {texts}, not ({given})")
        if _announcer.text == ONCE:
            from engine.warm_up import warm_up_once

            warm_up_once()
        return compile_signature(tuple(signature))

    dispatcher.compile = compile_declared


ONCE = "compiling {} …"


class _Announcer(event.Listener):
    """Says why the program pauses when something has to be compiled that the warm-up has not compiled."""

    def __init__(self) -> None:
        self.text = ONCE
        self.silent = False
        self._depth = 0

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0 and not self.silent and sys.stderr is not None:
            print(self.text.format(name_of(event.data["dispatcher"].py_func)), file=sys.stderr, flush=True)
            self.silent = self.text != ONCE
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1


_announcer = _Announcer()
event.register("numba:compile", _announcer)


def announce(on: bool) -> None:
    """Whether to print what is compiled; at first it is printed."""
    _announcer.silent = not on
