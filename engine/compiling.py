"""Compilation with numba: the two decorators of compiled functions.

* ``@inner``: called only by other compiled functions. It is compiled as a part of the kernels that reach it.
* ``@kernel(…)``: called from Python, with arguments of the types given. Its machine code, including everything it
  calls, is cached on disk (`engine.machine_code`).

When a kernel that is not in the cache is first called, `engine.warm_up` compiles all kernels of the modules imported so
far, on several cores.

With ``NUMBA_DISABLE_JIT=1`` the functions stay plain Python, with identical results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
from numba import njit

from engine.kernel_registry import KERNELS
from engine.machine_code import InnerCompiler, KernelCache, KernelCompiler, name_of

F = TypeVar("F", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # 64-bit integers wrap around, as in compiled code; numpy would warn
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def array_of(dtype: np.dtype[Any]) -> numba.types.Type:
    """Return the type of an array-of-records argument, for `kernel`."""
    return numba.typeof(np.empty(0, dtype=dtype))


Signature: TypeAlias = str | tuple[numba.types.Type, ...]
# The names that the text of a signature may use. const(…) is a read-only array.
TYPES = vars(numba.types) | {"const": lambda array: array.copy(readonly=True)}


def inner(function: F) -> F:
    """Compile `function` for calls from other compiled functions."""
    options = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
    return njit(**options)(function)  # type: ignore[no-any-return]


def kernel(*signatures: Signature) -> Callable[[F], F]:
    """Compile a function for calls from Python, and cache the machine code on disk.

    ``signatures``: one or more signatures, the argument types in numba's notation, such as ``"uint8[::1], int64"``. A
    call with other types raises TypeError, so that everything can be compiled in advance.
    """
    if callable(signatures[0]):
        raise TypeError('@kernel takes signatures: @kernel("uint8[::1], int64"), or @kernel(DECIDE) for a bot')
    parsed = [eval(f"({each},)", TYPES) if isinstance(each, str) else each for each in signatures]

    def decorate(function: F) -> F:
        if numba.config.DISABLE_JIT:
            return function
        dispatcher = njit(**OPTIONS, pipeline_class=KernelCompiler)(function)
        dispatcher._cache = KernelCache(function, OPTIONS)
        _restrict(dispatcher, parsed)
        KERNELS.setdefault(function.__module__, []).append((dispatcher, parsed))
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def _restrict(dispatcher: Any, signatures: list[tuple[Any, ...]]) -> None:
    """Restrict `dispatcher` to `signatures`, and warm up before it compiles anything that is not in the cache."""
    compile_signature = dispatcher.compile

    def compile_declared(signature: tuple[Any, ...]) -> Any:
        signature = tuple(signature)
        if signature not in signatures:
            texts = " or ".join(f"({', '.join(map(str, types))})" for types in signatures)
            given = ", ".join(map(str, signature))
            raise TypeError(f"{name_of(dispatcher.py_func)} takes {texts}, not ({given})")
        if signature not in dispatcher.overloads and not dispatcher._cache.has(signature):
            from engine.warm_up import warm_up_imported  # imported late: rarely needed

            warm_up_imported()
        return compile_signature(signature)

    dispatcher.compile = compile_declared
