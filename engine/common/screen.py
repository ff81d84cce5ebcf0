"""The console on which programs print, and their plain tables."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

TABLE_WIDTH = 100  # columns if the output is not a terminal and $COLUMNS is not set


def screen(width: int = TABLE_WIDTH) -> Console:
    """Return a console on stdout, ``width`` columns wide if it is not a terminal. Numbers are not coloured."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = width
    return console


def plain_table(words: Sequence[str] = (), numbers: Sequence[str] = (), texts: Sequence[str] = ()) -> Table:
    """Return an empty table with columns of these headings, in this order; texts may be folded.

    A heading is no markup: it may be the name of a bot.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), collapse_padding=True)
    for heading in words:
        table.add_column(Text(heading))
    for heading in numbers:
        table.add_column(Text(heading), justify="right")
    for heading in texts:
        table.add_column(Text(heading), overflow="fold")
    return table
