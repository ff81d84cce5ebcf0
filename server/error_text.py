"""Error texts for clients, with codes that stay the same: pages translate them (`words_errors.js`)."""

from __future__ import annotations

from typing import Any


class ErrorText(str):
    """A line of text, with its ``code`` and the ``values`` in it, strings and numbers by their names."""

    __slots__ = ("code", "values")
    code: str
    values: dict[str, str | int | float]


def error_text(code: str, text: str, /, **values: str | int | float) -> ErrorText:
    """A line: `text` as of `str.format`, with the values by their names."""
    line = ErrorText(text.format(**values))
    line.code, line.values = code, values
    return line


def in_body(line: str) -> str:
    """A line on something in the body of a request, which says so; its code is the same."""
    whole = f"body: {line}"
    if isinstance(line, ErrorText):
        found = ErrorText(whole)
        found.code, found.values = line.code, line.values
        return found
    return whole


def line_of(error: Exception) -> str:
    """Return the line of an exception, as an ErrorText if it was raised with one."""
    line = error.args[0] if error.args else ""
    return line if isinstance(line, ErrorText) else str(error)


def coded(line: str) -> dict[str, Any]:
    """The code and the values of a line, as JSON has them beside it; nothing for one that has none."""
    return {"code": line.code, "values": line.values} if isinstance(line, ErrorText) else {}
