"""python -m arena: three bots play each other on shared walls; tables compare their results."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile

from agents.external import specs
from agents.registry import names
from arena.options import add_game_options, add_report_options, add_stopping_options, add_timeout, n_games, tenhou_walls
from engine.common.cluster import add_workers
from engine.common.options import Parser, starting_scores, three_bots
from engine.mjai.connection import DEFAULT_PORT
from engine.rules import EVEN_SCORES

# first word -> module with its main, what it does
COMMANDS = {
    "calibrate": ("arena.calibrate", "measures how strong a bot is at each setting of its strength dial"),
    "balance": ("arena.balance", "turns the dials of three bots until they are even"),
    "league": ("arena.leagues.cli", "plays many bots against each other, every two equally often, and rates them"),
    "ladder": ("arena.ladder.cli", "the league of all built-in bots, as a page"),
    "stats": ("arena.stats", "counts how players play, from records of their games"),
    "columns": ("arena.definitions", "defines the columns of the tables, and all other statistics"),
}
BOTS, GAMES, MAX_GAMES = ("bert", "efficiency", "random"), 1002, 99_999  # their differences are significant
EPILOG = """\
Every wall is played in three rotations of the seats, so that each bot has each seat once with the same tiles. Odd walls
rotate in the opposite order. Results depend on --games, --bots, --scores, --seed, --walls, --rules, --length,
--sprt, --until, --no-control-variates and, with external bots, --timeout, but not on --jobs.

other programs (--help after the word shows their options):
{programs}

bots:
NAME, NAME:ARGUMENT      a bot of the list above
BOT@-300                 a bot of the list or in a file, weaker by 300 points, once calibrated (see docs/strength.md)
FILE.py:CLASS            your own: a class, or a function that makes the bot, in a file (rules: docs/bots.md)
exec:COMMAND             a program that speaks mjai on stdin and stdout, one process for each job; {{id}} in COMMAND
                         becomes its seat. exec+kita:COMMAND, exec+libriichi3p:COMMAND select a dialect (default
                         mjai3p); exec+event, exec+asked or exec+array a framing (default: detected; see docs/bots.md)
mjsonp://HOST:PORT/ROOM  listens there (default port {port}) until a bot connects; all games are played by one
                         job

Quote a bot that contains a blank, and put one that contains a comma in double quotes:
--bots 'rule,"exec:python bot.py --set a,b",efficiency'

External bots play one game at a time. If one crashes, times out or sends an illegal answer, the failure is reported,
its seat discards what it draws for the rest of the game, and the bot is restarted for the next game.

With --json FILE, finished games are kept in FILE.partial (their rows for --parquet in FILE.partial.rows) until FILE is
written. To resume an interrupted run, run the same command again. When FILE has the results of the same command
already, they are printed and nothing is played; a FILE of other settings, bots or sources is never replaced. --save
replaces only games of the same bots on the same walls; games on other walls stay in the folder. Games
after the one at which --sprt or --until stops do not count and are deleted.

exit codes: 0 finished (a bot may have failed in some games, which is printed), 1 the run failed, or a bot failed in
every game, 2 bad arguments, 130 interrupted; the tables are printed in all cases but 2
"""


def programs() -> str:
    """A line for each of COMMANDS."""
    return "\n".join(f"{name:9}  {text}" for name, (_, text) in COMMANDS.items())


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena", description=__doc__, epilog=EPILOG.format(programs=programs(), port=DEFAULT_PORT))
    parser.add_argument(
        "--games",
        type=n_games,
        metavar="N",
        help=f"number of games, rounded up to a multiple of three (default {GAMES}); with --sprt or --until, the "
        f"maximum number (default {MAX_GAMES})",
    )
    parser.add_argument(
        "--bots",
        type=three_bots,
        default=",".join(BOTS),
        metavar="A,B,C",
        help=f"three of {', '.join(names())} and external bots, see below",
    )
    parser.add_argument(
        "--scores",
        type=starting_scores,
        default=EVEN_SCORES,
        metavar="A,B,C",
        help="starting points of each of --bots in every game; they add up to 105000 (default 35000 each)",
    )
    add_game_options(parser)
    add_workers(parser)
    add_timeout(parser)
    parser.add_argument(
        "--walls",
        dest="tenhou_seed",
        type=tenhou_walls,
        metavar="tenhou:SEED",
        help="deal Tenhou's walls: SEED is what a record has in SHUFFLE seed; the rounds of the first wall are those "
        "of that game, and all other walls follow from it",
    )
    add_stopping_options(parser)
    add_report_options(parser)
    return parser


def with_negative_bounds(arguments: Sequence[str]) -> list[str]:
    """Join ``--sprt -0.01,-0.03`` to ``--sprt=-0.01,-0.03``, since argparse takes the bounds for an option."""
    joined = list(arguments)
    for index in reversed(range(1, len(joined))):
        if joined[index - 1] == "--sprt" and re.match(r"-[\d.]", joined[index]):
            joined[index - 1 : index + 1] = [f"--sprt={joined[index]}"]
    return joined


def check_quotes(arguments: Sequence[str]) -> None:
    """Raise ValueError if a shell has split a bot at its blanks: ``--bots rule,exec:python bot.py,rule``."""
    for number, argument in enumerate(arguments):
        if re.search(r"(^|[,=])\"?exec[:+]", argument):
            rest = [argument, *takewhile(lambda word: not word.startswith("-"), arguments[number + 1 :])]
            if len(rest) > 1:
                bots = " ".join(rest).removeprefix("--bots=")
                raise ValueError(f"a shell splits a command at its blanks: put the bots in quotes: --bots '{bots}'")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the arena and return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in COMMANDS:
        command: int = import_module(COMMANDS[arguments[0]][0]).main(arguments[1:])
        return command
    parser = make_parser()
    with parser.reporting(ValueError, OSError):
        if arguments and not arguments[0].startswith("-"):
            raise ValueError(f"unknown program {arguments[0]!r}: choose one of {', '.join(COMMANDS)}, or options alone")
        check_quotes(arguments)
        options = parser.parse_args(with_negative_bounds(arguments))
        if options.decisions and options.parquet is None:
            raise ValueError("--decisions: give --parquet FOLDER too, where the file is written")
        for bot in options.bots:
            specs.check(bot)
    from arena.running import start  # imported late: it loads numba, which the options do not need

    games = options.games or (GAMES if options.stop is None else MAX_GAMES)
    return start(parser, options, games, is_default=options.bots == BOTS)
