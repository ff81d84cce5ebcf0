"""The start of every program: ``python -m arena``, ``nukidora arena`` and so on.

Imports only the standard library and runs on old Pythons, as this module is what reports that the Python is too old or
that packages nukidora needs are missing.
"""

from __future__ import annotations

import _thread
import codecs
import os
import signal
import sys
import threading
import time
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType

OK, FAILED, BAD_ARGUMENTS, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143  # exit codes of all programs

SIGNALS = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}  # keyed by the exception that a handler raises

OLDEST_PYTHON = (3, 11)
# extra of nukidora -> packages that it installs; numpy, numba and rich come with nukidora itself
EXTRAS = {
    "server": [
        "pydantic",
        "pydantic_core",
        "websockets",
        "onnxruntime",
        "fastapi",
        "fastapi_offline",
        "uvicorn",
        "sqlalchemy",
        "aiosqlite",
        "asyncpg",
        "alembic",
        "openskill",
        "prometheus_client",
        "structlog",
        "confusable_homoglyphs",
        "regex",
    ],
    "report": ["matplotlib", "pandas", "pyarrow"],
    "train": ["torch", "transformers", "accelerate", "tensorboard", "onnx", "safetensors"],
    "rl": ["gymnasium", "pettingzoo", "stable_baselines3", "sb3_contrib", "resvg_py", "PIL"],
    "archive": ["zstandard", "ms", "google"],
    "cluster": ["ray"],
}
NAMESPACES = ("engine", "agents", "server")  # packages without __init__.py
OWN = (*NAMESPACES, "arena", "nukidora", "benchmarks")

# Replacements for characters that the terminal's encoding lacks; others become a question mark.
PLAIN = {"±": "+/-", "·": "-", "×": "x", "…": "...", "–": "-", "—": "-", "─": "-", "→": "->"}
TRANSLITERATE = "nukidora.transliterate"


def transliterate(error: UnicodeError) -> tuple[str, int]:
    """An error handler of `codecs`."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, "?") for character in lacking), error.end


codecs.register_error(TRANSLITERATE, transliterate)

IMPORT_SYSTEM = "<frozen importlib._bootstrap>"  # the file of Python's own code that is on the stack during an import
LLVMLITE = f"llvmlite{os.sep}binding{os.sep}"  # in the names of the files that call LLVM and that it calls

_launcher = "python -m "
_postponed = False  # whether Ctrl-C came where it is postponed and is to be repeated


def start(main: str, arguments: list[str] | None = None, launcher: str = "python -m ") -> int:
    """Run the program ``main``, ``module:function``, and return its exit code.

    ``launcher``: the words before the program's name on the command line. The function takes the arguments and returns
    an exit code. Handles for all programs: an old Python, a missing package, Ctrl-C, a closed pipe, and characters that
    the terminal's encoding lacks.
    """
    global _launcher
    _launcher = launcher
    if python_is_too_old():
        return BAD_ARGUMENTS
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=TRANSLITERATE)
    sys.unraisablehook = repeat_signal
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell lets `program &` ignore it
        signal.signal(signal.SIGINT, interrupt_when_safe)
    module, _, function = main.partition(":")
    try:
        code = int(getattr(import_module(module), function)(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return say_interrupted() if _postponed else code
    except ModuleNotFoundError as error:
        told = hidden(error) or missing(error)
        if told is None:
            raise
        print(told, file=sys.stderr)
        return BAD_ARGUMENTS
    except KeyboardInterrupt:
        return say_interrupted()
    except (ImportError, RuntimeError) as error:
        if not caused_by_interrupt(error):
            raise
        return say_interrupted()
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    finally:
        # Ctrl-C during `exec` of a text sets a flag that makes CPython exit by SIGINT even if it was handled; another
        # `exec` clears it.
        exec("")


def interrupt_when_safe(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but in an import or in llvmlite only after it (the handler of SIGINT).

    Packages written in C++ or Rust run Python code when they are imported, and so do those that make classes with them.
    KeyboardInterrupt raised there becomes another exception, or the package ignores it and the program goes on. A
    second Ctrl-C is raised at once, as an import may take long.

    LLVM asks for cached machine code by a callback. An exception there is ignored, LLVM gets none, and numba writes to
    the address 0 of what it believes to be loaded. Nor may one come between a call of LLVM and the note of whose an
    object is now, or it is freed twice. Such code runs for moments.
    """
    global _postponed
    if in_llvmlite(frame) or (importing(frame) and not _postponed):
        _postponed = True
        repeat_soon(number)
    else:
        signal.default_int_handler(number, frame)


def terminate_when_safe(number: int, frame: FrameType | None) -> None:
    """Raise SystemExit, but in llvmlite only after it: a handler of SIGTERM for an orderly exit."""
    if in_llvmlite(frame):
        repeat_soon(number)
    else:
        sys.exit(TERMINATED)


def importing(frame: FrameType | None) -> bool:
    """Return whether an import is in progress in a frame or its callers."""
    while frame is not None and frame.f_code.co_filename != IMPORT_SYSTEM:
        frame = frame.f_back
    return frame is not None


def in_llvmlite(frame: FrameType | None) -> bool:
    """Return whether code of llvmlite runs in a frame or its callers."""
    while frame is not None and LLVMLITE not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


def interrupt_at_once() -> None:
    """Let Ctrl-C raise KeyboardInterrupt during imports, too: `asyncio` replaces only Python's own handler of SIGINT.

    To be called before an event loop runs.
    """
    if signal.getsignal(signal.SIGINT) is interrupt_when_safe:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def caused_by_interrupt(error: BaseException | None) -> bool:
    """Return whether an exception stands for Ctrl-C.

    During the import of a package written in C++ it becomes an ImportError, and up to Python 3.11 in a `__set_name__` a
    RuntimeError; KeyboardInterrupt is their cause.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def say_interrupted() -> int:
    """Say that Ctrl-C ends the program, and return the exit code.

    Ignores further signals, and errors when half-constructed objects such as LLVM's engine are deleted.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.unraisablehook = lambda unraisable: None
    print("interrupted", file=sys.stderr)
    return INTERRUPTED


def repeat_signal(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat a signal whose exception Python ignores, as in LLVM's callbacks in numba (a ``sys.unraisablehook``).

    An AttributeError in ``__del__`` comes from a half-constructed object and is not shown: whatever ended its
    constructor, such as Ctrl-C, is reported anyway.
    """
    number = SIGNALS.get(unraisable.exc_type)
    if number is None:
        if not (unraisable.exc_type is AttributeError and getattr(unraisable.object, "__name__", "") == "__del__"):
            sys.__unraisablehook__(unraisable)
    else:
        repeat_soon(number)


def repeat_soon(number: int) -> None:
    """Send a signal again in a moment: what the main thread does now cannot be interrupted.

    `threading.Timer` would take locks that the interrupted code may hold.
    """
    _thread.start_new_thread(send_signal, (number,))


def send_signal(number: int) -> None:
    """Send a signal to the main thread after a moment, which also interrupts a system call that it is blocked in."""
    global _postponed
    time.sleep(0.01)
    if number == signal.SIGINT:
        _postponed = False
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    if sys.platform == "win32":  # untested
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(main_thread, number)


def python_is_too_old() -> bool:
    """Return whether this Python is too old for nukidora, and if so say it on stderr."""
    if sys.version_info >= OLDEST_PYTHON:
        return False
    needed, own = ".".join(map(str, OLDEST_PYTHON)), sys.version.split()[0]
    print(f"nukidora needs Python {needed} or newer; this is Python {own} ({sys.executable})", file=sys.stderr)
    return True


def hidden(error: ModuleNotFoundError) -> str | None:
    """Return advice on another distribution's package that is imported in place of ours; None if there is none."""
    package = (error.name or "").split(".")[0]
    other = getattr(sys.modules.get(package), "__file__", None)  # None for our namespace packages
    if package not in OWN or other is None:
        return None
    if package not in NAMESPACES and Path(other).is_relative_to(Path(__file__).parents[2]):
        return None
    text = f"{other} hides nukidora's package {package}: install nukidora in a virtual environment of its own"
    return text + ", or without -e beside it"


def missing(error: ModuleNotFoundError) -> str | None:
    """Return advice on installing a missing package; None for a module of ours."""
    package = (error.name or "").split(".")[0]
    if package in OWN:
        return None
    extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
    wanted = "." if extra is None else f".[{extra}]"
    text = f"{package} is not installed for {sys.executable}: install it with"
    text += f" pip install -c constraints.txt -e '{wanted}'"
    if sys.prefix == sys.base_prefix:
        text += ", in the virtual environment (. .venv/bin/activate)"
    return text


def program_name(program: str) -> str:
    """Return the command that runs a program: ``python -m agents.client`` or ``nukidora client``."""
    return _launcher + (program if _launcher.startswith("python") else program.replace("agents.", ""))


def installed_version() -> str | None:
    """The version of the installed package; None if nukidora runs from its sources."""
    from importlib import metadata  # slow to import

    try:
        return metadata.version("nukidora")
    except metadata.PackageNotFoundError:
        return None


def version() -> str:
    """Return the human-readable version of nukidora."""
    return installed_version() or "(not installed)"
