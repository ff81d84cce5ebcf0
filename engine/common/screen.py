"""Where programs print their tables: the terminal, or as many columns where the output is none."""

from __future__ import annotations

import os

from rich.console import Console

TABLE_WIDTH = 100  # columns where the output is no terminal, unless $COLUMNS says something else


def screen(width: int = TABLE_WIDTH) -> Console:
    """The standard output, ``width`` columns wide if it is no terminal. Numbers are not coloured."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = width
    return console
