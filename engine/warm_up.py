"""The warm-up: compiles the rules and all bots to machine code, on several cores, before anything is first used.

It happens by itself when a kernel is first called and the cache of this version is not complete, and by
``nukidora warm-up``. The kernels of two parts call mostly different functions, so that two processes compile them in
little more than half the time.
"""

from __future__ import annotations

import hashlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from numba.core import config, event
from numba.core.registry import cpu_target

from engine import compiling
from engine.common.options import Parser, describe_error, usable_cores
from engine.common.program import FAILED, OK, start

if sys.platform != "win32":
    import fcntl

# Modules with kernels, named rather than imported: this package imports nothing from the others. Each part is compiled
# by a process of its own.
PARTS = (
    ("engine.kernels", "engine.mjai.view_updates", "arena.bot_games", "arena.luck", "arena.tallies.rounds"),
    (
        "agents.bots.rule.bot",
        "agents.bots.efficiency",
        "agents.bots.tsumogiri",
        "agents.bots.yaku.bot",
        "agents.strength.dial",
        "agents.linear.kernels",
        "agents.linear.losses",
        "engine.shanten",
        "engine.scoring.points",
        "engine.scoring.batch",
        "agents.bert.encoding",
        "agents.bert.labels",
        "agents.bert.symmetries",
        "agents.bert.bot",
        "agents.bert.training.targets.rollouts",
        "agents.bert.training.data.collect",
        "agents.bert.training.data.dataset",
        "agents.cnn.planes",
        "agents.playouts.playouts",
        "agents.playouts.quick",
        "agents.playouts.value",
        "agents.search.tree",
        "agents.search.fit",
        "agents.residual.features",
        "agents.selfplay.features",
        "agents.rl.bot",
        "agents.rl.policy",
        "agents.rl.situation",
        "agents.rl.oracle",
        "agents.rl.learning",
        "nukidora.envs.observations",
    ),
)
PACKAGES = ("engine", "agents", "arena", "nukidora")
COMPILE = "import sys; sys.path[:] = {path!r}; from engine.warm_up import compile_modules; compile_modules({modules!r})"

_lock = threading.Lock()
_checked = False


class WarmUpError(Exception):
    """A process that compiles has failed."""


def stamp() -> Path:
    """The file that says that the cache holds everything, for these sources, where they lie, and this processor."""
    digest = hashlib.sha256(f"{compiled_for()} {compiling.ENGINE}".encode()).hexdigest()[:16]
    return compiling.cache_folder(compiling.ENGINE) / f"complete-{digest}"


def compiled_for() -> str:
    """What machine code depends on, wherever the sources lie: their contents, packages, and the processor."""
    folders = [compiling.cache_folder(compiling.ENGINE.parent / package).name for package in PACKAGES]
    target = cpu_target.target_context.codegen().magic_tuple()
    extras = [find_spec(package) is not None for package in ("onnxruntime", "torch", "gymnasium")]  # of some modules
    return repr((folders, extras, target))


def warm_up_once() -> None:
    """Warm up if the cache is not complete. Does nothing from the second call on, and while warming up.

    With bounds checked, which is for finding faults, only what is called is compiled.
    """
    global _checked
    with _lock:
        if _checked or config.BOUNDSCHECK:
            return
        _checked = True
        try:
            warm_up()
        except (WarmUpError, OSError) as error:  # the caller compiles what it needs
            print(f"not everything is compiled: {describe_error(error)}", file=sys.stderr)


def compile_by_use(use: Callable[[], None]) -> None:
    """Compile what `use` calls, and no more: for a program that plays one bot and is to start soon.

    Of several such programs that start at the same time, one compiles and the others wait. Raises what `use` raises.
    """
    global _checked
    _checked = True
    folder = compiling.cache_folder(compiling.ENGINE)
    with ExitStack() as stack:
        with suppress(OSError):  # the cache cannot be written: each compiles for itself
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_exclusive(folder / "lock"))
        use()


def warm_up() -> int:
    """Compile what the cache lacks, with progress on stderr; returns the number of functions, 0 if nothing lacked.

    Raises WarmUpError, and OSError if the cache cannot be written. Of several programs that start at the same time,
    one compiles and the others wait.
    """
    if stamp().exists():
        return 0
    compiling.cache_folder(compiling.ENGINE).mkdir(parents=True, exist_ok=True)
    with _exclusive(compiling.cache_folder(compiling.ENGINE) / "lock"):
        if stamp().exists():
            return 0
        text = "compiling the rules and the bots to machine code, once; with two cores this takes one to two minutes …"
        print(text, file=sys.stderr)
        n_functions = _compile_parts()
        stamp().touch()
        return n_functions


def _compile_parts() -> int:
    """Compile each part in a process of its own, with progress; returns the number of functions."""
    parts = PARTS if usable_cores() > 1 else (sum(PARTS, ()),)
    processes = [_start(modules) for modules in parts]
    try:
        functions = {name for process in processes for name in _function_names(process)}
        messages: queue.SimpleQueue[str | subprocess.Popen[str]] = queue.SimpleQueue()
        for process in processes:
            threading.Thread(target=_pass_on, args=(process, messages), daemon=True).start()
        return _show(messages, len(processes), functions)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _start(modules: Sequence[str]) -> subprocess.Popen[str]:
    code = COMPILE.format(path=sys.path, modules=modules)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _failed(process: subprocess.Popen[str]) -> WarmUpError:
    """The error of a process that has ended early, with the last line that it printed."""
    process.kill()
    _, printed = process.communicate()
    return WarmUpError(f"a process that compiles ended early: {(printed.splitlines() or ['no reason given'])[-1]}")


def _function_names(process: subprocess.Popen[str]) -> list[str]:
    """The names of all functions of a process, which it prints first. Raises WarmUpError."""
    assert process.stdout is not None
    try:
        return list(json.loads(process.stdout.readline()))
    except ValueError as error:
        raise _failed(process) from error


def _pass_on(process: subprocess.Popen[str], messages: queue.SimpleQueue[str | subprocess.Popen[str]]) -> None:
    """Put the names that a process prints into the queue, and at its end the process."""
    assert process.stdout is not None
    for line in process.stdout:
        messages.put(line.rstrip())
    process.wait()
    messages.put(process)


def _show(messages: queue.SimpleQueue[str | subprocess.Popen[str]], n_processes: int, functions: set[str]) -> int:
    """Show the progress until all processes have ended; returns the number of functions. Raises WarmUpError."""
    from engine.common.progress import Progress  # needs rich, which a packed bot does without

    compiled: set[str] = set()
    with Progress("functions", len(functions)) as progress:
        while n_processes:
            message = messages.get()
            if isinstance(message, str):
                if message in functions - compiled:
                    compiled.add(message)
                    progress.advance()
            elif message.returncode == 0:
                n_processes -= 1
            else:
                raise _failed(message)
    return len(compiled)


def compile_modules(modules: Sequence[str]) -> None:
    """Compile all kernels of `modules`, in a process of the warm-up.

    Prints the names of all functions, as JSON in one line, and then the name of each function that has been compiled.
    Modules that need a package that is not installed, or cannot be imported, are left out.
    """
    global _checked
    _checked = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    compiling.announce(False)
    imported = [module for module in modules if _imports(module)]
    print(json.dumps(compiling.DECORATED), flush=True)
    event.register("numba:compile", _Reporter())
    for module in imported:
        for dispatcher, signatures in compiling.KERNELS[module]:
            for signature in signatures:
                dispatcher.compile(signature)


def _imports(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:  # or it needs one that is broken, which is told where it is used
        return False
    return True


class _Reporter(event.Listener):  # type: ignore[misc]
    """Prints the name of each function that has been compiled."""

    def on_start(self, event: event.Event) -> None:
        pass

    def on_end(self, event: event.Event) -> None:
        print(compiling.name_of(event.data["dispatcher"].py_func), flush=True)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Lock a file while the block runs, where the system can; says so if another program has it."""
    with path.open("ab") as file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("another program compiles the rules and the bots: waiting for it …", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Warm up, and return the exit code."""
    parser = Parser("engine.warm_up", description="Compiles the rules and all bots to machine code, once.")
    parser.parse_args(arguments)
    began = monotonic()
    try:
        n_functions = warm_up()
    except (WarmUpError, OSError) as error:
        print(f"{parser.short_name}: {describe_error(error)}", file=sys.stderr)
        return FAILED
    folder = compiling.cache_root()
    if n_functions:
        print(f"compiled {n_functions} functions in {monotonic() - began:.0f} s; the machine code is in {folder}")
    else:
        print(f"nothing to compile: the machine code of this version is in {folder}")
    return OK


if __name__ == "__main__":
    sys.exit(start("engine.warm_up:main"))
