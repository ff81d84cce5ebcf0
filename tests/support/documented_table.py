"""A table in a page of the documentation, between ``<!-- NAME -->`` and ``<!-- end of NAME -->``, made by a program."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def split_page(page: str, name: str) -> tuple[str, str, str]:
    """The text before the table of this name, the table, and the text after it."""
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    table, end, after = rest.partition(f"<!-- end of {name} -->\n")
    return before + begin, table, end + after


def update_page(path: Path, name: str, table: str) -> None:
    """Write the table into the page."""
    before, _, after = split_page(path.read_text(encoding="utf-8"), name)
    path.write_text(before + table + after, encoding="utf-8")
