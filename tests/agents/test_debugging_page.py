"""The messages that docs/debugging.md explains are those of the programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from tests.support.markdown_blocks import REPOSITORY

PAGE = (REPOSITORY / "docs" / "debugging.md").read_text(encoding="utf-8")
SOURCES = ("agents/client", "agents/external", "agents/*.py", "arena", "engine", "server")
MESSAGE_TABLES = re.compile(r"^\| message \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
WHAT_VARIES = re.compile(r"…|'\w+'|\d[\d,]*|\b(?:dahai|pai|FILE\.py, line)\b|\bwss?\b|: | \(")


def literals() -> Iterator[str]:
    """The texts in the sources, with "…" for what is put into them."""
    files = chain.from_iterable(
        [path] if path.suffix else path.rglob("*.py")
        for pattern in SOURCES
        for path in sorted(REPOSITORY.glob(pattern))
    )
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def pieces() -> list[str]:
    """What is the same in every message of the tables' first columns."""
    rows = "".join(MESSAGE_TABLES.findall(PAGE)).splitlines()
    quoted = [text for row in rows for text in re.findall(r"`([^`]+)`", row.split("|")[1])]
    parts = [part.strip(" :;,`'") for text in quoted for part in WHAT_VARIES.split(text)]
    return [part for part in parts if len(part) > 5]


def test_every_message_of_the_page_is_one_of_a_program() -> None:
    known = "\n".join(literals())
    found = pieces()
    assert len(found) > 50
    assert [piece for piece in found if piece not in known] == []
