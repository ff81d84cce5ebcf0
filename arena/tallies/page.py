"""docs/statistics.md with the tables of all statistics and counts, which stand there as lines ``<!-- NAME -->``.

``python -m arena.tallies.page docs/statistics.md`` prints it; the documentation site gets it from docs/hooks.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from arena.bot_games import COUNTS
from arena.columns import COMPARISON, PLAY, RESULTS
from arena.statistic import Statistic
from arena.tallies.columns import GROUPS
from arena.tallies.counts import BLOCKS, TALLIES
from arena.tallies.times import TIMES

PLACE = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
HEAD = ("key", "shown as", "unit", "definition", "computed as")


def rows(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


def of(statistics: Sequence[Statistic[Any]]) -> str:
    """A table of statistics."""
    return rows(
        HEAD,
        (
            (f"`{each.key}`", " ".join(each.heading.split()), each.unit, each.help, each.formula.replace("|", "\\|"))
            for each in statistics
        ),
    )


def groups() -> str:
    """A section for each group of statistics."""
    return "\n".join(f"### {title}\n\n{of(group)}" for title, group in GROUPS.items())


def counts() -> str:
    """All counts."""
    every = COUNTS | {name: count.text for name, count in TALLIES.items()}
    every |= {f"{name}.…": block.text for name, block in BLOCKS.items()}
    return rows(("count", "counts, for each bot"), ((f"`{name}`", text) for name, text in every.items()))


TABLES: dict[str, Callable[[], str]] = {
    "results": lambda: of(RESULTS),
    "play": lambda: of(PLAY),
    "comparison": lambda: of(COMPARISON),
    "groups": groups,
    "times": lambda: of(TIMES),
    "counts": counts,
}


def filled(page: str) -> str:
    """The page with its tables. Raises KeyError for a table that is not one of `TABLES`."""
    return PLACE.sub(lambda place: TABLES[place[1]](), page)


if __name__ == "__main__":
    sys.stdout.write(filled(Path(sys.argv[1]).read_text(encoding="utf-8")))
