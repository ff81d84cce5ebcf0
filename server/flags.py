"""The command line of the server, and its settings from flags, environment variables and the settings file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from engine.common.options import Parser
from server.setting_values import as_text, from_text, nearest, shown
from server.settings import OTHER_VARIABLES, PREFIX, SETTINGS, TABLE_OF, Settings
from server.settings_file import FLAG, VARIABLE, SettingsFile

# Setting -> metavar of its flag. These are what a first try or a second server needs; all others have no flag.
METAVARS = {"host": "ADDRESS", "port": "PORT", "mjai_port": "PORT", "data": "FOLDER", "fill": "BOT,BOT"}


def flag(name: str) -> str:
    """The flag of a setting."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


FLAGS = (FLAG, *map(flag, METAVARS))
WITHOUT_FLAG = {flag(name): name for name in SETTINGS if name not in METAVARS}  # by the flag that there might be


def make_flags() -> Parser:
    """A parser for the flags."""
    parser = Parser("server", add_help=False)
    # `server.settings_file.find_path` reads it.
    parser.add_argument(
        FLAG, default=argparse.SUPPRESS, metavar="FILE", help="settings file in TOML; the command settings prints one"
    )
    for name, metavar in METAVARS.items():
        default = as_text(SETTINGS[name].default)
        help_text = f"{SETTINGS[name].metadata['description']} (default {'none' if default == '' else default})"
        parser.add_argument(flag(name), default=argparse.SUPPRESS, metavar=metavar, help=help_text)
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line, in which flags may also follow a command.

    An unknown flag is reported by name; argparse would report the argument after it. Flags of settings that have none
    are reported together.
    """
    given, rest = make_flags().parse_known_args(argv)
    names = [word.partition("=")[0] for word in rest]  # without the values, which may be secrets
    if wrong := [f"{name} is no flag: {how_to_set(WITHOUT_FLAG[name])}" for name in names if name in WITHOUT_FLAG]:
        parser.error("; ".join(dict.fromkeys(wrong)))
    if names and names[0].startswith("-") and names[0] not in ("-h", "--help", "--version"):
        parser.error(f"unknown flag {names[0]}{hint_for(names[0])}")
    return parser.parse_args(rest, given)


def how_to_set(name: str) -> str:
    """Say how a setting that has no flag is set."""
    return f"set {variable(name)}, or {name} below [{TABLE_OF[name]}] in the file of {FLAG}"


def hint_for(name: str) -> str:
    """Say which flag or setting an unknown flag may mean."""
    found = nearest(name, [*FLAGS, *WITHOUT_FLAG])
    if found is None or found in FLAGS:
        return f"{f' (did you mean {found}?)' if found else ''}: --help lists all"
    return f": did you mean the setting {WITHOUT_FLAG[found]}? {how_to_set(WITHOUT_FLAG[found])}"


def log_format(file: SettingsFile) -> str:
    """The format of log lines, known before the command line is parsed, to report errors in it."""
    return os.environ.get(variable("log")) or file.values.get("log", Settings.log)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return an error for each variable with the server's prefix that is not one of its settings."""
    known = [VARIABLE, *map(variable, SETTINGS)]
    unknown = [
        name for name in environment if name.upper().startswith(PREFIX) and name not in {*known, *OTHER_VARIABLES}
    ]
    hints = [f" (did you mean {found}?)" if (found := nearest(name.upper(), known)) else "" for name in unknown]
    return [f"{name} is no setting{hint}: correct or unset it" for name, hint in zip(unknown, hints, strict=True)]


def read_settings(parser: Parser, given: Mapping[str, Any], file: SettingsFile) -> Settings:
    """Settings from the given flags, the environment and the file. Exits with a one-line message if any are invalid.

    An empty variable, as an environment file may have it, counts as unset. For settings where an empty text differs
    from the default (`host`: all addresses; `trusted_proxies`: none), flag and file can be empty.
    """
    wrong = [*file.errors, *unknown_variables(os.environ)]
    values = dict(file.values)
    for name in SETTINGS:
        source = flag(name) if name in given else variable(name)
        text: str | None = given[name] if name in given else os.environ.get(source) or None
        if text is not None:
            try:
                values[name] = from_text(name, text)
            except ValueError as error:
                wrong.append(f"{source} {shown(name, repr(text))}: {error}")
    if wrong:
        parser.error("; ".join(wrong))
    return Settings(**values)
