"""The settings of the server on its command line and in the environment, with errors in plain words."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import ValidationError

from engine.common.options import Parser
from server.settings import OTHER_VARIABLES, PREFIX, Settings

# What stands for the value of a flag in the help, where its type does not say it.
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
    "trusted_proxies": "ADDRESSES",
}
METAVARS_OF_TYPES: dict[Any, str] = {float: "SECONDS", int: "N", int | None: "N", Path: "FOLDER"}
BOUNDS = {Gt: "above {}", Ge: "at least {}", Le: "at most {}"}


def flag(name: str) -> str:
    """The flag of a setting."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def choices(name: str) -> tuple[str, ...]:
    """The values that a setting may have, if it has a few only."""
    annotation = Settings.model_fields[name].annotation
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def metavar(name: str) -> str:
    """What stands for the value of a flag in the help."""
    return METAVARS.get(name) or "|".join(choices(name)) or METAVARS_OF_TYPES[Settings.model_fields[name].annotation]


def accepted(name: str) -> str:
    """What a setting may be, in words."""
    field = Settings.model_fields[name]
    if choices(name):
        return " or ".join(choices(name))
    most = [bound.max_length for bound in field.metadata if isinstance(bound, MaxLen)]
    if most:
        return f"at most {most[0]}, separated by a comma"
    whole = field.annotation in (int, int | None)
    bounds = [
        text.format(limit)
        for bound in field.metadata
        for kind, text in BOUNDS.items()
        if isinstance(bound, kind) and (limit := getattr(bound, kind.__name__.lower())) is not None
    ]
    return " ".join(["a whole number" if whole else "a number", " and ".join(bounds)]).strip()


def make_flags() -> Parser:
    """A parser for the flags of all settings."""
    parser = Parser("server", add_help=False)
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
        shown = f"{shown:g}" if isinstance(shown, float) else shown
        parser.add_argument(
            flag(name),
            default=argparse.SUPPRESS,
            metavar=metavar(name),
            help=f"{field.description} (default {'none' if shown in (None, '') else shown})".replace("%", "%%"),
        )
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line, in which flags may also follow a command.

    An unknown flag is reported by name; argparse would report the word after it.
    """
    given, rest = make_flags().parse_known_args(argv)
    if rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help", "--version"):
        known = [flag(name) for name in Settings.model_fields]
        name = rest[0].partition("=")[0]  # without the value: it may be a secret
        parser.error(f"unknown flag {name}{nearest(name, known)}: --help lists all")
    return parser.parse_args(rest, given)


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that is most like an unknown one, as a question; "" if none is."""
    found = get_close_matches(name, known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """What is wrong with each variable that begins as the server's do, but is none of them."""
    known = [variable(name) for name in Settings.model_fields]
    unknown = (
        name for name in environment if name.upper().startswith(PREFIX) and name not in {*known, *OTHER_VARIABLES}
    )
    return [f"{name} is no setting{nearest(name.upper(), known)}: correct or unset it" for name in unknown]


def read_settings(parser: Parser, given: dict[str, Any]) -> Settings:
    """Settings from the given flags and the environment. Exits with a one-line message if any are invalid."""
    lines = unknown_variables(os.environ)
    try:
        settings = Settings(**{name: value for name, value in given.items() if name in Settings.model_fields})
    except ValidationError as error:
        lines += [describe(details, given) for details in error.errors()]
    if lines:
        parser.error("; ".join(lines))
    return settings


def describe(error: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """One of pydantic's errors in plain words: where the value comes from, the value, and what it may be."""
    name = str(error["loc"][0])
    source = flag(name) if name in given else variable(name)
    told = error["msg"].removeprefix("Value error, ") if error["type"] == "value_error" else f"give {accepted(name)}"
    value = ",".join(error["input"]) if isinstance(error["input"], tuple) else error["input"]
    return f"{source} {value!r}: {told}"
