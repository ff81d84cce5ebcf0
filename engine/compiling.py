"""Compilation with numba: the two decorators of compiled functions.

* ``@inner``: called only by other compiled functions. It is compiled as a part of the kernels that reach it.
* ``@kernel(…)``: called from Python, with arguments of the types given. Its machine code, including everything it
  calls, is cached on disk (`engine.machine_code`).

When a kernel is first called that is not in the cache, `engine.warm_up` compiles all kernels of the modules that have
been imported, on several cores.

With ``NUMBA_DISABLE_JIT=1`` the functions stay plain Python, with identical results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
from numba import njit
from numba.core import event

from engine.machine_code import InnerCompiler, KernelCache, KernelCompiler, name_of

F = TypeVar("F", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # 64-bit integers wrap around, as in compiled code; numpy would warn
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def array_of(dtype: np.dtype[Any]) -> numba.types.Type:
    """The type of an argument that is an array of records, for `kernel`."""
    return numba.typeof(np.empty(0, dtype=dtype))


Signature: TypeAlias = str | tuple[numba.types.Type, ...]
KERNELS: dict[str, list[tuple[Any, list[tuple[Any, ...]]]]] = {}  # module -> its kernels with their signatures
# What the text of a signature may name. const(…) is an array that may be read only.
TYPES = vars(numba.types) | {"const": lambda array: array.copy(readonly=True)}


def inner(function: F) -> F:
    """Compile `function` for calls from other compiled functions."""
    options = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
    return njit(**options)(function)  # type: ignore[no-any-return]


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
        dispatcher = njit(**OPTIONS, pipeline_class=KernelCompiler)(function)
        dispatcher._cache = KernelCache(function, OPTIONS)
        _restrict(dispatcher, parsed)
        KERNELS.setdefault(function.__module__, []).append((dispatcher, parsed))
        return dispatcher  # type: ignore[no-any-return]

    return decorate


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


def parse_signature(signature: Signature) -> tuple[Any, ...]:
    """The numba types of a signature."""
    return eval(f"({signature},)", TYPES) if isinstance(signature, str) else signature


def _restrict(dispatcher: Any, signatures: list[tuple[Any, ...]]) -> None:
    """Let `dispatcher` compile for `signatures` only, and warm up before it compiles what the cache lacks."""
    compile_signature = dispatcher.compile

    def compile_declared(signature: tuple[Any, ...]) -> Any:
        signature = tuple(signature)
        if signature not in signatures:
            texts = " or ".join(f"({', '.join(map(str, types))})" for types in signatures)
            given = ", ".join(map(str, signature))
            raise TypeError(f"{name_of(dispatcher.py_func)} takes {texts}, not ({given})")
        if signature not in dispatcher.overloads and not dispatcher._cache.has(signature):
            from engine.warm_up import warm_up_imported

            warm_up_imported()
        return compile_signature(signature)

    dispatcher.compile = compile_declared


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
