"""Error texts for clients, with codes that stay the same: pages translate them (`server/web/words_errors.js`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Values = dict[str, str | int | float]


class ErrorText(str):
    """A line of text, with its ``code`` and the ``values`` in it by their names: numbers, strings and ErrorTexts."""

    __slots__ = ("code", "values")
    code: str
    values: Values


def error_text(code: str, text: str, /, **values: str | int | float) -> ErrorText:
    """A line: `text` as of `str.format`, with the values by their names."""
    return _line(text.format(**values), code, values)


def with_text(line: str, text: str) -> str:
    """Another text with the code and the values of a line, if it has some."""
    return _line(text, line.code, line.values) if isinstance(line, ErrorText) else text


def changed(line: str, change: Callable[[str], str]) -> str:
    """A line whose text is changed, and all texts among its values."""
    if not isinstance(line, ErrorText):
        return change(line)
    values = {name: changed(each, change) if isinstance(each, str) else each for name, each in line.values.items()}
    return _line(change(line), line.code, values)


def line_of(error: Exception) -> str:
    """Return the line of an exception, an ErrorText if it was raised with one, or has one as its attribute ``line``."""
    line = getattr(error, "line", error.args[0] if error.args else "")
    return line if isinstance(line, ErrorText) else str(error)


def coded(line: str) -> dict[str, Any]:
    """The code and the values of a line, as JSON has them beside it, and ``codes`` of values that are lines themselves.

    Nothing for a line that has no code.
    """
    if not isinstance(line, ErrorText):
        return {}
    values = {name: str(each) if isinstance(each, str) else each for name, each in line.values.items()}
    codes = {name: coded(each) for name, each in line.values.items() if isinstance(each, ErrorText)}
    return {"code": line.code, "values": values} | ({"codes": codes} if codes else {})


def decoded(text: str, keys: Mapping[str, Any]) -> str:
    """The line with this text and the keys of `coded`, if they are among `keys`: read from JSON again.

    Raises TypeError or LookupError for keys that `coded` does not write.
    """
    if "code" not in keys:
        return text
    code, values, codes = keys["code"], keys["values"], keys.get("codes", {})
    if not (isinstance(code, str) and isinstance(values, dict) and isinstance(codes, dict)):
        raise TypeError(f"no code and values: {code!r}, {values!r}, {codes!r}")
    return _line(text, code, values | {name: decoded(values[name], codes[name]) for name in codes})


def _line(text: str, code: str, values: Values) -> ErrorText:
    line = ErrorText(text)
    line.code, line.values = code, values
    return line
