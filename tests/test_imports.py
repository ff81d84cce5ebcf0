"""Imports run one way, between packages and inside server/: API -> lobby -> games -> connections -> ports."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
# What packages and modules may import besides themselves: of this repository, or, for a part of server/, of server/.
# The parts of server/ that are not named are above the others and may import anything of it.
MAY_IMPORT: dict[str, set[str]] = {
    "engine": set(),
    "agents": {"engine"},
    "arena": {"engine", "agents"},
    "server": {"engine", "agents"},
    "nukidora": {"engine", "agents", "arena", "server"},
    "benchmarks": {"engine", "agents", "arena", "server"},
    "server.loop_clock": set(),
    "server.house_bots": set(),
    "server.limits": set(),
    "server.settings": {"server.house_bots"},
    "server.metrics": set(),
    "server.ports": {"server.house_bots", "server.limits", "server.fairness"},
    "server.fairness": set(),
    "server.setting_values": {"server.settings"},
    "server.settings_file": {"server.settings", "server.setting_values"},
    "server.flags": {"server.settings", "server.setting_values", "server.settings_file"},
    "server.descriptors": {"server.settings"},
    "server.addresses": set(),
    "server.game": {
        "server.fairness", "server.ports", "server.connection", "server.settings", "server.metrics",
        "server.loop_clock", "server.house_bots", "server.addresses", "server.stored_settings",
    },
    "server.connection": {
        "server.ports", "server.settings", "server.access", "server.fairness", "server.loop_clock", "server.addresses",
        "server.limits",
    },
    "server.migrations": {"server.store"},  # its scripts name the tables, the store runs them: no cycle of modules
    "server.store": {"server.limits", "server.migrations", "server.names", "server.threads"},
    "server.names": set(),
    "server.access": {
        "server.limits", "server.settings", "server.addresses",
    },
    "server.tokens": {"server.access", "server.settings", "server.store", "server.names", "server.fairness"},
    "server.rooms": {
        "server.connection", "server.game", "server.access", "server.settings", "server.house_bots",
        "server.loop_clock", "server.store", "server.names",
    },
    "server.open_rooms": {
        "server.rooms", "server.access", "server.settings", "server.store", "server.background_tasks",
    },
    "server.tournaments": {
        "server.connection", "server.access", "server.settings", "server.loop_clock", "server.limits", "server.store",
        "server.stored_settings", "server.names", "server.rooms", "server.open_rooms", "server.background_tasks",
    },
    "server.spectators": {
        "server.addresses", "server.connection", "server.fairness", "server.loop_clock", "server.metrics",
    },
    "server.broadcast": {"server.addresses", "server.game", "server.connection", "server.fairness"},
    "server.counting": {"server.limits", "server.store"},
    "server.resumable_games": {
        "server.access", "server.addresses", "server.broadcast", "server.game", "server.limits", "server.settings",
    },
    "server.exhibitions": {
        "server.access", "server.addresses", "server.game", "server.limits",
    },
    "server.results": {"server.game", "server.store", "server.counting"},
    "server.storing": {
        "server.limits", "server.metrics", "server.store", "server.fairness", "server.loop_clock", "server.threads",
    },
    "server.retention": {"server.game", "server.metrics", "server.settings", "server.store"},
    "server.worker": set(),
    "server.background_tasks": set(),
    "server.review_work": {"server.worker"},
    "server.position_work": {"server.review_work", "server.worker"},
    "server.puzzle_work": {"server.review_work", "server.worker"},
    "server.puzzles": {
        "server.puzzle_work", "server.worker", "server.store", "server.limits", "server.house_bots", "server.reviews",
    },
    "server.used_time": set(),
    "server.reviews": {
        "server.worker", "server.limits", "server.access", "server.addresses", "server.store", "server.used_time",
    },
    "server.lobby": {
        "server.ports", "server.settings", "server.metrics", "server.game", "server.connection",
        "server.store", "server.access", "server.rooms", "server.open_rooms", "server.resumable_games",
        "server.results", "server.fairness", "server.storing", "server.counting", "server.stored_settings",
        "server.limits", "server.house_bots", "server.exhibitions", "server.tournaments", "server.background_tasks",
        "server.tokens",
    },
}  # fmt: skip
PACKAGES = [name for name in MAY_IMPORT if "." not in name]


def module_name(path: Path) -> str:
    """``server.game.seat`` for ``server/game/seat.py``."""
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    module_name(path): path.read_text(encoding="utf-8")
    for package in PACKAGES
    for path in (REPOSITORY / package).rglob("*.py")
}
SERVER = {name: source for name, source in SOURCES.items() if name.startswith("server.")}


def imported_names(source: str) -> Iterator[str]:
    """All that is imported, wherever that is done: ``a.b`` for ``import a.b`` and for ``from a import b``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def wrong_imports(sources: dict[str, str]) -> list[str]:
    """Imports that `MAY_IMPORT` does not allow."""
    return [
        f"{module} imports {found}"
        for module, source in sources.items()
        for package, allowed in MAY_IMPORT.items()
        if inside(module, package)
        for found in imported_names(source)
        if any(inside(found, each) for each in (["server"] if "." in package else [*PACKAGES, "tests"]))
        and not any(inside(found, each) for each in (package, *allowed))
    ]


def cycle_of(sources: dict[str, str]) -> list[str]:
    """The modules of a cycle of imports, empty if there is none."""
    graph = {}
    for module, source in sources.items():
        names = set(imported_names(source))  # each a module, or something defined in one
        graph[module] = {name if name in sources else name.rpartition(".")[0] for name in names} & sources.keys()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


def test_imports_run_one_way() -> None:
    assert wrong_imports(SOURCES) == []


def test_packages_named_here_are_those_of_the_repository() -> None:
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert sorted(pyproject["tool"]["mypy"]["files"]) == sorted(PACKAGES)
    assert {path.parent.name for path in REPOSITORY.glob("*/__init__.py")} - {"tests"} <= set(PACKAGES)


def test_modules_import_each_other_in_no_cycle() -> None:
    """Not even in functions, or for type checking."""
    assert cycle_of(SOURCES) == []


def test_nothing_is_imported_for_type_checking_only() -> None:
    assert [name for name, source in SERVER.items() if "TYPE_CHECKING" in source] == []


@pytest.mark.parametrize(
    "seat",
    [
        "from server.game.live_game import LiveGame\n",
        "import server.game.live_game\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from server.game.live_game import LiveGame\n",
        "def late():\n    from server.game.live_game import LiveGame\n",
    ],
)
def test_cycles_are_found(seat: str) -> None:
    sources = {"server.game.live_game": "from server.game.seat import Seat\n", "server.game.seat": seat}
    assert set(cycle_of(sources | {"server.game": ""})) == set(sources)


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("server.game.seat", "from server.connection.bot_connection import BotConnection\n", False),
        ("server.game.seat", "from server.rooms import Room\n", True),
        ("server.connection.tcp", "def late():\n    from server.game import seat\n", True),
        ("server.ports", "import server.lobby\n", True),
        ("engine.tiles", "import numpy\nfrom engine.tiles import mpsz\n", False),
        ("agents.base", "from engine import table\n\ndef late():\n    from arena.run import ArenaRun\n", True),
        ("server.app", "import tests.conftest\n", True),
    ],
)
def test_wrong_imports_are_found(module: str, source: str, wrong: bool) -> None:
    assert bool(wrong_imports({module: source})) is wrong
