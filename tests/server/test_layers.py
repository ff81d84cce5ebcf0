"""Imports inside server/ form no cycle and run one way: API -> lobby -> games and connections -> ports."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# What the modules and packages here may import of server/. Those not named are above them and may import anything.
MAY_IMPORT: dict[str, set[str]] = {
    "server.loop_clock": set(),
    "server.house_bots": set(),
    "server.settings": {"server.house_bots"},
    "server.metrics": set(),
    "server.ports": {"server.turns"},
    "server.turns": set(),
    "server.descriptors": {"server.settings", "server.flags"},
    "server.addresses": set(),
    "server.game": {
        "server.turns", "server.ports", "server.settings", "server.metrics", "server.loop_clock", "server.house_bots",
        "server.addresses", "server.stored_settings",
    },
    "server.connection": {
        "server.ports", "server.settings", "server.access", "server.turns", "server.loop_clock", "server.addresses",
    },
    "server.migrations": {"server.store"},  # its scripts name the tables, the store runs them: no cycle of modules
    "server.store": {"server.migrations", "server.names"},
    "server.names": set(),
    "server.access": {"server.settings", "server.store", "server.addresses", "server.names"},
    "server.rooms": {"server.ports", "server.access", "server.settings", "server.house_bots", "server.loop_clock"},
    "server.spectators": {"server.addresses", "server.connection", "server.turns", "server.metrics"},
    "server.broadcast": {"server.addresses", "server.game", "server.connection", "server.turns"},
    "server.counting": {"server.store"},
    "server.results": {"server.game", "server.store", "server.counting"},
    "server.storing": {"server.metrics", "server.store", "server.turns", "server.loop_clock"},
    "server.worker": set(),
    "server.review_work": {"server.worker"},
    "server.reviews": {"server.worker", "server.review_work", "server.access", "server.addresses", "server.store"},
    "server.lobby": {
        "server.ports", "server.settings", "server.metrics", "server.game", "server.connection",
        "server.store", "server.access", "server.rooms", "server.broadcast", "server.results", "server.turns",
        "server.names", "server.storing", "server.addresses", "server.counting", "server.stored_settings",
    },
}  # fmt: skip


def module_name(path: Path) -> str:
    """``server.game.seat`` for ``server/game/seat.py``."""
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path.read_text(encoding="utf-8") for path in (REPOSITORY / "server").rglob("*.py")}


def imported_modules(source: str, modules: Container[str]) -> Iterator[str]:
    """Those of `modules` that `source` imports, wherever it does so, under ``if TYPE_CHECKING`` too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:  # a module of the package, or something defined in the module
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in modules else node.module


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """For each module the modules of `sources` that it imports."""
    return {name: set(imported_modules(source, sources)) for name, source in sources.items()}


def inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def wrong_imports(sources: dict[str, str]) -> list[str]:
    """Imports that `MAY_IMPORT` does not allow."""
    return [
        f"{module} imports {found}"
        for module, imports in import_graph(sources).items()
        for package, allowed in MAY_IMPORT.items()
        if inside(module, package)
        for found in sorted(imports)
        if not any(inside(found, other) for other in (package, *allowed))
    ]


def cycle_of(sources: dict[str, str]) -> list[str]:
    """The modules of a cycle of imports, empty if there is none."""
    try:
        TopologicalSorter(import_graph(sources)).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


def test_modules_of_the_server_import_each_other_in_no_cycle() -> None:
    assert cycle_of(SOURCES) == []


def test_modules_of_the_server_import_lower_layers_only() -> None:
    assert wrong_imports(SOURCES) == []


def test_nothing_is_imported_for_type_checking_only() -> None:
    assert [name for name, source in SOURCES.items() if "TYPE_CHECKING" in source] == []


@pytest.mark.parametrize(
    "seat",
    [
        "from server.game.live_game import LiveGame\n",
        "from server.game import live_game\n",
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
        ("server.game.seat", "from server.ports import PlayerPort\n", False),
        ("server.game.seat", "from server.connection.bot_connection import BotConnection\n", True),
        ("server.game.seat", "from server.lobby import Lobby\n", True),
        ("server.connection.tcp", "def late():\n    from server.game import seat\n", True),
        ("server.ports", "import server.lobby\n", True),
        ("server.app", "from server.lobby import Lobby\n", False),
    ],
)
def test_imports_of_higher_layers_are_found(module: str, source: str, wrong: bool) -> None:
    found = wrong_imports(dict.fromkeys(SOURCES, "") | {module: source})
    assert bool(found) is wrong


def occupant_changes(source: str) -> Iterator[str]:
    """The functions in `source` that change who plays a seat."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                target = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr
                call = isinstance(node, ast.Call) and ast.unparse(node.func)
                if target == "connection" or (call and call.endswith("fallback.use")):
                    yield function.name


def test_the_occupant_of_a_seat_changes_in_one_method() -> None:
    found = {name for source in SOURCES.values() for name in occupant_changes(source)}
    assert found == {"_change_occupant"}
