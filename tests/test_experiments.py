"""The scripts of experiments/ import names that exist; mypy does not read them."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="most of them need nukidora[train]")

FOLDER = Path(__file__).parents[1] / "experiments"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_all_that_a_script_imports_exists(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)  # they import each other
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = import_module(node.module)
            missing = [each.name for each in node.names if not hasattr(module, each.name)]
            assert [name for name in missing if find_spec(f"{node.module}.{name}") is None] == []
