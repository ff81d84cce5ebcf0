"""What programs import until they end, as by --help or a wrong use."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
# Packages that take a tenth of a second or more.
SLOW = frozenset(
    ("numpy", "numba", "rich", "pydantic", "fastapi", "sqlalchemy", "structlog", "asyncio")
    + ("onnxruntime", "torch", "ray", "matplotlib", "pyarrow", "gymnasium")
)
# Runs programs one after the other, and prints what has been imported after each.
CODE = """
import contextlib, io, json, sys
from importlib import import_module
for module, arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = import_module(module).main(arguments)
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([module, arguments, code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


class Use(NamedTuple):
    """A use of a program: what it ended with, and all top-level packages that it and those before it have imported."""

    module: str
    arguments: list[str]
    code: int
    imported: set[str]


def imported_by(uses: Sequence[tuple[str, Sequence[str]]]) -> list[Use]:
    """Run programs, each a module with its arguments, one after the other in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=REPOSITORY, input=json.dumps(uses), capture_output=True, text=True
    )
    assert done.stderr == ""
    found = map(json.loads, done.stdout.splitlines())
    return [Use(module, arguments, code, set(imported)) for module, arguments, code, imported in found]
