"""The report as one self-contained HTML page: no scripts, and no fonts or images to load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from arena.columns import PLAY, Statistic
from arena.page.figures import FIGURES, Data, Figure
from arena.page.games import BigGame
from arena.page.plotting import key_of
from arena.tallies.columns import GROUPS
from engine.common.program import installed_version

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
<main data-run="{run}">
{body}
</main>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a page shows.

    ``names``: of the bots or players of the figures. ``lines``: what was played. ``tables``: elements of the page.
    ``rows``: the statistics, a column of the tables each, whose head is the value of ``key``. ``note``: below the
    biggest games, if they have one. ``footer``: what intervals are of. ``run``: the id of a run.
    """

    names: Sequence[str]
    lines: Sequence[str]
    tables: Sequence[str]
    data: Data
    rows: Sequence[dict[str, Any]]
    games: Sequence[BigGame]
    note: str
    footer: str
    key: str = "bot"
    run: str = ""


def page(shown: Contents) -> str:
    """The page."""
    body = "\n".join([
        f"<h1>{_names(shown.names)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in shown.lines if line),
        '<section class="tables" aria-label="Results">',
        *shown.tables,
        "</section>",
        '<section class="figures" aria-label="Figures">',
        *(_figure(figure, shown.data, shown.names) for figure in FIGURES),
        "</section>",
        "<h2>Statistics</h2>",
        '<section class="tables details" aria-label="Statistics">',
        _details("Play", PLAY, shown, "open"),
        *(_details(title, statistics, shown) for title, statistics in GROUPS.items()),
        "</section>",
        *_games(shown.games, shown.note),
        f"<footer>{escape(_footer(shown.footer))}</footer>",
    ])  # fmt: skip
    style = (files("arena.page") / "page.css").read_text("utf-8").strip()
    return PAGE.format(policy=POLICY, title=escape(", ".join(shown.names)), style=style, run=shown.run, body=body)


def run_of_page(path: Path) -> str:
    """The id of the run of which a file is the page, "" if it is of none. Raises OSError."""
    found = re.search(rb'^<main data-run="(\w*)">$', path.read_bytes(), re.MULTILINE)
    return found[1].decode() if found else ""


def name_of(name: str) -> str:
    """Return the name of a bot or player, which may be any text: its direction does not affect what follows."""
    return f"<bdi>{escape(name)}</bdi>"


def _names(names: Sequence[str]) -> str:
    *others, last = map(name_of, names)
    return f"{', '.join(others)} and {last}" if others else last


def _footer(observations: str) -> str:
    version = f" {installed}" if (installed := installed_version()) else ""
    return f"Made by the arena of nukidora{version}. Intervals are 95 % confidence intervals; {observations}."


def _cells(statistics: Sequence[Statistic[Any]], row: dict[str, Any]) -> Iterator[str]:
    for statistic in statistics:
        yield f"<td>{escape(statistic.cell(row)).replace('± ', '±&nbsp;')}</td>"


def heading_of(statistic: Statistic[Any]) -> str:
    """The heading of a statistic in one line, as HTML."""
    return escape(" ".join(statistic.heading.split()))


def lines_table(
    title: str, head: str, statistics: Sequence[Statistic[Any]], rows: Iterable[tuple[str, dict[str, Any]]]
) -> str:
    """A table with a column for each of a few statistics, and a line for each of ``rows``, by its name as HTML."""
    heads = "".join(f'<th scope="col">{heading_of(statistic)}</th>' for statistic in statistics)
    lines = [f'<table><caption>{title}</caption><thead><tr><th scope="col">{head}</th>{heads}</tr></thead><tbody>']
    lines += [f'<tr><th scope="row">{name}</th>{"".join(_cells(statistics, row))}</tr>' for name, row in rows]
    return "\n".join([*lines, "</tbody></table>"])


def _figure(figure: Figure, data: Data, names: Sequence[str]) -> str:
    keys = "".join(f"<li>{key_of(index)} {name_of(name)}</li>" for index, name in enumerate(names))
    caption = f"<h2>{figure.title}</h2><p>{escape(figure.text(data))}</p>"
    return f'<figure><figcaption>{caption}<ul class="keys">{keys}</ul></figcaption>{figure.svg(data)}</figure>'


def statistics_table(
    title: str, statistics: Iterable[Statistic[Any]], rows: Sequence[dict[str, Any]], key: str = "bot"
) -> str:
    """A table with a line for each statistic and a column for each of ``rows``: a phone has room for that."""
    heads = "".join(f'<th scope="col">{name_of(row[key])}</th>' for row in rows)
    caption = f"<caption>{title}</caption>" if title else ""
    lines = [f'<table>{caption}<thead><tr><th scope="col">statistic</th>{heads}</tr></thead><tbody>']
    for statistic in statistics:
        cells = "".join(cell for row in rows for cell in _cells((statistic,), row))
        head = f'<th scope="row">{heading_of(statistic)}<small>{escape(statistic.help)}</small></th>'
        lines.append(f"<tr>{head}{cells}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def _details(title: str, statistics: Iterable[Statistic[Any]], shown: Contents, state: str = "") -> str:
    """A table that opens when its title is clicked; it is printed open."""
    table = statistics_table("", statistics, shown.rows, shown.key)
    return f"<details {state}><summary>{escape(title)}</summary>{table}</details>"


def _command(command: str) -> str:
    """A command in which no line is broken within an option."""
    return re.sub(r"--\w+ \S+", r'<span class="option">\g<0></span>', escape(command))


def _games(games: Sequence[BigGame], note: str) -> Iterator[str]:
    yield '<section class="games"><h2>The biggest games</h2>'
    yield "<p>The highest scores at the end of a game.</p><ol>"
    for game in games:
        result = " · ".join(f"{name_of(name)} <b>{score:,}</b>" for name, score in game.result)
        where = escape(game.name)
        if game.replay:
            record = f'<a href="{escape(game.address)}">its record</a>; ' if game.address else ""
            where += f": {record}the round of its most valuable hand, "
            where += f'{escape(game.biggest_round)}, <a href="{escape(game.replay)}" rel="noreferrer">in Tenhou’s '
            where += f"viewer</a> or by <code>{_command(game.command)}</code>"
        yield f"<li>{result}<p>{where}</p></li>"
    yield "</ol>"
    if note:
        yield f"<p>{note}</p>"
    yield "</section>"
