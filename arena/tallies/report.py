"""Prints all statistics of a run: a line for each, a column for each bot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report import ASCII_HEAD, plain_text, title
from arena.statistic import Statistic
from arena.tallies.columns import GROUPS, YAKUMAN, YAKUS
from arena.tallies.times import TIMES

TIMES_TITLE = "Decision times of this process"


def print_statistics(console: Console, document: dict[str, Any]) -> None:
    """Print a table for each group of statistics, and the decision times; see `arena.report` for the document.

    Yaku that nobody has won with are left out.
    """
    print_groups(console, document["bots"])
    print_group(console, TIMES_TITLE, TIMES, document["speed"]["decision_times"])


def print_groups(console: Console, rows: Sequence[dict[str, Any]], name: str = "bot") -> None:
    """Print a table for each group of statistics; ``rows``: the values of each bot by their keys, ``name`` its name."""
    for heading, group in GROUPS.items():
        shown = [each for each in group if any(row[each.key] for row in rows)]
        print_group(console, heading, shown if group in (YAKUS, YAKUMAN) else group, rows, name)


def print_group(
    console: Console,
    heading: str,
    group: Sequence[Statistic[Any]],
    rows: Sequence[dict[str, Any]],
    name: str = "bot",
) -> None:
    """Print one table: a line for each statistic of ``group``, with the values of ``rows``, one for each bot."""
    if not group or not rows:
        return
    plain = plain_text(console)
    drawn = Table(box=box.SIMPLE_HEAD if plain("─") == "─" else ASCII_HEAD, padding=0, safe_box=False)
    drawn.add_column("", vertical="bottom", overflow="fold", min_width=12)
    for row in rows:
        width = max(8, console.width // (2 + len(rows)))
        drawn.add_column(Text(row[name]), justify="right", vertical="bottom", overflow="fold", max_width=width)
    for statistic in group:
        cells = (Text(plain(statistic.cell(row)), no_wrap=True) for row in rows)
        drawn.add_row(Text(" ".join(statistic.heading.split())), *cells)
    title(console, heading)
    console.print(drawn)
