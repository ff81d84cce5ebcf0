"""What the command lines of all packages share."""

from __future__ import annotations

import argparse
from typing import NoReturn

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
