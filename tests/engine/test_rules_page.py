"""docs/rules.md against the code: evidence and code of every rule, and the switches of every preset."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from engine.legal import MIN_LIVE_FOR_RIICHI
from engine.rules import PRESETS, Rules

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "rules.md").read_text(encoding="utf-8")
CODE_WORDS = re.compile(r"`([^`]+)`")


def tables() -> dict[tuple[str, ...], list[list[str]]]:
    """The rows of all tables on the page that have the same heading, by that heading."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    heading: tuple[str, ...] = ()
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            heading = ()
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not heading:
            heading = tuple(cells)
        elif set("".join(cells)) != {"-"}:
            found.setdefault(heading, []).append(cells)
    return found


TABLES = tables()
RULES = TABLES["rule", "evidence", "code"]
MARKS = {mark for mark, _ in TABLES["mark", "evidence"]}
SWITCHES = {cells[0].strip("`"): cells for cells in TABLES["field", "`TENHOU`", "`MAJSOUL`", "meaning"]}


@cache
def names_defined_in(source: Path) -> frozenset[str]:
    """Names of functions, classes, constants and fields that a source file defines."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def test_the_page_has_tables_of_rules() -> None:
    assert len(RULES) > 50
    assert all(len(cells) == 3 for cells in RULES)


@pytest.mark.parametrize("cells", RULES, ids=lambda cells: cells[0][:40])
def test_every_rule_has_its_evidence_and_names_code_that_exists(cells: list[str]) -> None:
    rule, evidence, code = cells
    assert rule
    assert set(re.split(r"[,;] ", evidence)) <= MARKS
    source, named = None, 0
    for word in CODE_WORDS.findall(code):
        if word.endswith(".py"):
            assert source is None or named, f"no name follows {source}"
            source, named = REPOSITORY / "engine" / word, 0
            assert source.is_file()
        else:
            assert source is not None
            assert word in names_defined_in(source), f"{word} is not defined in {source.name}"
            named += 1
    assert named


def test_every_switch_is_listed_with_the_values_of_the_presets() -> None:
    assert list(SWITCHES) == [field.name for field in fields(Rules)]
    for name, (_, tenhou, majsoul, meaning) in SWITCHES.items():
        assert meaning
        for preset, cell in (("tenhou", tenhou), ("majsoul", majsoul)):
            assert cell == f"`{getattr(PRESETS[preset], name)!r}`"


def test_every_switch_is_read_by_the_rules() -> None:
    """A switch that nothing reads would be accepted, and change nothing."""
    read = {
        node.attr
        for path in (REPOSITORY / "engine").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("t.rules", "rules", "self")
    }
    assert {field.name for field in fields(Rules)} - read == set()


def test_every_difference_between_the_presets_is_a_rule_on_the_page() -> None:
    tenhou, majsoul = PRESETS["tenhou"], PRESETS["majsoul"]
    differing = {field.name for field in fields(Rules) if getattr(tenhou, field.name) != getattr(majsoul, field.name)}
    named = {word for cells in RULES for word in CODE_WORDS.findall(cells[2])}
    assert differing - {"name", "uma", "base_points"} <= named  # these two are what final_points computes with


def test_the_live_tiles_that_riichi_needs_are_named() -> None:
    (riichi,) = (cells for cells in RULES if "MIN_LIVE_FOR_RIICHI" in cells[2])
    assert f"at least {MIN_LIVE_FOR_RIICHI} live tiles" in riichi[0]
