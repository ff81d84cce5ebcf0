"""Command lines: the parser, the option types and the one-line error messages of all packages.

An option type is a function from the text of an option to its value, for ``add_argument(type=...)``. It raises
`argparse.ArgumentTypeError` for text that it does not accept.
"""

from __future__ import annotations

import argparse
import csv
import os
from math import inf, nan
from typing import NoReturn

from engine.table import N_SEATS

BAD_ARGUMENTS = 2  # exit code


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a bad argument in one line, without the usage, and exits with code 2."""

    def error(self, message: str) -> NoReturn:
        """Print ``message`` to stderr and exit."""
        self.exit(BAD_ARGUMENTS, f"{self.prog}: {message}\n")


def positive(text: str) -> int:
    """Option type: an integer >= 1."""
    return _integer(text, 1, "a positive integer")


def non_negative(text: str) -> int:
    """Option type: an integer >= 0."""
    return _integer(text, 0, "a non-negative integer")


def positive_number(text: str) -> float:
    """Option type: a finite number > 0."""
    value = _number(text)
    if not 0.0 < value < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def seconds(text: str) -> float:
    """Option type: a finite number of seconds >= 0."""
    value = _number(text)
    if not 0.0 <= value < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative number of seconds")
    return value


def positive_seconds(text: str) -> float:
    """Option type: a finite number of seconds > 0."""
    value = _number(text)
    if not 0.0 < value < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return value


def three_bots(text: str) -> tuple[str, ...]:
    """Option type: three bots separated by commas, as in a line of CSV: a bot with a comma is put in double quotes."""
    try:
        bots = tuple(spec.strip() for spec in next(csv.reader([text], skipinitialspace=True, strict=True), []))
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    if len(bots) != N_SEATS:
        raise argparse.ArgumentTypeError(f"{text!r} names {len(bots)} bots: three play, as in rule,random,random")
    return bots


def usable_cores() -> int:
    """How many CPU cores this process may run on: the default of ``--jobs``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_error(error: Exception) -> str:
    """An error in one line; for an `OSError` about a file, the file and the reason."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _integer(text: str, minimum: int, what: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < minimum:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
