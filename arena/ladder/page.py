"""A league as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from agents.built_in import BUILT_IN
from agents.strength.spec import split_strength
from arena.bot_games import BotGames
from arena.columns import MISSING, PLAY
from arena.leagues.league import League, standing_rows, widest_share
from arena.leagues.standing import STANDINGS
from engine.common.options import printable

INTRODUCTION = """\
# The ladder

Ratings of the bots, from games of every bot against every other on shared walls. This page is the output of:

```sh
{command}
```

{games:,} games ({rules}, {length}, seed {seed}): every two bots met in at least {fewest:,} games.

A lead of 400 points means odds of 10 to 1 of finishing ahead (Plackett-Luce model); the mean of all bots is 0.
Intervals are 95 % confidence intervals, those of ratings by the bootstrap over walls. Decisions/s are those of one
core in games of the bot against itself, engine and statistics included ({machine}).
"""
YARDSTICK_GAMES = 900  # of each bot against two `human`
AGAINST = f"""\
The placement against two `human`, which imitates people, is that in {YARDSTICK_GAMES} other games.
"""
PAIRS = """
## Every pair

Share of games, in %, in which the bot of the row finished ahead of the bot of the column. The intervals are at most
± {widest:.1f}.
"""
PLAY_TABLE = """
## Play

`python -m arena columns` defines the columns.
"""


def page(
    league: League, against: Mapping[str, str], decisions_per_second: Mapping[str, float], command: str, machine: str
) -> str:
    """Return the page that ``command`` makes.

    ``against``: placements of bots against two `human`, as texts; without any there is no column of them.
    ``decisions_per_second``: of the bots that play, on this ``machine``.
    """
    introduction = INTRODUCTION.format(
        command=command,
        games=league.games,
        rules=league.settings.rules,
        length=league.settings.length,
        seed=league.settings.seed,
        fewest=min((pair.games for pair in league.pairs.values()), default=0),
        machine=machine,
    )
    pairs = PAIRS.format(widest=widest_share(league) or 100.0)
    parts = [
        introduction + (AGAINST if against else ""),
        *_standings(league, against, decisions_per_second),
        pairs,
        *_every_pair(league),
        PLAY_TABLE,
    ]
    return "\n".join([*parts, *_play(league), "\n## How they were made\n", *_origins(league)]) + "\n"


def _standings(league: League, against: Mapping[str, str], decisions_per_second: Mapping[str, float]) -> Iterator[str]:
    speeds = {bot: f"{speed:,.0f}" for bot, speed in decisions_per_second.items()}
    measured = {"against two `human`": against, "decisions/s": speeds} if against else {"decisions/s": speeds}
    head = ["", "bot", *(" ".join(column.heading.split()) for column in STANDINGS), *measured]
    rows = [
        [
            str(number),
            _code(bot.bot),
            *(column.cell(row) for column in STANDINGS),
            *(values.get(bot.bot, MISSING) for values in measured.values()),
        ]
        for number, (bot, row) in enumerate(zip(league.standings, standing_rows(league)), 1)
    ]
    return _table(head, rows, n_text=2)


def _every_pair(league: League) -> Iterator[str]:
    names = [standing.bot for standing in league.standings]
    shares = {pair: f"{100 * of_pair.ahead.mean:.1f}" for pair, of_pair in league.pairs.items()}
    rows = [[_code(name), *(shares.get((name, other), "") for other in names)] for name in names]
    return _table(["", *map(_code, names)], rows)


def _play(league: League) -> Iterator[str]:
    rows = [
        [
            _code(standing.bot),
            *(column.cell({column.key: column.compute(all_games(league, standing.bot))}) for column in PLAY),
        ]
        for standing in league.standings
    ]
    return _table(["bot", *(" ".join(column.heading.split()) for column in PLAY)], rows)


def all_games(league: League, bot: str) -> BotGames:
    """Merge the games of a bot, for the statistics that are computed from sums alone."""
    nothing = np.empty((0, 0))
    return BotGames(bot, league.totals[bot][np.newaxis, np.newaxis], nothing, nothing)


def _origins(league: League) -> Iterator[str]:
    for standing in league.standings:
        full, points = split_strength(standing.bot)
        name, _, argument = full.partition(":")
        weaker = "" if points is None else f"{-points} points weaker than {_code(full)}: "
        origin = "not a bot of this project"
        if name in BUILT_IN:
            origin = BUILT_IN[name].origin + (f"; here with {_code(argument)}" if argument else "")
        yield f"- {_code(standing.bot)}: {weaker}{origin}"


def _code(bot: str) -> str:
    """Return a bot's name as code; names in a stranger's league must end neither the code nor the table cell."""
    name = printable(bot).replace("`", "'").replace("|", "/")
    return f"`{name}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> Iterator[str]:
    """A table of Markdown: the first ``n_text`` columns are text, the others numbers."""
    for cells in (head, ["---" if index < n_text else "---:" for index in range(len(head))], *rows):
        yield f"| {' | '.join(cells)} |"
