"""What the command lines of all packages share."""

from __future__ import annotations

import argparse
import csv
import os
from typing import NoReturn

from engine.table import N_SEATS

BAD_ARGUMENTS = 2


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        self.exit(BAD_ARGUMENTS, f"{self.prog}: {message}\n")


def positive(text: str) -> int:
    """A whole number from 1 up, for an option. Raises ArgumentTypeError for anything else."""
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def three_bots(text: str) -> tuple[str, ...]:
    """Bots separated by commas; one with a comma of its own stands in double quotes, as in CSV."""
    try:
        bots = tuple(spec.strip() for spec in next(csv.reader([text], skipinitialspace=True, strict=True), []))
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    if len(bots) != N_SEATS:
        raise argparse.ArgumentTypeError(f"{text!r} names {len(bots)} bots: three play, as in rule,random,random")
    return bots


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def complaint(error: Exception) -> str:
    """An error in one line, with the file where there is one."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
