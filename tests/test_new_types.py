"""A new type of event, in `engine.mjai.schema` or `engine.events`, is missed nowhere.

Tables that need a row for each type refuse to be imported without it (`engine.common.complete`). Of all other places
that tell types apart, in Python and in JavaScript, each must name the new type or be listed in NEEDED_NOT_BY.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.common.complete import require_rows
from engine.mjai.schema import EVENTS

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "agents", "arena", "server", "nukidora")
# The types that all places were written for.
FIRST = frozenset({
    "start_game", "start_kyoku", "tsumo", "dahai", "reach", "reach_accepted", "pon", "daiminkan", "kakan", "ankan",
    "nukidora", "dora", "hora", "ryukyoku", "end_kyoku", "end_game",
})  # fmt: skip
# Type added since -> the places that need not know it: a file, or "FILE: NAME" for a function or constant in it.
NEEDED_NOT_BY: dict[str, set[str]] = {}
# Files in which the same words are yaku, melds, features, questions or columns.
OTHER_WORDS = re.compile(
    r"engine/scoring/|engine/text\.py|engine/records/compare|engine/positions/position\.py|agents/linear/|"
    r"agents/analyse/|agents/cnn/answers|agents/bert/evaluation/|arena/tallies/(columns|names)|arena/parquet|"
    r"nukidora/envs/|server/web/(yaku|yaku_table|fu|position_view|table)\.js"
)
AT_LEAST = 2  # types that a definition names, if it tells types apart
DEFINITION = re.compile(r"^(?:export )?(?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
ROW = re.compile(r"EventType\((\w+), \"(\w+)\"")  # of TYPES: constant, type of message
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

# Imports places one by one, each with one more row in the table that it follows, and prints how it refuses.
REFUSALS = """
import importlib
from engine import events
from engine.mjai import schema

def refusal(module):
    try:
        importlib.import_module(module)
    except ImportError as error:
        return str(error)
    return ""

def with_packed(module):
    events.TYPES += (events.EventType(len(events.TYPES), "chi", 2, True, True, 9),)
    events.ACTIONS += events.TYPES[-1:]
    print(refusal(module))
    events.TYPES, events.ACTIONS = events.TYPES[:-1], events.ACTIONS[:-1]

def with_message(module, rows, row):
    rows["chi"] = row
    print(refusal(module))
    del rows["chi"]

with_packed("engine.mjai.round_events")
with_packed("arena.tallies.rounds")
with_packed("agents.bert.encoding")
with_message("engine.mjai.actions", schema.REPLIES, schema.ReplyMessage("chi", "", ""))
with_message("agents.review.words", schema.REPLIES, schema.ReplyMessage("chi", "", ""))
for module in ("engine.mjai.player_state", "engine.mjai.round_events", "engine.records.mjlog_writing"):
    with_message(module, schema.EVENTS, schema.EventMessage("chi", ""))
for module in ("engine.mjai.round_events", "arena.tallies.rounds", "agents.bert.encoding", "engine.mjai.player_state",
               "engine.records.mjlog_writing", "agents.review.words"):
    assert refusal(module) == "", refusal(module)
"""
PLACES_THAT_REFUSE = [
    "READERS of engine/mjai/round_events.py",
    "TALLY_OF of arena/tallies/rounds.py",
    "N_VALUES of agents/bert/encoding.py",
    "READERS of engine/mjai/actions.py",
    "WORDS of agents/review/words.py",
    "HANDLERS of engine/mjai/player_state.py",
    "TYPES of engine/events.py",
    "_WRITERS of engine/records/mjlog_writing.py",
]


def places() -> dict[str, set[str]]:
    """Every definition that tells types of events apart, as "FILE: NAME" -> the types that it names."""
    found: dict[str, set[str]] = {}
    for folder, pattern, types_in in (
        *((package, "*.py", types_in_python) for package in PACKAGES),
        ("server/web", "*.js", types_in_javascript),
    ):
        for path in sorted((REPOSITORY / folder).rglob(pattern)):
            for name, types in types_in(path.read_text(encoding="utf-8")):
                found.setdefault(f"{path.relative_to(REPOSITORY).as_posix()}: {name}", set()).update(types)
    return {place: types for place, types in found.items() if len(types) >= AT_LEAST and not OTHER_WORDS.match(place)}


def types_in_python(source: str) -> Iterator[tuple[str, set[str]]]:
    """The definitions of a module, with the types that they name by a text or by a constant of `engine.events`."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    packed = {f"events.{name}": of for name, of in PACKED.items()} if any(map(imports_events, imports)) else {}
    for each in imports:
        if each.module == "engine.events":
            packed |= {alias.name: PACKED[alias.name] for alias in each.names if alias.name in PACKED}
    for name, definition in definitions(tree):
        types = set[str]()
        for node in ast.walk(definition):
            if isinstance(node, ast.Constant):
                types |= {node.value} & EVENTS.keys() if isinstance(node.value, str) else set()
            elif isinstance(node, ast.Name | ast.Attribute):
                types |= {packed[text] for text in [ast.unparse(node)] if text in packed}
        yield name, types


def imports_events(node: ast.ImportFrom) -> bool:
    return node.module == "engine" and any(alias.name == "events" for alias in node.names)


def definitions(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """The functions, methods and constants of a module; of a statement that is none of them the line."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", definition) for name, definition in definitions(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target).strip("()").partition(",")[0], node
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield f"line {node.lineno}", node


def types_in_javascript(source: str) -> Iterator[tuple[str, set[str]]]:
    """The functions, classes and constants of a module, with the types that they name by a text or by a key."""
    parts = DEFINITION.split(COMMENT.sub("", source))
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        named = re.findall(r"""["'`](\w+)["'`]|^\s*(\w+)[:,]""", text.partition("\naddWords(")[0], re.MULTILINE)
        yield name, {text or key for text, key in named} & EVENTS.keys()


PACKED = dict(ROW.findall((REPOSITORY / "engine" / "events.py").read_text(encoding="utf-8")))
PLACES = places()


def places_without(new: str) -> set[str]:
    """The places that do not name a type."""
    return {place for place, types in PLACES.items() if new not in types}


def test_every_place_names_the_new_types_or_needs_them_not() -> None:
    for new in EVENTS.keys() - FIRST:
        not_needed = NEEDED_NOT_BY.get(new, set())
        missed = sorted(place for place in places_without(new) if not {place, place.partition(":")[0]} & not_needed)
        assert not missed, (
            f"{new} is named in none of these: handle it there, or say in NEEDED_NOT_BY of tests/test_new_types.py "
            "that it is not needed:\n" + "\n".join(missed)
        )


@pytest.mark.parametrize(
    "place",
    [
        "agents/bots/rule/safety.py: safe_kinds",
        "agents/cnn/planes.py: E_REACH",
        "agents/console/telling.py: DEEDS",
        "agents/console/telling.py: describe_event",
        "arena/luck.py: measure_round",
        "arena/tallies/rounds.py: tally_log",
        "engine/mjai/view_updates.py: apply_event",
        "engine/positions/history.py: own_draws",
        "engine/records/mjlog_writing.py: _MELDS",
        "engine/records/show.py: Holding.apply",
        "engine/records/tenhou_rounds.py: place_indicators",
        "engine/records/tenhou_rows.py: write_rows",
        "engine/records/wall.py: known_tiles",
        "server/counting.py: count_plays",
        "server/web/mjai.js: HANDLERS",
        "server/web/play_controls.js: ROWS",
        "server/web/record.js: ACTIONS",
        "server/web/table_words.js: EVENTS",
    ],
)
def test_a_place_that_tells_types_apart_is_found(place: str) -> None:
    assert place in places_without("chi")
    named = next(iter(PLACES[place]))
    assert place not in places_without(named)


def test_what_needs_a_row_for_each_type_refuses_to_be_imported_without_one() -> None:
    run = subprocess.run([sys.executable, "-c", REFUSALS], capture_output=True, text=True, timeout=120, cwd=REPOSITORY)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert [line.partition(" has no row for 'chi'")[0] for line in lines] == PLACES_THAT_REFUSE, lines
    assert all(line.endswith(": add it") for line in lines)


def test_rows_of_types_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ImportError, match=r"has a row for 'chi', but REPLIES has none$"):
        require_rows("WORDS of words.py", ["pon", "chi"], ["pon"], "REPLIES")
