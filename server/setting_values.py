"""Values of settings: read from text, as flags and variables give them, or from TOML; checked; written as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from engine.checks import scores_in
from engine.rules import Scores
from server.settings import SECRETS, SETTINGS, Checked, Settings

TYPES = get_type_hints(Settings)  # without the metadata of `Annotated`
ANNOTATED = get_type_hints(Settings, include_extras=True)
LISTS = (Scores, tuple[str, ...])
NUMBERS = (int, int | None, float)
# Parsers of text. Each raises ValueError; those of numbers without a useful message.
READERS: dict[Any, Any] = {
    int: int,
    int | None: int,
    float: float,
    Path: Path,
    bool: lambda text: text == "true",
    Scores: scores_in,
    tuple[str, ...]: lambda text: tuple(bot for bot in text.split(",") if bot),
}
# Python's types of values in TOML, those of the items of a list; all others are texts.
TOML_TYPES: dict[Any, tuple[type, ...]] = {
    int: (int,),
    int | None: (int,),
    float: (int, float),
    bool: (bool,),
    Scores: (int,),
}
CONVERTERS: dict[Any, Any] = {float: float, Path: Path, Scores: tuple, tuple[str, ...]: tuple}  # of TOML's values
BOUNDS = {"gt": "above {}", "ge": "at least {}", "le": "at most {}"}


def choices(name: str) -> tuple[str, ...]:
    """The values that a setting may have, as text, if it has a few only."""
    if TYPES[name] is bool:
        return ("true", "false")
    return get_args(TYPES[name]) if get_origin(TYPES[name]) is Literal else ()


def describe_values(name: str, *, toml: bool = False) -> str:
    """Describe the allowed values of a setting, as text or in TOML."""
    limits, kind = SETTINGS[name].metadata, TYPES[name]
    if choices(name):
        return " or ".join(f'"{each}"' if toml and kind is not bool else each for each in choices(name))
    if kind is Scores:
        return "three numbers of points, as in [25000, 35000, 45000]"
    if "max_length" in limits:
        return f"at most {limits['max_length']}, " + ('as in ["rule", "random"]' if toml else "separated by a comma")
    if kind in NUMBERS:
        bounds = [text.format(limits[bound]) for bound, text in BOUNDS.items() if bound in limits]
        return f"{'a number' if kind is float else 'a whole number'} {' and '.join(bounds)}"
    return "a text in quotes"


def from_text(name: str, text: str) -> Any:
    """Parse the value of a setting from text. Raises ValueError, which says which values are allowed."""
    if choices(name) and text not in choices(name):
        raise ValueError(f"give {describe_values(name)}")
    try:
        value = READERS.get(TYPES[name], str)(text)
    except ValueError as error:
        raise ValueError(f"give {describe_values(name)}" if TYPES[name] in NUMBERS else str(error)) from None
    return check(name, value, describe_values(name))


def from_toml(name: str, value: Any) -> Any:
    """Return the value of a setting from a value in TOML. Raises ValueError, which says which values are allowed."""
    kind, allowed = TYPES[name], describe_values(name, toml=True)
    items = value if isinstance(value, list) else [value]
    types = TOML_TYPES.get(kind, (str,))
    if isinstance(value, list) != (kind in LISTS) or any(type(item) not in types for item in items):
        raise ValueError(f"give {allowed}")
    if get_origin(kind) is Literal and value not in choices(name):
        raise ValueError(f"give {allowed}")
    checked = check(name, value, allowed)  # before it is converted: a number may be too large for a float
    return CONVERTERS[kind](checked) if kind in CONVERTERS else checked


def check(name: str, value: Any, allowed: str) -> Any:
    """Return a value of the right type once it is checked. Raises ValueError; `allowed` describes the values."""
    if not within(SETTINGS[name].metadata, value):
        raise ValueError(f"give {allowed}")
    for mark in getattr(ANNOTATED[name], "__metadata__", ()):
        if isinstance(mark, Checked):
            value = mark.check(value)
    return value


def within(limits: Mapping[str, Any], value: Any) -> bool:
    """Return whether a value is within the limits of its setting; NaN never is."""
    if "max_length" in limits:
        return len(value) <= limits["max_length"]
    if "le" in limits:
        return bool(limits.get("ge", -inf) <= value <= limits["le"] and value > limits.get("gt", -inf))
    return True


def as_text(value: Any) -> Any:
    """A value as a flag or variable gives it; one that they cannot give, such as none, is returned as it is."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value


def as_toml(value: Any) -> str:
    """A value as the settings file gives it; also a wrong one, for an error."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(str(value), ensure_ascii=False) if isinstance(value, str | Path) else str(value)


def shown(name: str, value: str) -> str:
    """A wrong value as an error shows it: nothing of a secret."""
    return "…" if name in SECRETS else value


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to an unknown one, if any is similar."""
    return next(iter(get_close_matches(name, known, n=1)), None)
