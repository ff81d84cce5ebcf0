"""The options in the name of a bot: ``bert:FOLDER?temperature=0.5&top=3``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

# name -> reader of its value, which raises ValueError; help text
BotOptions: TypeAlias = Mapping[str, tuple[Callable[[str], Any], str]]


def read_options(bot: str, options: BotOptions, text: str) -> dict[str, Any]:
    """The values given in ``NAME=VALUE&NAME=VALUE``, by name. Raises ValueError, listing the options there are."""
    given: dict[str, Any] = {}
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        if name not in options:
            raise ValueError(f"the bot {bot} has no option {name!r}; options: {', '.join(options)}")
        if name in given:
            raise ValueError(f"the bot {bot} is given the option {name!r} twice")
        read, description = options[name]
        try:
            given[name] = read(value)
        except ValueError:
            hint = "; & joins options, not a comma" if any(f",{other}=" in value for other in options) else ""
            raise ValueError(f"the bot {bot} cannot use {part!r}; {name}: {description}{hint}") from None
    return given


def read_path(text: str) -> Path:
    """A path, with the home of a user in place of ``~``. Raises ValueError if there is no such user."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text}: {error}") from None


def read_temperature(text: str) -> float:
    """A temperature. Raises ValueError."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value
