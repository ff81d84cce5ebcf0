"""python -m arena league: many bots play each other until all are known equally well; tables rate them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from agents.clusters import workers_for
from agents.external.specs import connects_to_us
from arena.chunk import GameError
from arena.cli import check_quotes, how_to_join, uninterrupted
from arena.leagues.games import LeagueSettings
from arena.leagues.report import STANDINGS, TABLE_WIDTH, print_league
from arena.leagues.run import LeagueRun
from arena.options import add_game_options
from engine.common.options import Parser, bots_of, describe_error, positive, positive_number
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.workers import WorkerError

GAMES = 3000
DEFINITIONS = "\n".join(f"{' '.join(column.heading.split()):9}  {column.help}" for column in STANDINGS)

HOW = """\
The two bots that have met least meet next; the third is the one that has met these two least. So every two bots meet
equally often, and on the same walls, each in all rotations of the seats. Games do not depend on --jobs.
"""
EPILOG = f"""\
{HOW}
columns of the standings (intervals are 95 % confidence intervals; all games on a wall are one observation; those of
ratings by the bootstrap):
{DEFINITIONS}

Ratings are those of the model of Plackett and Luce. External bots (see python -m arena --help) play one game at a time;
one that fails in every game is left out of the ratings.

With --json FILE, finished games are kept in FILE.partial until FILE is written. To resume an interrupted league, run
the same command again. A league in FILE goes on with more --games, or for more --hours. With another bot in --bots,
only games with that bot are played, until it has met the others as often as they have met each other. Bots of FILE that
are not in --bots play no more, and their games still count. A bot whose files, sources or weights have changed is
another bot: it needs another name, or another FILE.

exit codes: 0 finished, 1 the league failed, or a bot failed in every game, 2 bad arguments, 130 interrupted; the tables
are printed in all cases but 2
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena league", description=__doc__, epilog=EPILOG)
    parser.add_argument(
        "--bots",
        type=bots_of,
        default=(),
        metavar="A,B,…",
        help="at least three (default: the bots of the league in FILE)",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--games",
        type=positive,
        metavar="N",
        help=f"about how many games are played in all: every two bots meet equally often (default {GAMES})",
    )
    ends.add_argument(
        "--hours", type=positive_number, metavar="H", help="play so long, and finish the games that are being played"
    )
    add_game_options(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the league: its standings and its games")
    return parser


def open_league(options: Namespace, games: int | None, hours: float | None = None) -> LeagueRun:
    """The league that the options describe. Raises ValueError, OSError."""
    settings = LeagueSettings(options.seed, options.rules, options.length)
    return LeagueRun(
        settings,
        options.bots,
        partial(workers_for, options),
        games=games,
        hours=hours,
        timeout=options.timeout,
        json=options.json,
    )


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    try:
        check_quotes(arguments)
        options = parser.parse_args(arguments)
        league_run = open_league(options, None if options.hours else options.games or GAMES, options.hours)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    return run(league_run, "arena league")


def run(league_run: LeagueRun, program: str, then: Callable[[Console], None] | None = None) -> int:
    """Play, print the tables, and return the exit code. ``then``: is done before the league is said to be finished."""
    screen, notes = Console(), Console(stderr=True)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = TABLE_WIDTH
    note = partial(notes.print, soft_wrap=True, highlight=False, markup=False)
    if league_run.games:
        note(resumed(league_run))
    for spec in filter(connects_to_us, league_run.bots):
        note(how_to_join(spec))
    code, why = OK, ""
    try:
        league_run.play(notes)
        if then is not None:
            then(notes)
        league_run.finish()
    except KeyboardInterrupt:
        code, why = INTERRUPTED, "interrupted"
    except (GameError, WorkerError, OSError) as error:
        code, why = FAILED, describe_error(error)
    with uninterrupted():
        league = league_run.league()
        print_league(screen, league)
        kept = league_run.store.path
        if code == OK:
            where = f"league in {kept}" if kept else "nothing was written: --json FILE keeps the league"
            screen.print(where, soft_wrap=True, highlight=False, markup=False)
            if league.failed:
                code, why = FAILED, f"failed in every game: {', '.join(league.failed)}"
        else:
            why += "; run the same command again to resume" if kept else "; with --json FILE, a league can be resumed"
        if why:
            note(f"{program}: {why}")
    return code


def resumed(league_run: LeagueRun) -> str:
    """How many games there are, and how many will be played."""
    total, games = league_run.total, league_run.games
    if total is None:
        return f"the league has {games:,} games already"
    if total == games:
        return f"the league has {games:,} games already: nothing to play"
    return f"resuming: {games:,} of {total:,} games are finished"
