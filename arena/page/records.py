"""The report of games from records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.columns import RESULTS
from arena.page.figures import Data
from arena.page.games import biggest_recorded_games
from arena.page.page import Contents, lines_table, name_of, page, statistics_table
from arena.page.plotting import BOTS
from arena.record_games import Players
from engine.common.files import write_atomically

IN_FIGURES = len(BOTS)  # players at most
PLAYER = "player"
BRIEF = tuple(each for each in RESULTS if each.key in ("games", "placement", "final_points"))


def write_page(path: Path, players: Players, rows: Sequence[dict[str, Any]], lines: Sequence[str]) -> None:
    """Write the report to ``path``. Raises OSError.

    ``rows``: all statistics of all players together, then of each player shown, see `arena.record_stats.rows_of`;
    figures and statistics have the first three. ``lines``: what was counted.
    """
    shown = rows[: 1 + IN_FIGURES]
    names = [row[PLAYER] for row in shown[1:]]
    tables = [statistics_table("Results", RESULTS, shown, PLAYER)]
    if len(rows) > len(shown):
        each = ((name_of(row[PLAYER]), row) for row in rows[1:])
        tables.append(f"<div>{lines_table('Players', PLAYER, BRIEF, each)}</div>")
    contents = Contents(
        names=names,
        lines=lines,
        tables=tables,
        data=Data([players.games_of([name], name) for name in names]),
        rows=shown,
        games=biggest_recorded_games(players.games, path),
        note="",
        footer="games count as independent, and those of all players together have none",
        key=PLAYER,
    )
    with write_atomically(path) as file:
        file.write(page(contents).encode("utf-8", "replace"))
