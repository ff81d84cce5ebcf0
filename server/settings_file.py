"""The settings file: TOML with the tables of `server.settings.TABLES`."""

from __future__ import annotations

import os
import textwrap
import tomllib
from collections.abc import Sequence
from dataclasses import Field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from engine.common.program import program_name
from server.setting_values import as_toml, from_toml, nearest, shown
from server.settings import PREFIX, SETTINGS, TABLE_OF, TABLES

FLAG, VARIABLE = "--settings", PREFIX + "SETTINGS"
PRECEDENCE = "Flags override environment variables, these override the settings file, and that overrides the defaults."
HEAD = f"Settings of nukidora's server, with their defaults: remove the # before those that you change. {PRECEDENCE}"
WIDTH = 100  # of a comment
EXAMPLES = {"seed": 7}  # of settings that are unset by default


class SettingsFile(NamedTuple):
    """What was read from a settings file."""

    values: dict[str, Any]  # by setting
    errors: list[str]


def find_path(argv: Sequence[str]) -> str:
    """Return the path that the last `FLAG` of a command line gives, or that of the variable; "" if there is none.

    The command line may be wrong: its errors are reported in the format that the file asks for.
    """
    path = os.environ.get(VARIABLE, "")
    for word, following in pairwise([*argv, ""]):
        if word == FLAG:
            path = following
        elif word.startswith(FLAG + "="):
            path = word.removeprefix(FLAG + "=")
    return path


def read_file(path: str) -> SettingsFile:
    """Read a settings file; "" is none. Whatever is wrong is an error of the result."""
    if not path:
        return SettingsFile({}, [])
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        mend = f"name another with {FLAG} ({VARIABLE})"
        return SettingsFile({}, [f"settings file {path}: {error.strerror}; {mend}"])
    except (ValueError, RecursionError) as error:
        return SettingsFile(
            {}, [f"settings file {path} is no TOML: {error}; texts are in quotes, comments begin with #"]
        )
    values: dict[str, Any] = {}
    errors = []
    for table, content in tables.items():
        if table not in TABLES or not isinstance(content, dict):
            errors.append(f"{path}: {misplaced(table, content)}")
            continue
        for name, value in content.items():
            if TABLE_OF.get(name) != table:
                errors.append(f"{path} [{table}]: {unknown(name, table)}")
                continue
            try:
                values[name] = from_toml(name, value)
            except ValueError as error:
                errors.append(f"{path} [{table}] {name} = {shown(name, as_toml(value))}: {error}")
    return SettingsFile(values, errors)


def misplaced(name: str, content: Any) -> str:
    """Return what is wrong with an entry outside the tables."""
    if name in TABLES:
        return f"{name} is a table: put [{name}] on a line of its own, and its settings below"
    if not isinstance(content, dict):
        return unknown(name)
    found = nearest(name, TABLES)
    return f"unknown table [{name}]: " + (f"did you mean [{found}]?" if found else f"give [{'], ['.join(TABLES)}]")


def unknown(name: str, table: str = "") -> str:
    """Return what is wrong with a name that is no setting of a table."""
    if name in SETTINGS:
        return f"{name} belongs below [{TABLE_OF[name]}]"
    found = nearest(name, SETTINGS)
    place = f" below [{TABLE_OF[found]}]" if found and TABLE_OF[found] != table else ""
    hint = f"did you mean {found}{place}?" if found else f"{program_name('server')} settings prints all"
    return f"unknown setting {name!r}: {hint}"


def file_text() -> str:
    """Return a settings file with all settings, each commented out and explained."""
    lines = comment(HEAD)
    for name, table in TABLES.items():
        lines += ["", f"[{name}]  # {table.about}"]
        for setting in fields(table.settings):
            lines += ["", *comment(setting.metadata["description"]), f"#{setting.name} = {default_or_example(setting)}"]
    return "\n".join(lines) + "\n"


def comment(text: str) -> list[str]:
    """Return the lines of a comment."""
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


def default_or_example(setting: Field[Any]) -> str:
    """Return the default of a setting in TOML, which has no value for unset."""
    if setting.name in EXAMPLES:
        return f"{EXAMPLES[setting.name]}  # an example"
    return as_toml(setting.default)
