"""Command lines: the parser, the option types and the one-line error messages of all packages.

An option type is a function from the text of an option to its value, for ``add_argument(type=...)``. It raises
`argparse.ArgumentTypeError` for text that it does not accept.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf, nan
from pathlib import Path
from typing import Any, NoReturn, TextIO

from engine.checks import scores_in
from engine.common.program import BAD_ARGUMENTS, OK, program_name, version
from engine.rules import N_SEATS, Scores
from engine.seeds import MAX_SEED

ENTRY = re.compile(r"(\S+(?: \S+)*)  +(?=\S)")  # a line of a table in an epilog: a term, two spaces, its definition


class HelpFormatter(argparse.HelpFormatter):
    """Wraps descriptions and epilogs to the width of the terminal, and shows the defaults of options.

    Paragraphs of a text are separated by empty lines. A line of the form ``term  definition`` (two spaces) begins a
    table entry, which indented lines continue. A paragraph of indented lines, such as commands, is left as it is.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(_fill_paragraph(paragraph, width) for paragraph in paragraphs)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help
        shown = action.default not in (None, argparse.SUPPRESS, "", False, [], ()) and action.nargs != 0
        if text and shown and "default" not in text and text is not argparse.SUPPRESS:
            text += " (default %(default)s)"
        return text


def _fill_paragraph(paragraph: str, width: int) -> str:
    """Wrap one paragraph; see `HelpFormatter`."""
    entries: list[str] = []
    lines = paragraph.split("\n")
    table = any(ENTRY.match(line) for line in lines)
    for line in lines:
        if not table and line.startswith(" "):
            entries.append(line)
        elif entries and not entries[-1].startswith(" ") and (line.startswith(" ") or not ENTRY.match(line)):
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return "\n".join(_fill_entry(entry, width) for entry in entries)


def _fill_entry(entry: str, width: int) -> str:
    if entry.startswith(" "):
        return entry
    head = ENTRY.match(entry)
    indent = " " * min(len(head[0]) if head else 0, width // 3)
    return textwrap.fill(
        entry, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )


class ShowVersion(argparse.Action):
    """Prints the version, which is not looked up before."""

    def __call__(self, parser: argparse.ArgumentParser, *ignored: object) -> None:
        """Print, and exit with code 0."""
        print(f"nukidora {version()}")
        parser.exit(OK)


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a bad argument in one line, without the usage, and exits with code 2.

    Options cannot be abbreviated, and a program shows its version.
    """

    def __init__(
        self,
        program: str = "",
        *,
        prog: str | None = None,
        description: str | None = None,
        epilog: str | None = None,
        **options: Any,
    ) -> None:
        """``program``: the module, such as ``agents.bert train``. ``prog`` is what `argparse` gives subcommands."""
        about = re.sub(r"^python -m [\w.]+( \w+)?: ", "", inspect.cleandoc(description or ""))
        super().__init__(
            prog or program_name(program),
            description=about[:1].upper() + about[1:],
            formatter_class=HelpFormatter,
            allow_abbrev=False,
            epilog=epilog,
            **options,
        )
        if prog is None and self.add_help:
            self.add_argument(
                "--version",
                action=ShowVersion,
                nargs=0,
                dest=argparse.SUPPRESS,
                default=argparse.SUPPRESS,
                help="show the version and exit",
            )

    def error(self, message: str) -> NoReturn:
        """Print ``message``, which may have parts of a stranger's file, to stderr and exit."""
        self.exit(BAD_ARGUMENTS, f"{self.short_name}: {printable(message)}\n")

    @contextmanager
    def reporting(self, *errors: type[Exception]) -> Iterator[None]:
        """Report an error of the block, by default a ValueError, as a bad argument."""
        kinds = errors or (ValueError,)
        try:
            yield
        except kinds as error:
            self.error(describe_error(error))

    @property
    def short_name(self) -> str:
        """The prefix of the program's messages: ``arena``, or ``nukidora arena``."""
        return self.prog.removeprefix("python -m ")


def seed(text: str) -> int:
    """Option type: a seed, an integer of 64 bits that is not negative."""
    return _integer(text, "a seed: an integer from 0 to 2^64 - 1", 0, MAX_SEED)


def seat(text: str) -> int:
    """Option type: a seat; 0 is the first dealer's."""
    if text not in map(str, range(N_SEATS)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a seat: 0 is the first dealer, then 1 and 2")
    return int(text)


def port(text: str) -> int:
    """Option type: a TCP port to connect to."""
    return _integer(text, "a port: an integer from 1 to 65535", 1, 65535)


def positive(text: str) -> int:
    """Option type: an integer >= 1."""
    return _integer(text, "a positive integer", 1)


def non_negative(text: str) -> int:
    """Option type: an integer >= 0."""
    return _integer(text, "a non-negative integer", 0)


def positive_number(text: str) -> float:
    """Option type: a finite number > 0."""
    return _number(text, "a positive number", positive=True)


def non_negative_number(text: str) -> float:
    """Option type: a finite number >= 0."""
    return _number(text, "a non-negative number")


def seconds(text: str) -> float:
    """Option type: a finite number of seconds >= 0."""
    return _number(text, "a non-negative number of seconds")


def positive_seconds(text: str) -> float:
    """Option type: a finite number of seconds > 0."""
    return _number(text, "a positive number of seconds", positive=True)


def bots_of(text: str) -> tuple[str, ...]:
    """Option type: bots separated by commas, as in a line of CSV: put a bot that contains a comma in double quotes."""
    try:
        return tuple(spec.strip() for spec in next(csv.reader([text], skipinitialspace=True, strict=True), []))
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def three_bots(text: str) -> tuple[str, ...]:
    """Option type: three bots, see `bots_of`."""
    bots = bots_of(text)
    if len(bots) != N_SEATS:
        raise argparse.ArgumentTypeError(f"{text!r} names {len(bots)} bots: three play, as in rule,random,random")
    return bots


def two_bots(text: str) -> tuple[str, ...]:
    """Option type: two bots, see `bots_of`."""
    bots = bots_of(text)
    if len(bots) != N_SEATS - 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} names {len(bots)} bot{'s' * (len(bots) != 1)}: two play against you, as in rule,bert"
        )
    return bots


def starting_scores(text: str) -> Scores:
    """Option type: the starting scores of three bots, in points, separated by commas."""
    try:
        return scores_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def usable_cores() -> int:
    """Return the number of CPU cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_in_environment() -> int | None:
    """Return the number of worker processes that the variable sets, if any. Raises ValueError if it is no number."""
    given = os.environ.get("NUKIDORA_JOBS")
    try:
        return positive(given) if given else None
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"NUKIDORA_JOBS: {error}") from None


def check_output(option: str, path: Path | None) -> None:
    """Raise ValueError if ``path``, given with ``option``, is set and cannot be the path of a file."""
    if path is not None and path.is_dir():
        raise ValueError(f"{option} {path}: this is a folder; name a file in it")
    if path is not None:
        check_parent(option, path)


def check_parent(option: str, path: Path) -> None:
    """Raise ValueError if ``path``, given with ``option``, is not in a folder that exists."""
    if not path.parent.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {path.parent}; name a file in a folder that exists")


def notes_stream(*written: Path | None) -> TextIO:
    """Return where to print notes about the files ``written``: on stderr if one is /dev/stdout or another device."""
    to_device = any(path is not None and path.exists() and not path.is_file() for path in written)
    return sys.stderr if to_device else sys.stdout


def check_not_read(option: str, path: Path | None, read: Iterable[Path]) -> None:
    """Raise ValueError if ``path``, given with ``option``, is set and one of the files to ``read``."""
    if path is not None and path.exists() and any(each.exists() and path.samefile(each) for each in read):
        raise ValueError(f"{option} {path}".strip() + ": this is one of the files to read; name another file to write")


def printable(text: str) -> str:
    """Return untrusted text with every character that could break the line or control the terminal replaced."""
    return "".join(character if character.isprintable() else "?" for character in text)


def printable_texts(value: Any) -> Any:
    """Return a JSON value with all its texts made `printable`."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return list(map(printable_texts, value))
    if isinstance(value, dict):
        return {printable_texts(key): printable_texts(each) for key, each in value.items()}
    return value


def describe_error(error: Exception) -> str:
    """Return an error in one line; for an `OSError` about a file, the file and the reason."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _integer(text: str, what: str, minimum: int, maximum: float = inf) -> int:
    if not (text.isascii() and text.isdigit() and minimum <= int(text) <= maximum):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return int(text)


def _number(text: str, what: str, *, positive: bool = False) -> float:
    """Parse a finite number >= 0, or > 0."""
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 0.0 <= value < inf or (positive and value == 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value
