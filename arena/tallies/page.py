"""The tables of docs/statistics.md, written from the tables of statistics and counts.

``python -m arena.tallies.page docs/statistics.md`` brings the page up to date: what stands between the lines
``<!-- NAME -->`` and ``<!-- end -->``.
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
from arena.tallies.names import BLOCKS, TALLIES
from arena.tallies.times import TIMES

BLOCK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)
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
    every = COUNTS | TALLIES | {f"{name}.…": text for name, (_, text) in BLOCKS.items()}
    return rows(("count", "counts, for each bot"), ((f"`{name}`", text) for name, text in every.items()))


TABLES: dict[str, Callable[[], str]] = {
    "results": lambda: of(RESULTS),
    "play": lambda: of(PLAY),
    "comparison": lambda: of(COMPARISON),
    "groups": groups,
    "times": lambda: of(TIMES),
    "counts": counts,
}


def update(page: str) -> str:
    """The page with every table up to date. Raises KeyError for a table that is not one of `TABLES`."""
    return BLOCK.sub(lambda found: f"<!-- {found[1]} -->\n\n{TABLES[found[1]]()}\n<!-- end -->", page)


def main(path: Path) -> None:
    """Bring a page up to date."""
    path.write_text(update(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
