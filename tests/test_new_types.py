"""A new type of event, in `engine.mjai.schema` or `engine.events`, or a new action is missed nowhere.

Tables that need a row for each of them refuse to be imported without it (`engine.common.complete`). Of all other places
that tell types or actions apart, in Python and in JavaScript, each must name the new one or be listed in NEEDED_NOT_BY.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.common.complete import require_rows
from engine.mjai.schema import EVENTS

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "agents", "arena", "server", "nukidora")
# The types of events and the actions that all places were written for.
FIRST_ACTIONS = frozenset({
    "DISCARD", "TSUMOGIRI", "RIICHI", "PON", "PON_RED", "DAIMINKAN", "NUKIDORA", "TSUMO", "RON", "KYUSHU_KYUHAI",
    "PASS", "ANKAN", "KAKAN",
})  # fmt: skip
FIRST = FIRST_ACTIONS | frozenset({
    "start_game", "start_kyoku", "tsumo", "dahai", "reach", "reach_accepted", "pon", "daiminkan", "kakan", "ankan",
    "nukidora", "dora", "hora", "ryukyoku", "end_kyoku", "end_game",
})  # fmt: skip
# Type or action added since -> the places that need not know it: "FILE: NAME" of a function or constant, or a file.
NEEDED_NOT_BY: dict[str, set[str]] = {}
# Files in which the same words are yaku, melds, features, questions or columns.
OTHER_WORDS = re.compile(
    r"engine/scoring/|engine/text\.py|engine/records/compare|engine/positions/position\.py|agents/linear/|"
    r"agents/analyse/|agents/cnn/answers|agents/bert/evaluation/|arena/tallies/(columns|counts)|arena/parquet|"
    r"nukidora/envs/|server/web/(yaku|yaku_table|fu|position_view|table)\.js"
)
AT_LEAST = 2  # types, or actions, that a definition names, if it tells them apart
DEFINITION = re.compile(r"^(?:export )?(?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
CONSTANT = re.compile(r"^([A-Z_]+) = [\w +]+$", re.MULTILINE)
ROW = re.compile(r"EventType\((\w+), \"(\w+)\"")  # of TYPES: constant, type of message
MAY_NAME = re.compile(rf"\b(actions|events|{'|'.join(EVENTS)})\b")  # a file without these names nothing
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

# Imports places one by one, each with one more row in the table that it follows, and prints how it refuses.
REFUSALS = """
import importlib
from engine import actions, events
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

def with_action(module):
    names = actions.ACTION_NAMES
    actions.ACTION_NAMES = (*names[: actions.ANKAN], "chi", *names[actions.ANKAN :])
    actions.ANKAN += 1
    print(refusal(module))
    actions.ANKAN -= 1
    actions.ACTION_NAMES = names

with_action("engine.mjai.actions")
with_packed("engine.mjai.round_events")
with_packed("engine.statistics.rounds")
with_packed("agents.bert.encoding")
with_message("engine.mjai.actions", schema.REPLIES, schema.ReplyMessage("chi", "", ""))
with_message("agents.review.words", schema.REPLIES, schema.ReplyMessage("chi", "", ""))
for module in ("engine.mjai.player_state", "engine.mjai.round_events", "engine.records.mjlog_writing"):
    with_message(module, schema.EVENTS, schema.EventMessage("chi", ""))
for module in ("engine.mjai.round_events", "engine.statistics.rounds", "agents.bert.encoding",
               "engine.mjai.player_state", "engine.records.mjlog_writing", "agents.review.words"):
    assert refusal(module) == "", refusal(module)
for module in ("agents.console.moves", "agents.review.decisions", "agents.bert.labels", "agents.selfplay.features"):
    with_action(module)
"""
PLACES_THAT_REFUSE = [
    "action_message of engine/mjai/actions.py",
    "READERS of engine/mjai/round_events.py",
    "read_log of engine/statistics/rounds.py",
    "N_VALUES of agents/bert/encoding.py",
    "READERS of engine/mjai/actions.py",
    "WORDS of agents/review/words.py",
    "HANDLERS of engine/mjai/player_state.py",
    "TYPES of engine/events.py",
    "_WRITERS of engine/records/mjlog_writing.py",
    "WORDS of agents/console/moves.py",
    "KINDS of agents/review/decisions.py",
    "LABEL_OF of agents/bert/labels.py",
    "ACTIONS_OF_TYPE of agents/selfplay/features.py",
]


@cache
def places() -> dict[str, set[str]]:
    """Every definition that tells types or actions apart, as "FILE: NAME" -> those that it names."""
    found: dict[str, set[str]] = {}
    for folder, pattern, named_in in (
        *((package, "*.py", named_in_python) for package in PACKAGES),
        ("server/web", "*.js", named_in_javascript),
    ):
        for path in sorted((REPOSITORY / folder).rglob(pattern)):
            source = path.read_text(encoding="utf-8")
            for name, named in named_in(source) if MAY_NAME.search(source) else ():
                found.setdefault(f"{path.relative_to(REPOSITORY).as_posix()}: {name}", set()).update(named)
    return found


def named_in_python(source: str) -> Iterator[tuple[str, set[str]]]:
    """The definitions of a module, with the types that they name by a text or a constant, and the actions."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    constants: dict[str, str] = {}  # as the module writes them -> type or action
    for of, names in (("events", PACKED), ("actions", {name: name for name in ACTIONS})):
        for each in imports:
            aliases = {alias.asname or alias.name: alias.name for alias in each.names}
            if each.module == f"engine.{of}":
                constants |= {alias: names[name] for alias, name in aliases.items() if name in names}
            elif each.module == "engine" and of in aliases.values():
                constants |= {f"{of}.{name}": meant for name, meant in names.items()}
    for name, definition in definitions(tree):
        named = set[str]()
        for node in ast.walk(definition):
            if isinstance(node, ast.Constant):
                named |= {node.value} & EVENTS.keys() if isinstance(node.value, str) else set()
            elif isinstance(node, ast.Name) and node.id in constants:
                named.add(constants[node.id])
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                named |= {constants[text] for text in [f"{node.value.id}.{node.attr}"] if text in constants}
        yield name, named


def definitions(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """The functions, methods and constants of a module, and what else it does when it is imported."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", definition) for name, definition in definitions(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            target = target.value if isinstance(target, ast.Subscript) else target
            yield ast.unparse(target).strip("()").partition(",")[0], node
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield "import", node


def named_in_javascript(source: str) -> Iterator[tuple[str, set[str]]]:
    """The functions, classes and constants of a module, with the types that they name by a text or by a key."""
    parts = DEFINITION.split(COMMENT.sub("", source))
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        named = re.findall(r"""["'`](\w+)["'`]|^\s*(\w+)[:,]""", text.partition("\naddWords(")[0], re.MULTILINE)
        yield name, {text or key for text, key in named} & EVENTS.keys()


def source_of(module: str) -> str:
    return (REPOSITORY / "engine" / f"{module}.py").read_text(encoding="utf-8")


PACKED: dict[str, str] = dict(ROW.findall(source_of("events")))
ACTIONS = {name for name in CONSTANT.findall(source_of("actions")) if name not in ("N_ACTIONS", "MASK_WORDS")}


def places_without(new: str) -> set[str]:
    """The places that tell types apart, or actions, if it is one, and do not name it."""
    if new.isupper():
        return {place for place, named in places().items() if new not in named and len(named & ACTIONS) >= AT_LEAST}
    found = {place for place, named in places().items() if new not in named and len(named & EVENTS.keys()) >= AT_LEAST}
    return {place for place in found if not OTHER_WORDS.match(place)}


def test_every_place_names_the_new_ones_or_needs_them_not() -> None:
    for new in (EVENTS.keys() | ACTIONS) - FIRST:
        not_needed = NEEDED_NOT_BY.get(new, set())
        missed = sorted(place for place in places_without(new) if not {place, place.partition(":")[0]} & not_needed)
        assert not missed, (
            f"{new} is named in none of these: handle it there, or say in NEEDED_NOT_BY of tests/test_new_types.py "
            "that it is not needed:\n" + "\n".join(missed)
        )


# Of each kind of definition one place that tells types, or actions, apart.
TYPES_TOLD_APART = {
    "agents/console/telling.py: DEEDS",
    "arena/luck.py: measure_round",
    "engine/records/show.py: Holding.apply",
    "engine/records/tenhou_rounds.py: place_indicators",
    "server/web/mjai.js: HANDLERS",
}
ACTIONS_TOLD_APART = {"agents/linear/candidates.py: fill_action", "engine/turn.py: act_on_turn"}


def test_places_that_tell_types_or_actions_apart_are_found() -> None:
    assert ACTIONS == FIRST_ACTIONS
    assert TYPES_TOLD_APART - places_without("chi") == set()
    assert ACTIONS_TOLD_APART - places_without("CHI") == set()


def test_places_that_name_a_type_are_not_asked_to() -> None:
    for place in TYPES_TOLD_APART | ACTIONS_TOLD_APART:
        assert not any(place in places_without(named) for named in places()[place])


def test_what_needs_a_row_for_each_type_refuses_to_be_imported_without_one() -> None:
    run = subprocess.run([sys.executable, "-c", REFUSALS], capture_output=True, text=True, timeout=600, cwd=REPOSITORY)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert [line.partition(" has no row for 'chi'")[0] for line in lines] == PLACES_THAT_REFUSE, lines
    assert all(line.endswith(": add it") for line in lines)


def test_rows_of_types_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ImportError, match=r"has a row for 'chi', but REPLIES has none$"):
        require_rows("WORDS of words.py", ["pon", "chi"], ["pon"], "REPLIES")
