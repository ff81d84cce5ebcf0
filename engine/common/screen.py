"""The console on which programs print their tables."""

from __future__ import annotations

import os

from rich.console import Console

TABLE_WIDTH = 100  # columns if the output is not a terminal and $COLUMNS is not set


def screen(width: int = TABLE_WIDTH) -> Console:
    """Return a console on stdout, ``width`` columns wide if it is not a terminal. Numbers are not coloured."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = width
    return console
