"""Statistics as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from engine.contests.estimates import Estimate


class Row:
    """The values of an entry of the results, such as those of a bot, as attributes.

    A value with an interval is an `Estimate`. Raises AttributeError for any other name.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        """``values``: by their keys in the JSON file, where an `Estimate` is a dict."""
        self._values = {key: _value(value) for key, value in values.items()}

    def __getattr__(self, name: str) -> Any:
        values: dict[str, Any] = self.__dict__.get("_values", {})
        if name not in values:
            close = get_close_matches(name, values, 1)
            raise AttributeError(f"no statistic {name!r}" + (f": did you mean {close[0]!r}?" if close else ""))
        return values[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Names and values, as for ``dict(row)``."""
        return iter(self._values.items())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Row) and self._values == other._values

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __repr__(self) -> str:
        shown = (f"{key}={value!r}" for key, value in self if not isinstance(value, dict | list))
        return f"{type(self).__name__}({', '.join(shown)})"

    def cells(self) -> dict[str, Any]:
        """The values as a row of a data frame: an estimate is two of them, ``placement`` and ``placement_interval``."""
        cells: dict[str, Any] = {}
        for key, value in self:
            if isinstance(value, Estimate):
                cells |= {key: value.mean, f"{key}_interval": value.interval}
            elif not isinstance(value, dict | list):
                cells[key] = value
        return cells


def _value(value: Any) -> Any:
    """Convert a value of the JSON file to that of an attribute."""
    return Estimate(**value) if isinstance(value, dict) and value.keys() == {"mean", "interval"} else value
