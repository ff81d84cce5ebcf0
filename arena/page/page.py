"""The report of a run as one self-contained HTML page: no scripts, and no fonts or images to load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.columns import COMPARISON, PLAY, RESULTS, Statistic
from arena.page.figures import FIGURES, Data, Figure
from arena.page.games import BigGame, biggest_games
from arena.page.plotting import key_of
from arena.report import better_bots, luck_line, not_significant, stop_line
from arena.results import Results
from arena.tallies.columns import GROUPS
from engine.common.files import write_atomically
from engine.contests.seating import ROTATIONS
from engine.rules import EVEN_SCORES

# Nothing is loaded, nothing runs; styles are in the page, and the icon is an empty one.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title} · nukidora arena</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def write_page(path: Path, results: Results, document: dict[str, Any], saved: Path | None) -> None:
    """Write the report to ``path``; ``saved``: the folder of saved games. Raises OSError."""
    text = page(Data(results.by_bot()), document, biggest_games(results, path, saved))
    with write_atomically(path) as file:
        file.write(text.encode("utf-8", "replace"))


def page(data: Data, document: dict[str, Any], games: Sequence[BigGame]) -> str:
    """The page. ``document``: see `arena.results.Results.document`; ``games``: the biggest."""
    names = [bot["bot"] for bot in document["bots"]]
    body = "\n".join([
        f"<h1>{_names(names)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in _lines(document)),
        '<section class="tables" aria-label="Results">',
        _statistics("Results", RESULTS, document["bots"]),
        *_comparisons(document["comparisons"]),
        "</section>",
        '<section class="figures" aria-label="Figures">',
        *(_figure(figure, data, names) for figure in FIGURES),
        "</section>",
        "<h2>Statistics</h2>",
        '<section class="tables details" aria-label="Statistics">',
        _details("Play", PLAY, document["bots"], "open"),
        *(_details(title, statistics, document["bots"]) for title, statistics in GROUPS.items()),
        "</section>",
        *_games(games),
        f"<footer>{escape(_footer(document))}</footer>",
    ])  # fmt: skip
    style = (files("arena.page") / "page.css").read_text("utf-8").strip()
    return PAGE.format(policy=POLICY, title=escape(", ".join(names)), style=style, body=body)


def _name(name: str) -> str:
    """Return a bot's name, which may be any text: its writing direction does not affect what follows."""
    return f"<bdi>{escape(name)}</bdi>"


def _names(names: Sequence[str]) -> str:
    return f"{_name(names[0])}, {_name(names[1])} and {_name(names[2])}"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield what was played, and with what result."""
    settings, bot = document["settings"], document["bots"][0]
    line = (
        f"{bot['games']:,} games on {bot['games'] // ROTATIONS:,} walls, each in {ROTATIONS} rotations of the seats; "
    )
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


def _footer(document: dict[str, Any]) -> str:
    version = f" {document['version']}" if document["version"] else ""
    return (
        f"Made by the arena of nukidora{version}. Intervals are 95 % confidence intervals; one wall is one observation."
    )


def _cells(statistics: Sequence[Statistic[Any]], row: dict[str, Any]) -> Iterator[str]:
    for statistic in statistics:
        yield f"<td>{escape(statistic.cell(row)).replace('± ', '±&nbsp;')}</td>"


def _heading(statistic: Statistic[Any]) -> str:
    return escape(" ".join(statistic.heading.split()))


def _comparisons(pairs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table of every two bots compared."""
    yield '<div><table><caption>Every two bots, compared</caption><thead><tr><th scope="col">bots</th>'
    yield from (f'<th scope="col">{_heading(statistic)}</th>' for statistic in COMPARISON)
    yield "</tr></thead><tbody>"
    for pair in pairs:
        yield f'<tr><th scope="row">{_name(pair["bot"])} and {_name(pair["against"])}</th>'
        yield from _cells(COMPARISON, pair)
        yield "</tr>"
    yield "</tbody></table>"
    yield from (f'<p class="note">{_heading(each)}: {escape(each.help)}.</p>' for each in COMPARISON)
    yield "</div>"


def _figure(figure: Figure, data: Data, names: Sequence[str]) -> str:
    keys = "".join(f"<li>{key_of(index)} {_name(name)}</li>" for index, name in enumerate(names))
    caption = f"<h2>{figure.title}</h2><p>{escape(figure.text(data))}</p>"
    return f'<figure><figcaption>{caption}<ul class="keys">{keys}</ul></figcaption>{figure.svg(data)}</figure>'


def _statistics(title: str, statistics: Iterable[Statistic[Any]], bots: Sequence[dict[str, Any]]) -> str:
    """A table with a line for each statistic and a column for each bot: a phone has room for that."""
    heads = "".join(f'<th scope="col">{_name(bot["bot"])}</th>' for bot in bots)
    caption = f"<caption>{title}</caption>" if title else ""
    lines = [f'<table>{caption}<thead><tr><th scope="col">statistic</th>{heads}</tr></thead><tbody>']
    for statistic in statistics:
        cells = "".join(cell for bot in bots for cell in _cells((statistic,), bot))
        head = f'<th scope="row">{_heading(statistic)}<small>{escape(statistic.help)}</small></th>'
        lines.append(f"<tr>{head}{cells}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def _details(title: str, statistics: Iterable[Statistic[Any]], bots: Sequence[dict[str, Any]], state: str = "") -> str:
    """A table that opens when its title is clicked; it is printed open."""
    table = _statistics("", statistics, bots)
    return f"<details {state}><summary>{escape(title)}</summary>{table}</details>"


def _command(command: str) -> str:
    """A command in which no line is broken within an option."""
    return re.sub(r"--\w+ \S+", r'<span class="option">\g<0></span>', escape(command))


def _games(games: Sequence[BigGame]) -> Iterator[str]:
    yield '<section class="games"><h2>The biggest games</h2>'
    yield "<p>The highest scores at the end of a game.</p><ol>"
    for game in games:
        result = " · ".join(f"{_name(bot)} <b>{score:,}</b>" for bot, score in game.result)
        where = f"wall {game.wall_seed}, rotation {game.rotation}"
        if game.file:
            where += f': <a href="{escape(game.address)}">its record</a>; the round of its most valuable hand, '
            where += f'{escape(game.biggest_round)}, <a href="{escape(game.replay)}" rel="noreferrer">in Tenhou’s '
            where += f"viewer</a> or by <code>{_command(game.command)}</code>"
        yield f"<li>{result}<p>{where}</p></li>"
    yield "</ol>"
    if not any(game.file for game in games):
        yield "<p>Run with <code>--save FOLDER</code>, the arena keeps the games, and this page links to them.</p>"
    yield "</section>"
