"""The settings of a trainer: fields of a dataclass that say how the command line reads them and what they are.

The options, the help and the arguments that repeat a run follow from the fields: a new setting is one more field.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from engine.common.options import Parser, non_negative_number

T = TypeVar("T")


class Setting(NamedTuple):
    """A setting: its default, the option type that reads its value, what it is, and whether it has its own option."""

    default: Any
    read: Callable[[str], Any]
    help: str
    metavar: str = ""  # of its own option; without one, ``--set NAME=VALUE`` gives it
    option: str = ""  # if that is not `option_of` its name


def setting(default: T, read: Callable[[str], T], help: str, metavar: str = "") -> T:
    """A field of a dataclass, with this default, which the command line gives; see `Setting`."""
    value: T = field(default=default, metadata={"read": read, "help": help, "metavar": metavar})
    return value


def settings_in(*classes: type) -> dict[str, Setting]:
    """The settings among the fields of dataclasses, by name."""
    return {
        each.name: Setting(each.default, **each.metadata)
        for of in classes
        for each in fields(of)
        if "read" in each.metadata
    }


def values_of(of: type, options: argparse.Namespace) -> dict[str, Any]:
    """The settings of a dataclass, as the options give them."""
    return {name: getattr(options, name) for name in settings_in(of)}


def arguments_of(chosen: object) -> list[str]:
    """The arguments that give the settings of a dataclass that are not the defaults."""
    words: list[str] = []
    for name, each in settings_in(type(chosen)).items():
        if (value := getattr(chosen, name)) != each.default:
            words += words_of(name, value, each)
    return words


def words_of(name: str, value: Any, each: Setting) -> list[str]:
    """The arguments that give a setting this value."""
    option = each.option or (option_of(name) if each.metavar else "")
    return [option, as_text(value)] if option else ["--set", f"{name}={as_text(value)}"]


def check_unchanged(
    place: Path, before: Mapping[str, Any], now: Mapping[str, Any], settings: Mapping[str, Setting]
) -> None:
    """Raise ValueError, in one line, if a run that began with the settings `before` would go on with others, `now`.

    Both are by name, as values or as texts. A setting that did not exist when the run began had its default. What is
    no setting, such as the data, has the name that it has in the help.
    """
    for name, value in now.items():
        each = settings.get(name, Setting("", str, "", option=name))
        texts = as_text(before.get(name, each.default)), as_text(value)
        if texts[0] != texts[1]:
            began, goes_on = (text + " (the default)" * (text == as_text(each.default)) for text in texts)
            what = f"began with {' '.join(words_of(name, began, each))}, not {goes_on}"
            raise ValueError(f"{place}: {what}; give the same options, or another folder")


def option_of(name: str) -> str:
    """A setting's own option."""
    return "--" + name.replace("_", "-")


def as_text(value: Any) -> str:
    """A value as it is given: items of a tuple are separated by commas, those of one in it by hyphens."""
    if isinstance(value, tuple):
        return ",".join("-".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


class SetAction(argparse.Action):
    """Reads ``NAME=VALUE`` by the row NAME of `settings`, and sets the attribute of that name."""

    def __init__(self, *, settings: Mapping[str, Setting], **options: Any) -> None:
        super().__init__(**options)
        self._settings = settings

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, given: Any, option: str | None = None
    ) -> None:
        """Set it. Raises ArgumentError for another name, or a value that its type does not accept."""
        name, equals, text = str(given).partition("=")
        if name not in self._settings:
            raise argparse.ArgumentError(self, f"there is no {name!r}, choose from {', '.join(self._settings)}")
        if not equals:
            raise argparse.ArgumentError(self, f"give a value, as in {name}={as_text(self._settings[name].default)}")
        try:
            setattr(namespace, name, self._settings[name].read(text))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, f"{given}: {error}") from None


def add_settings(parser: Parser, settings: Mapping[str, Setting]) -> None:
    """Add the settings' own options, and ``--set`` for all others; their table is added to the epilog."""
    others = {name: each for name, each in settings.items() if not each.metavar}
    for name, each in settings.items():
        if each.metavar:
            parser.add_argument(
                option_of(name), type=each.read, default=each.default, metavar=each.metavar, help=describe(each)
            )
    parser.add_argument(
        "--set",
        action=SetAction,
        settings=others,
        dest=argparse.SUPPRESS,
        default=argparse.SUPPRESS,
        metavar="NAME=VALUE",
        help="another setting, of those below; may be given again",
    )
    parser.set_defaults(**{name: each.default for name, each in others.items()})
    width = max(map(len, others))
    rows = [f"{name:{width}}  {describe(each)}" for name, each in others.items()]
    parser.epilog = "\n".join(["settings:", *rows, "", parser.epilog or ""])


def describe(each: Setting) -> str:
    """What a setting is, and its default unless that is said already."""
    if "default" in each.help:
        return each.help
    shown = f"{each.default:g}" if isinstance(each.default, float) else as_text(each.default)
    return f"{each.help} (default {shown})"


def one_of(*values: str) -> Callable[[str], str]:
    """Return the option type of a text that is one of `values`."""

    def read(text: str) -> str:
        if text not in values:
            raise argparse.ArgumentTypeError(f"{text!r} is not {' or '.join(values)}")
        return text

    return read


def true_or_false(text: str) -> bool:
    """Option type: a switch."""
    return one_of("true", "false")(text.lower()) == "true"


def share(text: str) -> float:
    """Option type: a number from 0 to 1."""
    number = non_negative_number(text)
    if number > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share: a number from 0 to 1")
    return number
