"""The warm-up: compile kernels to machine code on several cores, before they are first used.

Calling a kernel that is not in the cache triggers it for all kernels of the modules imported so far; ``nukidora
warm-up`` compiles all kernels of all modules. Of several programs on a machine, one compiles at a time; the others wait
and print which process they wait for.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from shutil import rmtree
from time import monotonic, sleep, time
from typing import IO, Any

from numba.core import config, event

from engine import kernel_registry
from engine.common.options import Parser, describe_error, usable_cores
from engine.common.program import FAILED, OK, interrupt_when_safe, start
from engine.machine_code import NEW, cache_root, name_of, reached

if sys.platform != "win32":
    import fcntl

PACKAGES = ("engine", "agents", "arena", "nukidora")  # with kernels; named, as this module imports none
ROOT = Path(__file__).parents[1]
COMPILE = "import sys; sys.path[:] = {path!r}; from engine.warm_up import compile_kernels; compile_kernels({names!r})"

# A rough cost model of compilation, in bytes of byte code: types are inferred once per function and process; LLVM
# optimises each kernel with everything it reaches. `python -m benchmarks.compiling` measures both.
OPTIMISING = 0.35  # relative to the cost of type inference
WORTH_A_PROCESS = 15_000  # smaller shares are not split

_lock = threading.Lock()
_off = False  # True: no further warm-up in this process
_before_first: Callable[[], None] | None = None  # if set, called instead of a warm-up
ABANDONED = 3600  # seconds after which an unfinished cache file must be left over from a killed process


class WarmUpError(Exception):
    """A compiling process has failed."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and one of its signatures, by its number."""

    dispatcher: Any
    signature: int

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """All functions that are compiled with it."""
        return reached(self.dispatcher.py_func)

    @property
    def name(self) -> tuple[str, str, int]:
        """The module, the name in it, and the number of the signature."""
        return self.dispatcher.py_func.__module__, self.dispatcher.py_func.__qualname__, self.signature


@dataclass
class Share:
    """The kernels that one process compiles."""

    kernels: list[Kernel]

    def with_more(self, kernels: Sequence[Kernel]) -> Share:
        """Return the share with more kernels added."""
        return Share([*self.kernels, *kernels])

    @cached_property
    def functions(self) -> set[Callable[..., Any]]:
        """All functions in the kernels."""
        return set[Callable[..., Any]]().union(*(kernel.functions for kernel in self.kernels))

    @cached_property
    def cost(self) -> float:
        """The cost of compiling the share, in bytes of byte code."""
        return size(self.functions) + OPTIMISING * sum(size(kernel.functions) for kernel in self.kernels)


def size(functions: Iterable[Callable[..., Any]]) -> int:
    """The size of functions, in bytes of byte code."""
    return sum(len(function.__code__.co_code) for function in functions)


def warm_up_imported() -> None:
    """Compile the kernels of all imported modules that are not in the cache.

    If that fails, a message is printed, and the caller compiles what it needs by itself. With bounds checking, a
    debugging aid, no warm-up is attempted.
    """
    global _off
    with _lock:
        if _before_first is not None:
            _before_first()
        if _off or config.BOUNDSCHECK:
            return
        try:
            compile_lacking()
        except WarmUpError as error:
            _off = True
            print(f"not everything is compiled: {error}", file=sys.stderr)
        except OSError as error:
            _off = True
            reason = f"{cache_root()} cannot be used (NUKIDORA_CACHE): {describe_error(error)}"
            print(f"compiling the rules, at every start: {reason} …", file=sys.stderr)
            kernel_registry.announce(False)


def compile_by_use(use: Callable[[], None]) -> None:
    """Compile only what `use` calls: for a program that plays one bot and has to start quickly.

    Of several such programs that start at the same time, one compiles and the others wait. Raises what `use` raises.
    """
    global _off, _before_first
    _off = True
    with ExitStack() as stack:

        @cache
        def wait() -> None:
            with suppress(OSError):  # if the cache cannot be written, each program compiles for itself
                stack.enter_context(compiling_alone())(0, 0)

        _before_first = wait
        try:
            use()
        finally:
            _before_first = None


def compile_lacking() -> int:
    """Compile our imported kernels that are not in the cache; return the number of functions.

    Raises WarmUpError, and OSError if the cache cannot be written.
    """
    if not lacking():
        return 0
    with compiling_alone() as say:
        n_functions = compile_in_processes(shares(lacking()), say)  # another program may have compiled them meanwhile
    if lacking():
        raise OSError(f"the machine code cannot be kept in {cache_root()}: is the disk full?")
    return n_functions


def lacking() -> list[Kernel]:
    """Return the kernels of all our imported modules that are not in the cache."""
    return [
        Kernel(dispatcher, number)
        for module, kernels in kernel_registry.KERNELS.items()
        for dispatcher, signatures in kernels
        for number, signature in enumerate(signatures)
        if module.split(".")[0] in PACKAGES and not dispatcher._cache.has(signature)
    ]


def shares(kernels: Sequence[Kernel]) -> list[Share]:
    """Divide kernels among as many processes as are worthwhile, so that they finish at about the same time.

    The kernels of a module stay together, since they have most of their functions in common.
    """
    modules = [Share(list(each)) for _, each in groupby(kernels, key=lambda kernel: kernel.name[0])]
    n_processes = min(usable_cores(), 1 + size(Share(list(kernels)).functions) // WORTH_A_PROCESS)
    found = [Share([])] * n_processes
    for module in sorted(modules, key=lambda share: share.cost, reverse=True):
        costs = [share.with_more(module.kernels).cost for share in found]
        number = costs.index(min(costs))
        found[number] = found[number].with_more(module.kernels)
    return [share for share in found if share.kernels]


def compile_in_processes(found: Sequence[Share], say: Callable[[int, int], None]) -> int:
    """Compile each share in its own process, with a progress display; return the number of functions.

    `say` is called with the number of functions compiled so far and the total.
    """
    if not found:
        return 0
    functions = {name_of(function) for share in found for function in share.functions}
    print(f"compiling {len(functions)} functions of the rules and the bots to machine code, once …", file=sys.stderr)
    processes = [start_process([kernel.name for kernel in share.kernels]) for share in found]
    try:
        messages: SimpleQueue[tuple[int, str | None]] = SimpleQueue()
        for number, process in enumerate(processes):
            threading.Thread(target=pass_on, args=(number, process, messages), daemon=True).start()
        show(messages, processes, functions, say)
        return len(functions)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start_process(names: Sequence[tuple[str, str, int]]) -> subprocess.Popen[str]:
    """Start a process that compiles kernels, see `compile_kernels`."""
    code = COMPILE.format(path=sys.path, names=names)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def pass_on(number: int, process: subprocess.Popen[str], messages: SimpleQueue[tuple[int, str | None]]) -> None:
    """Put each name that a process prints into the queue, and None when it ends."""
    assert process.stdout is not None
    for line in process.stdout:
        messages.put((number, line.rstrip()))
    process.wait()
    messages.put((number, None))


def show(
    messages: SimpleQueue[tuple[int, str | None]],
    processes: Sequence[subprocess.Popen[str]],
    functions: set[str],
    say: Callable[[int, int], None],
) -> None:
    """Show the progress until all processes have ended. Raises WarmUpError if one fails."""
    from engine.common.progress import Progress  # needs rich, which a packed bot does without

    compiled, running = set[str](), len(processes)
    with Progress("functions", len(functions)) as progress:
        while running:
            number, name = messages.get()
            if name is None:
                if processes[number].returncode != 0:
                    raise worker_error(processes[number])
                running -= 1
            elif name in functions - compiled:
                compiled.add(name)
                progress.advance()
                say(len(compiled), len(functions))


def worker_error(process: subprocess.Popen[str]) -> WarmUpError:
    """Return the error for a process that ended early, with the last line that it printed."""
    assert process.stderr is not None
    printed = process.stderr.read()
    return WarmUpError(f"a process that compiles ended early: {(printed.splitlines() or ['no reason given'])[-1]}")


def compile_kernels(names: Sequence[tuple[str, str, int]]) -> None:
    """Compile kernels in a process of the warm-up, and print the name of each compiled function."""
    global _off
    _off = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    kernel_registry.announce(False)
    event.register("numba:compile", _Reporter())
    gc.set_threshold(100_000)  # there is almost no garbage, and collecting it takes a tenth of the time
    for module, name, signature in names:
        import_module(module)
        for dispatcher, signatures in kernel_registry.KERNELS[module]:
            if dispatcher.py_func.__qualname__ == name:
                dispatcher.compile(signatures[signature])


class _Reporter(event.Listener):  # type: ignore[misc]
    """Prints the name of each function that has been compiled."""

    def on_start(self, event: event.Event) -> None:
        pass

    def on_end(self, event: event.Event) -> None:
        print(name_of(event.data["dispatcher"].py_func), flush=True)


@contextmanager
def compiling_alone() -> Iterator[Callable[[int, int], None]]:
    """Hold the lock under which one program at a time compiles, on systems that have file locks.

    Yields a function that reports the number of functions compiled and the total to waiting programs. Raises OSError if
    the cache cannot be written.
    """
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / "lock").open("a+b", buffering=0) as file:

        def say(done: int, total: int) -> None:
            file.truncate(0)
            file.write(json.dumps([os.getpid(), done, total, monotonic() - began]).encode())

        if sys.platform != "win32":
            wait_for(file)
        began = monotonic()
        file.truncate(0)  # the progress of the previous holder
        for new in cache_root().glob(f"{NEW}*"):
            with suppress(OSError):  # it has just been completed
                if time() - new.stat().st_mtime > ABANDONED:
                    rmtree(new, ignore_errors=True)
        yield say


def wait_for(file: IO[bytes]) -> None:
    """Lock a file. While another program holds the lock, print which one and its progress."""
    pause, next_line = 0.1, 0.0
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if monotonic() >= next_line:
                print(state_of(file), file=sys.stderr, flush=True)
                pause, next_line = min(2 * pause, 2.0), monotonic() + 10 * pause
            sleep(pause)


def state_of(file: IO[bytes]) -> str:
    """Return a message on the program that holds the lock."""
    file.seek(0)
    try:
        process, done, total, seconds = json.loads(file.read())
    except ValueError:  # it has just started
        return "waiting for another program, which begins to compile the rules and the bots …"
    left = f", about {seconds * (total - done) / done:.0f} s left" if done else ""
    of_all = f": {done} of {total} functions{left}" if total else ""
    return f"waiting for process {process}, which compiles the rules and the bots{of_all} …"


def modules_with_kernels() -> list[str]:
    """Return the names of all our modules with kernels."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    found = [path.relative_to(ROOT) for path in paths if "\n@kernel(" in path.read_text(encoding="utf-8")]
    return [".".join(path.with_suffix("").parts) for path in found]


def import_if_possible(module: str) -> None:
    """Import a module, unless it needs a package that is missing or broken; using it then reports the error.

    Raises ImportError if one of our own modules is missing.
    """
    try:
        import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] in PACKAGES:
            raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Warm up, and return the exit code."""
    parser = Parser("engine.warm_up", description="Compiles the rules and all bots to machine code, once.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="compile only what these need, such as arena.run")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, interrupt_when_safe)  # a shell ignores Ctrl-C for what it starts with &
    if config.DISABLE_JIT:
        parser.error("NUMBA_DISABLE_JIT is set: nothing is ever compiled")
    began = monotonic()
    try:
        for module in options.modules or modules_with_kernels():
            import_if_possible(module)
        n_functions = compile_lacking()
    except (WarmUpError, OSError, ImportError) as error:
        print(f"{parser.short_name}: {describe_error(error)}", file=sys.stderr)
        return FAILED
    if n_functions:
        print(f"compiled {n_functions} functions in {monotonic() - began:.0f} s; the machine code is in {cache_root()}")
    else:
        print(f"nothing to compile: the machine code of this version is in {cache_root()}")
    return OK


if __name__ == "__main__":
    sys.exit(start("engine.warm_up:main"))
