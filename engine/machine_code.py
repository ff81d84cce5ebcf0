"""Machine code: how inner functions and kernels are compiled with numba, and the cache of kernels on disk.

By default numba optimises each function together with everything it calls and generates machine code for it, and does
so again for each of its callers. An inner function is never called from Python, so here it stays LLVM IR
(`InnerLibrary`) until a kernel is compiled; then the kernel and everything it reaches are optimised together, once.

The machine code of a kernel is cached under a hash of its contents: the byte code of all functions that it reaches and
the constants that they read, the sources of the packages of intrinsics, the versions of Python, numba and LLVM, and the
processor. The location of the sources and their other contents make no difference.
"""

from __future__ import annotations

import glob
import hashlib
import io
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba.core import codegen, compiler, config, environment, serialize
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.typing.templates import builtin_registry

FIXED = ("numpy", "numba", "math")  # packages whose versions, and with them contents, are part of the platform
NEW = ".new-"  # prefix of folders with files that are being written
VARIANTS = 64  # files kept for kernels of the same name, such as those of several branches of the sources


def cache_root() -> Path:
    """Return the cache folder: ``$NUKIDORA_CACHE``, else `nukidora` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    own = os.environ.get("NUKIDORA_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nukidora"


class Library(JITCodeLibrary):
    """A code library that links everything its functions reach, not only what they call directly."""

    def add_linking_library(self, library: Any) -> None:
        """Link a library; of an inner library, also the libraries that it depends on."""
        super().add_linking_library(library)
        if isinstance(library, InnerLibrary):
            self._linking_libraries[:] = dict.fromkeys(self._linking_libraries + library._linking_libraries)


class InnerLibrary(Library):
    """The LLVM IR of an inner function, which is neither optimised nor compiled to machine code separately."""

    # `CPUContext.get_executable` sets a variable in the machine code of a function; there is none yet.
    codegen = property(lambda self: SimpleNamespace(set_env=lambda name, environment: None))

    def finalize(self) -> None:
        """Finish the library without optimising it."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the null pointer, as Python cannot call the function."""
        return 0


class KernelLibrary(Library):
    """The machine code of a kernel and of everything it reaches."""

    def finalize(self) -> None:
        """Optimise, generate machine code, and set the environments of its functions, which numba does only later."""
        super().finalize()
        for variable in self._final_module.global_variables:
            name = variable.name
            if name.startswith("_ZN08NumbaEnv") and (found := environment.lookup_environment(name)):
                self.codegen.set_env(name, found)


class InnerCompiler(compiler.CompilerBase):
    """Compiles inner functions, for ``@njit(pipeline_class=…)``."""

    library = InnerLibrary

    def define_pipelines(self) -> list[Any]:
        """Return the passes of ``@njit``, with our own code library."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)]


class KernelCompiler(InnerCompiler):
    """Compiles kernels."""

    library = KernelLibrary


class KernelUnpickler(pickle.Unpickler):
    """Unpickles a cache file without importing the module that it was compiled from, which may have moved."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the object that the file names; environments of compiled code are made by `environment_of`."""
        return environment_of if name == environment._rebuild_env.__name__ else super().find_class(module, name)


def environment_of(module: str, constants: list[Any], name: str) -> environment.Environment:
    """Return the environment of this name: the Python objects that compiled code may use, such as its exceptions."""
    found = environment.lookup_environment(name)
    if found is None:
        found = environment.Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
    return found


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in messages."""
    return f"{function.__module__}.{function.__qualname__}"


class KernelCache(_Cache):
    """The machine code of one kernel on disk, one file for each signature; set as a dispatcher's ``_cache``."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self._function, self._options = function, options

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(cache_root())

    def path(self, signature: tuple[Any, ...]) -> Path:
        """Return the path of the machine code for ``signature``, which need not exist."""
        content = f"{platform()} {text_of_options(self._options)} {content_of(self._function)} {signature}"
        return cache_root() / f"{self._function.__qualname__}-{hashlib.sha256(content.encode()).hexdigest()[:24]}"

    def has(self, signature: tuple[Any, ...]) -> bool:
        """Return whether the file exists in an accessible folder; it may be damaged."""
        with suppress(OSError):
            return self.path(signature).exists()
        return False

    def load_overload(self, signature: tuple[Any, ...], target_context: Any) -> Any:
        """Return the compiled kernel, or None, so that it is compiled anew, if the file is missing or unreadable."""
        rtsys.initialize(target_context)  # the only part of `refresh` that is needed; the rest imports a lot
        try:
            path = self.path(signature)
            data = path.read_bytes()
            with suppress(OSError):
                path.touch()  # recently used files are kept
            return compiler.CompileResult._rebuild(target_context, *KernelUnpickler(io.BytesIO(data)).load())
        except (OSError, EOFError, pickle.UnpicklingError, ImportError):
            return None

    def save_overload(self, signature: tuple[Any, ...], compiled: Any) -> None:
        """Write the file. If that fails, the kernel is compiled at every start."""
        assert not compiled.library.has_dynamic_globals, "a global array of more than a megabyte cannot be cached"
        data = serialize.dumps(compiled._reduce())
        path = self.path(signature)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=NEW) as folder:  # gone if the disk is full
                new = Path(folder) / path.name
                new.write_bytes(data)
                new.replace(path)
            name = glob.escape(self._function.__qualname__)
            variants = sorted(path.parent.glob(f"{name}-*"), key=lambda file: file.stat().st_mtime)
            for old in variants[:-VARIANTS]:
                old.unlink()

    def enable(self) -> None:
        """Nothing: the cache is always on."""

    def disable(self) -> None:
        """Nothing: the cache is always on."""

    def flush(self) -> None:
        """Nothing: the files of other contents have other names."""


@cache
def platform() -> str:
    """Return everything that machine code depends on besides its source, this module included."""
    versions = (sys.version, numba.__version__, codegen.ll.llvm_version_info, np.__version__)
    options = (config.BOUNDSCHECK, str(config.OPT), config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
    target = cpu_target.target_context.codegen().magic_tuple()
    return repr((versions, options, target, hashlib.sha256(Path(__file__).read_bytes()).hexdigest()))


@cache
def content_of(kernel: Callable[..., Any]) -> str:
    """Return a hash of a kernel that is not compiled yet and of all functions that it reaches."""
    return hashlib.sha256("".join(own_content(function)[0] for function in reached(kernel)).encode()).hexdigest()


@cache
def reached(kernel: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Return the Python functions that are compiled into a kernel, the kernel first; a superset of those needed."""
    found = {kernel: None}
    queue = [kernel]
    for function in queue:
        for callee in own_content(function)[1]:
            if callee not in found:
                found[callee] = None
                queue.append(callee)
    return tuple(found)


@cache
def own_content(function: Callable[..., Any]) -> tuple[str, tuple[Callable[..., Any], ...]]:
    """Return a hash of a function's code and of the constants that it reads, and the functions that it may call."""
    assert isinstance(function, FunctionType)
    # Not by module name: pytest imports modules of namespace packages again under other names.
    digest = hashlib.sha256(function.__qualname__.encode())
    callees: list[Callable[..., Any]] = []
    names = set[str]()  # globals, and attributes
    for code in codes_of(function.__code__):
        names.update(code.co_names)
        constants = [each for each in code.co_consts if not isinstance(each, CodeType) and each != function.__doc__]
        flow = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount)
        digest.update(repr((flow, [text_of_constant(each) for each in constants])).encode())
    values = {name: function.__globals__[name] for name in sorted(names & function.__globals__.keys())}
    values |= dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ())))
    values["defaults"] = function.__defaults__
    for name, value in values.items():
        for text in texts_of(value, names, callees, f"{name_of(function)}: {name}"):
            digest.update(f"{name} {text}\n".encode())
    return digest.hexdigest(), tuple(callees)


@cache
def sources_of(package: Path) -> str:
    """Return a hash of the modules of a package: any of their functions may write the LLVM IR of its intrinsics."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(package.glob("*.py")))).hexdigest()


def is_jitable(function: FunctionType) -> bool:
    """Whether compiled code may call a plain function: `numba.extending.register_jitable` has registered it."""
    own = function.__module__.split(".")[0] not in FIXED
    return own and any(known is function for known, _ in builtin_registry.globals)


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A code object and those nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def text_of_constant(value: Any) -> str:
    """Return a constant of the byte code as text. The order of a frozenset differs from process to process."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def text_of_options(options: Mapping[str, Any]) -> str:
    """Return the options that a function is compiled with as text."""
    return repr(sorted((name, repr(value)) for name, value in options.items()))


def texts_of(value: Any, names: set[str], callees: list[Callable[..., Any]], where: str) -> Iterator[str]:
    """Yield texts that identify a global value. Functions are added to ``callees``; their contents are left out.

    ``names``: the names that the function uses; of a module, only the attributes with these names count.
    Raises TypeError if no text can identify the value.
    """
    if isinstance(value, Dispatcher):
        callees.append(value.py_func)
        yield f"{value.py_func.__qualname__} {text_of_options(value.targetoptions)}"
    elif isinstance(value, ModuleType):
        for name in sorted(names & vars(value).keys()):
            attribute = getattr(value, name)
            if not isinstance(attribute, ModuleType) or attribute.__name__.split(".")[0] not in FIXED:
                yield from texts_of(attribute, names, callees, f"{where}.{name}")
    elif isinstance(value, FunctionType) and is_jitable(value):
        callees.append(value)
        yield value.__qualname__
    elif isinstance(value, _Intrinsic) and value._defn.__module__.split(".")[0] not in FIXED:
        yield f"{value._defn.__qualname__} {sources_of(Path(value._defn.__code__.co_filename).parent)}"
    elif isinstance(value, tuple | list):
        yield f"{type(value).__name__} of {len(value)} {getattr(value, '_fields', '')}"
        for element in value:
            yield from texts_of(element, names, callees, where)
    elif isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        yield f"{array.dtype.descr} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    elif isinstance(value, np.dtype):
        yield f"{value!r} {value.itemsize}"
    elif value is None or isinstance(value, int | float | complex | str | bytes | np.generic | numba.types.Type):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, type) and issubclass(value, Enum):
        yield repr([(name, member.value) for name, member in value.__members__.items()])
    elif isinstance(value, type) or callable(value):  # of Python, numpy or numba
        yield f"{getattr(value, '__qualname__', value)} {getattr(value, '_fields', '')}"
    else:
        raise TypeError(f"{where} is a {type(value).__name__}, and compiled code may read no such global value")
