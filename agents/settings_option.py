"""The option ``--set NAME=VALUE`` of trainers, which gives hyperparameters that are seldom changed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from engine.common.options import Parser


class Setting(NamedTuple):
    """A setting: the option type that reads its value, its default, and what it is."""

    read: Callable[[str], Any]
    default: Any
    help: str


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
            raise argparse.ArgumentError(self, f"give a value, as in {name}={self._settings[name].default}")
        try:
            setattr(namespace, name, self._settings[name].read(text))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, f"{given}: {error}") from None


def add_settings(parser: Parser, settings: Mapping[str, Setting]) -> None:
    """Add ``--set``, which may be given again, and the table of the settings, by their names, to the epilog."""
    parser.add_argument(
        "--set",
        action=SetAction,
        settings=settings,
        dest=argparse.SUPPRESS,
        default=argparse.SUPPRESS,
        metavar="NAME=VALUE",
        help="another setting, of those below; may be given again",
    )
    parser.set_defaults(**{name: setting.default for name, setting in settings.items()})
    width = max(map(len, settings))
    rows = [f"{name:{width}}  {describe(setting)}" for name, setting in settings.items()]
    parser.epilog = "\n".join(["settings:", *rows, "", parser.epilog or ""])


def describe(setting: Setting) -> str:
    """What a setting is, and its default unless that is said already."""
    if "default" in setting.help:
        return setting.help
    shown = f"{setting.default:g}" if isinstance(setting.default, float) else str(setting.default).lower()
    return f"{setting.help} (default {shown})"


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
