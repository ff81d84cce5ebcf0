"""Parsing of the server's settings from the command line and the environment, with readable errors."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from engine.checks import scores_in
from engine.common.options import Parser
from engine.rules import Scores
from server.settings import OTHER_VARIABLES, PREFIX, Checked, Settings

SETTINGS: dict[str, Field[Any]] = {field.name: field for field in fields(Settings)}
TYPES = get_type_hints(Settings)  # without the metadata of `Annotated`
ANNOTATED = get_type_hints(Settings, include_extras=True)
# Metavars of flags whose type alone is not descriptive enough.
METAVARS = {
    "rules": "PRESET",
    "fill": "BOTS",
    "scores": "A,B,C",
    "house_bot": "BOT",
    "fault_penalty": "POINTS",
    "host": "ADDRESS",
    "port": "PORT",
    "mjai_port": "PORT",
    "public_port": "PORT",
    "database": "URL",
    "puzzle_records": "PATH",
    "trusted_proxies": "ADDRESSES",
}
METAVARS_OF_TYPES: dict[Any, str] = {float: "SECONDS", int: "N", int | None: "N", Path: "FOLDER"}
# Parsers for the text of a flag or variable. Each raises ValueError; those of numbers without a useful message.
READERS: dict[Any, Any] = {
    int: int,
    int | None: int,
    float: float,
    Path: Path,
    str: str,
    bool: lambda text: text == "true",
    Scores: scores_in,
    tuple[str, ...]: lambda text: tuple(bot for bot in text.split(",") if bot),
}
NUMBERS = (int, int | None, float)
BOUNDS = {"gt": "above {}", "ge": "at least {}", "le": "at most {}"}


def flag(name: str) -> str:
    """The flag of a setting."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def choices(name: str) -> tuple[str, ...]:
    """The values that a setting may have, if it has a few only."""
    if TYPES[name] is bool:
        return ("true", "false")
    return get_args(TYPES[name]) if get_origin(TYPES[name]) is Literal else ()


def metavar(name: str) -> str:
    """Return the metavar of a flag."""
    return METAVARS.get(name) or "|".join(choices(name)) or METAVARS_OF_TYPES[TYPES[name]]


def describe_values(name: str) -> str:
    """Describe the allowed values of a setting."""
    limits = SETTINGS[name].metadata
    if choices(name):
        return " or ".join(choices(name))
    if "max_length" in limits:
        return f"at most {limits['max_length']}, separated by a comma"
    bounds = [text.format(limits[bound]) for bound, text in BOUNDS.items() if bound in limits]
    return f"{'a number' if TYPES[name] is float else 'a whole number'} {' and '.join(bounds)}"


def as_text(value: Any) -> Any:
    """A value as a flag or variable gives it; one that they cannot give, such as none, is returned as it is."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value


def make_flags() -> Parser:
    """A parser for the flags of all settings."""
    parser = Parser("server", add_help=False)
    for name, field in SETTINGS.items():
        default = field.default
        shown = as_text(default)
        help_text = f"{field.metadata['description']} (default {'none' if shown in (None, '') else shown})"
        parser.add_argument(
            flag(name), default=argparse.SUPPRESS, metavar=metavar(name), help=help_text.replace("%", "%%")
        )
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line, in which flags may also follow a command.

    An unknown flag is reported by name; argparse would report the argument after it.
    """
    given, rest = make_flags().parse_known_args(argv)
    if rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help", "--version"):
        name = rest[0].partition("=")[0]  # without the value, which may be a secret
        parser.error(f"unknown flag {name}{nearest(name, list(map(flag, SETTINGS)))}: --help lists all")
    return parser.parse_args(rest, given)


def find_log_format(argv: Sequence[str]) -> str:
    """Guess the format of log lines before the command line is parsed, to report errors in it."""
    words = [word for text in argv for word in text.split("=", 1)]
    given = next((value for name, value in pairwise(words) if name == flag("log")), None)
    return "json" if (given or os.environ.get(variable("log"))) == "json" else "text"


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the known name most similar to an unknown one, as a question; "" if there is none."""
    found = get_close_matches(name, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return an error for each variable with the server's prefix that is not one of its settings."""
    known = list(map(variable, SETTINGS))
    unknown = (
        name for name in environment if name.upper().startswith(PREFIX) and name not in {*known, *OTHER_VARIABLES}
    )
    return [f"{name} is no setting{nearest(name.upper(), known)}: correct or unset it" for name in unknown]


def read_settings(parser: Parser, given: Mapping[str, Any]) -> Settings:
    """Settings from the given flags and the environment. Exits with a one-line message if any are invalid.

    An empty variable, as an environment file may have it, means the default. For settings where an empty text differs
    from the default (`host`: all addresses; `trusted_proxies`: none), the flag can be empty.
    """
    wrong = unknown_variables(os.environ)
    values: dict[str, Any] = {}
    for name in SETTINGS:
        source = flag(name) if name in given else variable(name)
        text: str | None = given[name] if name in given else os.environ.get(source) or None
        if text is not None:
            try:
                values[name] = read(name, text)
            except ValueError as error:
                wrong.append(f"{source} {text!r}: {error}")
    if wrong:
        parser.error("; ".join(wrong))
    return Settings(**values)


def read(name: str, text: str) -> Any:
    """Parse the value of a setting from text. Raises ValueError, which says which values are allowed."""
    if choices(name) and text not in choices(name):
        raise ValueError(f"give {describe_values(name)}")
    reader, limits = READERS.get(TYPES[name], str), SETTINGS[name].metadata
    try:
        value = reader(text)
    except ValueError as error:
        raise ValueError(f"give {describe_values(name)}" if TYPES[name] in NUMBERS else str(error)) from None
    if not within(limits, value):
        raise ValueError(f"give {describe_values(name)}")
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
