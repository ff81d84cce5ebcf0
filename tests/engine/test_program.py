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

INTERRUPT_IN_A_CALLBACK = """
import ctypes, signal, sys, time
from types import ModuleType
from engine.common.program import start

@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGINT)

def main(arguments):
    callback()
    time.sleep(30)
    return 0

sys.modules["m"] = module = ModuleType("m")
module.main = main
sys.exit(start("m:main"))
"""


def test_ctrl_c_is_not_lost_in_a_callback_that_ignores_exceptions() -> None:
    """numba's compiler calls such callbacks, through ctypes."""
    done = subprocess.run([sys.executable, "-c", INTERRUPT_IN_A_CALLBACK], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_package_written_in_cpp_is_imported_is_no_traceback() -> None:
    """pybind11 raises an ImportError from the KeyboardInterrupt."""
    code = INTERRUPT_IN_A_CALLBACK.replace("    callback()\n", "    raise ImportError from KeyboardInterrupt()\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_class_is_made_is_no_traceback() -> None:
    """Python 3.11 raises a RuntimeError from a KeyboardInterrupt in a ``__set_name__``, as of ``cached_property``."""
    made = "    class Odd:\n        def __set_name__(self, owner, name):\n            raise KeyboardInterrupt\n"
    made = f"{made}    type('Made', (), {{'name': Odd()}})\n"
    code = INTERRUPT_IN_A_CALLBACK.replace("    callback()\n", made)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_within_exec_has_the_exit_code_of_all(tmp_path: Path) -> None:
    """CPython sets a flag there, by which ``python -m`` ends by SIGINT although the exception is handled."""
    code = INTERRUPT_IN_A_CALLBACK.replace("    callback()\n", "    exec('raise KeyboardInterrupt')\n")
    (tmp_path / "program.py").write_text(code)
    path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    command = [sys.executable, "-m", "program"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_what_ctrl_c_leaves_half_made_is_deleted_without_a_word() -> None:
    code = INTERRUPT_IN_A_CALLBACK.replace("    callback()\n", "    half = Half()\n    raise KeyboardInterrupt\n")
    code = code.replace("def main", "class Half:\n    def __del__(self):\n        1 / 0\n\ndef main")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_other_exceptions_that_python_ignores_are_shown() -> None:
    code = INTERRUPT_IN_A_CALLBACK.replace("signal.raise_signal(signal.SIGINT)", "1 / 0").replace(
        "sleep(30)", "sleep(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (0, "")
    assert "ZeroDivisionError" in done.stderr


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
