"""What is printed on a console of some width and encoding."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from typing import Any

from rich.console import Console

Document = dict[str, Any]  # the results of a match


def printed(show: Callable[[Console, Document], None], document: Document, width: int, encoding: str = "utf-8") -> str:
    """What ``show`` prints, without colours; raises UnicodeEncodeError for a character that the encoding lacks."""
    output = BytesIO()
    file = TextIOWrapper(output, encoding=encoding, errors="strict")
    show(Console(file=file, width=width, color_system=None), document)
    file.flush()
    return output.getvalue().decode(encoding)
