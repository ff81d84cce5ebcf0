"""What clients are told, with a code that stays the same: pages say it in their own language (`words_errors.js`)."""

from __future__ import annotations

from typing import Any


class Told(str):
    """A line of text, with its ``code`` and the ``values`` in it, strings and numbers by their names."""

    __slots__ = ("code", "values")
    code: str
    values: dict[str, str | int | float]


def told(code: str, text: str, /, **values: str | int | float) -> Told:
    """A line: `text` as of `str.format`, with the values by their names."""
    line = Told(text.format(**values))
    line.code, line.values = code, values
    return line


def in_body(line: str) -> str:
    """A line on something in the body of a request, which says so; its code is the same."""
    whole = f"body: {line}"
    if isinstance(line, Told):
        found = Told(whole)
        found.code, found.values = line.code, line.values
        return found
    return whole


def line_of(error: Exception) -> str:
    """The line of an exception: what was told, where it was made of that."""
    line = error.args[0] if error.args else ""
    return line if isinstance(line, Told) else str(error)


def coded(line: str) -> dict[str, Any]:
    """The code and the values of a line, as JSON has them beside it; nothing for one that has none."""
    return {"code": line.code, "values": line.values} if isinstance(line, Told) else {}
