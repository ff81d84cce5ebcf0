"""Imports run one way: server and arena use agents, agents use engine, engine uses none of them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
# package -> the packages of this repository that it may import besides itself
ALLOWED: dict[str, set[str]] = {
    "engine": set(),
    "agents": {"engine"},
    "arena": {"engine", "agents"},
    "server": {"engine", "agents"},
    "nukidora": {"engine", "agents", "arena", "server"},
    "benchmarks": {"engine", "agents", "arena", "server"},
}


def imported_packages(source: str) -> Iterator[tuple[int, str]]:
    """Line and top-level package of every import in `source`, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, (node.module or "").split(".")[0]


def forbidden_imports(package: str, source: str) -> list[tuple[int, str]]:
    """Imports in `source`, a module of `package`, that run the wrong way."""
    forbidden = ALLOWED.keys() | {"tests"}
    forbidden -= ALLOWED[package] | {package}
    return [(line, name) for line, name in imported_packages(source) if name in forbidden]


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_run_one_way(package: str) -> None:
    faults = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {name}"
        for path in sorted((REPOSITORY / package).rglob("*.py"))
        for line, name in forbidden_imports(package, path.read_text(encoding="utf-8"))
    ]
    assert faults == []


def test_packages_named_here_are_those_of_the_repository() -> None:
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(pyproject["tool"]["mypy"]["files"]) == sorted(ALLOWED)
    assert {path.parent.name for path in REPOSITORY.glob("*/__init__.py")} - {"tests"} <= ALLOWED.keys()


@pytest.mark.parametrize(
    ("package", "source", "lines"),
    [
        ("engine", "import numpy\nfrom engine.tiles import mpsz\n", []),
        ("engine", "import agents.base as base\n", [1]),
        ("agents", "from engine import table\n\ndef late():\n    from arena.run import ArenaRun\n", [4]),
        ("arena", "import engine, agents\nfrom server import app\n", [2]),
        ("server", "import arena\nimport tests.conftest\n", [1, 2]),
    ],
)
def test_wrong_imports_are_found(package: str, source: str, lines: list[int]) -> None:
    assert [line for line, _ in forbidden_imports(package, source)] == lines
