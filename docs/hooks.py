"""What MkDocs does beyond its plugins."""

from __future__ import annotations

from typing import Any

from arena.tallies.page import filled


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in the tables of the page of statistics."""
    return filled(markdown) if page.file.src_uri == "statistics.md" else markdown
