"""python -m arena league: many bots play each other, every two equally often; tables rate them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.external import specs
from arena.cli import check_quotes
from arena.leagues.standing import STANDINGS
from arena.options import add_game_options, add_timeout, n_games
from engine.common.options import Parser, bots_of, positive_number

GAMES = 3000
DEFINITIONS = "\n".join(f"{' '.join(column.heading.split()):9}  {column.help}" for column in STANDINGS)

HOW = """\
The two bots that have met least meet next; the third is the one that has met these two least. So every two bots meet
equally often, and on the same walls, each in all rotations of the seats. Games do not depend on NUKIDORA_JOBS.
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
        help="at least three (default: the bots of the league in FILE, if all are built in and without an argument)",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--games",
        type=n_games,
        metavar="N",
        help=f"about how many games are played in all: every two bots meet equally often (default {GAMES})",
    )
    ends.add_argument(
        "--hours", type=positive_number, metavar="H", help="play so long, and finish the games that are being played"
    )
    add_game_options(parser)
    add_timeout(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the league: its standings and its games")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    with parser.reporting():
        check_quotes(arguments)
        options = parser.parse_args(arguments)
        for bot in options.bots:
            specs.check(bot)
    from arena.leagues.running import start  # only now: it takes numba, which the options do not need

    return start(parser, options, None if options.hours else options.games or GAMES)
