"""The report of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from arena.columns import COMPARISON, RESULTS
from arena.page.figures import Data
from arena.page.games import biggest_games
from arena.page.page import Contents, heading_of, lines_table, name_of, page, statistics_table
from arena.report import better_bots, luck_line, not_significant, stop_line
from arena.results import Results, run_id
from engine.common.files import write_atomically
from engine.contests.seating import ROTATIONS
from engine.rules import EVEN_SCORES

NOT_SAVED = "Run with <code>--save FOLDER</code>, the arena keeps the games, and this page links to them."


def write_page(path: Path, results: Results, document: dict[str, Any], saved: Path | None) -> None:
    """Write the report to ``path``; ``saved``: the folder of saved games. Raises OSError.

    ``document``: see `arena.results.Results.document`.
    """
    bots, games = document["bots"], biggest_games(results, path, saved)
    contents = Contents(
        names=[bot["bot"] for bot in bots],
        lines=list(_lines(document)),
        tables=[statistics_table("Results", RESULTS, bots), _comparisons(document["comparisons"])],
        data=Data(results.by_bot()),
        rows=bots,
        games=games,
        note="" if any(game.replay for game in games) else NOT_SAVED,
        footer="one wall is one observation",
        run=run_id(document),
    )
    with write_atomically(path) as file:
        file.write(page(contents).encode("utf-8", "replace"))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield what was played, and with what result."""
    settings, bot = document["settings"], document["bots"][0]
    n = bot["games"] // ROTATIONS
    walls = "one wall" if n == 1 else f"{n:,} walls, each"
    line = f"{bot['games']:,} games on {walls} in {ROTATIONS} rotations of the seats; "
    line += f"{bot['rounds']:,} rounds; {settings['rules']} rules, {settings['length']}, seed {settings['seed']}"
    if settings["tenhou_seed"]:
        line += "; walls by a seed of Tenhou"
    if tuple(settings["scores"]) != EVEN_SCORES:
        line += f"; starting scores {', '.join(f'{score:,}' for score in settings['scores'])}"
    yield line + "."
    unknown, luck = not_significant(document["comparisons"]), luck_line(document).capitalize()
    for line in (stop_line(document), better_bots(document), *unknown, luck):
        if line:
            yield line + "."


def _comparisons(pairs: Sequence[dict[str, Any]]) -> str:
    """A table of every two bots compared."""
    lines = [(f"{name_of(pair['bot'])} and {name_of(pair['against'])}", pair) for pair in pairs]
    notes = (f'<p class="note">{heading_of(each)}: {escape(each.help)}.</p>' for each in COMPARISON)
    return f"<div>{lines_table('Every two bots, compared', 'bots', COMPARISON, lines)}{''.join(notes)}</div>"
