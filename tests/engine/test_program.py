"""How every program starts: Ctrl-C, the terminal's encoding, missing packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from engine.common.program import EXTRAS

REPOSITORY = Path(__file__).parents[2]
OPTIONAL = {"uvloop"}  # used only where it is installed
IMPORTED_AS = {"ms-api": "ms", "protobuf": "google", "pillow": "PIL"}

PROGRAM = """
import ctypes, signal, sys, time
from types import ModuleType
from engine.common.program import start

@ctypes.CFUNCTYPE(None)
def callback(): {callback}

class Half:
    def __del__(self): 1 / 0

class Unmade:
    def __del__(self): del self.part  # an AttributeError: its constructor did not get so far

class Odd:
    def __set_name__(self, owner, name): raise KeyboardInterrupt

def main(arguments):
    {main}
    return 0

sys.modules["m"] = module = ModuleType("m")
module.main = main
sys.exit(start("m:main"))
"""
CTRL_C = "signal.raise_signal(signal.SIGINT)"
# What packages written in C++ or Rust do when Ctrl-C comes while they are imported -> a module that does so.
IMPORTED: dict[str, str] = {
    "ignores_it": f"try: {CTRL_C}\nexcept KeyboardInterrupt: pass",
    "imports": "import ignores_it",
    # pydantic-core, and without a cause.
    "fails": f"try: {CTRL_C}\nexcept KeyboardInterrupt: raise ValueError from None",
    "takes_long": f"{CTRL_C}; {CTRL_C}; time.sleep(30)",
}
# Where Ctrl-C comes -> what `main` does.
INTERRUPTED: dict[str, str] = {
    # As of numba's compiler, through ctypes, which ignores exceptions there.
    "in a callback": "callback(); time.sleep(30)",
    # pybind11 raises an ImportError from the KeyboardInterrupt.
    "in an import of C++": "raise ImportError from KeyboardInterrupt()",
    # Python 3.11 raises a RuntimeError from one in a `__set_name__`, as of `cached_property`.
    "while a class is made": "type('Made', (), {'name': Odd()})",
    # CPython sets a flag there, by which `python -m` ends by SIGINT although the exception is handled.
    "in exec": "exec('raise KeyboardInterrupt')",
    # As an option of LLVM, in whose constructor Ctrl-C came.
    "while something is half made": "half = Half(); raise KeyboardInterrupt",
    "in an import that ignores it": "import ignores_it; time.sleep(30)",
    "in the last import": "import ignores_it",
    "in an import in an import": "import imports; time.sleep(30)",
    "in an import that would fail": "import fails; time.sleep(30)",
    "twice in an import that takes long": "import takes_long",
}


def run(folder: Path, main: str, callback: str = CTRL_C) -> subprocess.CompletedProcess[str]:
    """Run a program with ``python -m``."""
    for name, code in IMPORTED.items():
        (folder / f"{name}.py").write_text(f"import signal, time\n{code}\n")
    (folder / "program.py").write_text(PROGRAM.format(callback=callback, main=main))
    path = os.pathsep.join([str(folder), str(REPOSITORY)])
    command = [sys.executable, "-m", "program"]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=20)


@pytest.mark.parametrize("where", INTERRUPTED)
def test_ctrl_c_is_one_word_and_its_exit_code(where: str, tmp_path: Path) -> None:
    done = run(tmp_path, INTERRUPTED[where])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("main", "shown"), [("callback()", "ZeroDivisionError"), ("Half()", "ZeroDivisionError"), ("Unmade()", "")]
)
def test_other_exceptions_that_python_ignores_are_shown(main: str, shown: str, tmp_path: Path) -> None:
    done = run(tmp_path, main, "1 / 0")
    assert (done.returncode, done.stdout, bool(done.stderr)) == (0, "", bool(shown))
    assert shown in done.stderr


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_packages_of_an_extra_are_those_of_pyproject(extra: str) -> None:
    """Error messages tell which extra installs a missing package."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\[<>=;]", wanted)[0] for wanted in project["optional-dependencies"][extra]}
    packages = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names} - OPTIONAL
    others = {package for other, packages in EXTRAS.items() if other != extra for package in packages}
    assert packages <= {*EXTRAS[extra], *others}
    assert {*EXTRAS[extra]} - packages <= {"pydantic_core"}  # a part of pydantic


@pytest.mark.parametrize(
    ("encoding", "printed"), [("ascii", "1.5 +/- 2 - N x 2 ?"), ("utf-8", "1.5 ± 2 · N × 2 \u6771")]
)
def test_a_terminal_whose_encoding_lacks_a_character_shows_a_plain_one(encoding: str, printed: str) -> None:
    code = "import sys; from types import ModuleType as M; from engine.common.program import start; m = M('m'); "
    code += "m.main = lambda arguments: print('1.5 ± 2 · N × 2 \\u6771') or 0; sys.modules['m'] = m; start('m:main')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONIOENCODING": encoding}, capture_output=True, check=True
    )
    assert done.stdout.decode(encoding).strip() == printed
