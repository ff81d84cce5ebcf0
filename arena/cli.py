"""python -m arena: three bots play each other on shared walls; tables compare their results."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path

from rich.console import Console

from agents.client.connection import parse_url
from agents.clusters import workers_for
from agents.external.specs import connects_to_us
from agents.registry import names
from arena.chunk import GameError
from arena.columns import definitions, more_definitions
from arena.options import add_game_options, add_report_options, add_stopping_options
from arena.run import ArenaRun
from arena.schedule import RunSettings, round_up
from engine.common.options import Parser, describe_error, positive, starting_scores, three_bots
from engine.common.program import FAILED, INTERRUPTED, OK, program_name
from engine.common.workers import WorkerError
from engine.mjai.connection import DEFAULT_PORT
from engine.rules import EVEN_SCORES

# first word -> module with its main, what it does
COMMANDS = {
    "calibrate": ("arena.calibrate", "measures how strong a bot is at each setting of its strength dial"),
    "balance": ("arena.balance", "turns the dials of three bots until they place alike"),
    "league": ("arena.leagues.cli", "lets many bots play each other until all are known equally well"),
    "ladder": ("arena.ladder.cli", "the league of all built-in bots, as a page"),
}
BOTS, GAMES, MAX_GAMES = ("bert", "efficiency", "random"), 1002, 99_999  # each is told apart from the others
TABLE_WIDTH = 100  # characters, where stdout is no terminal


def programs() -> str:
    """A line for each of COMMANDS."""
    return "\n".join(f"{name:9}  {text}" for name, (_, text) in COMMANDS.items())


EPILOG = f"""\
Every wall is played in three rotations of the seats, so that each bot has each seat once with the same tiles. Odd walls
rotate in the opposite order. Results depend on --games, --bots, --scores, --seed, --rules, --length, --sprt and
--until, but not on --jobs.

columns of the tables (intervals are 95 % confidence intervals by Student's t distribution; the rotations of a wall
together are one observation):
{definitions()}

Below the tables stands which two bots are not told apart (the interval of their difference contains zero), and about
how many more games would tell them apart if the difference stayed what it is.

other programs (--help after the word shows their options):
{programs()}

bots:
NAME, NAME:ARGUMENT      a bot of the list above
BOT@-300                 a bot of the list or in a file, weaker by 300 points, once calibrated (see docs/strength.md)
FILE.py:CLASS            your own: a class, or a function that makes the bot, in a file (rules: docs/bots.md)
exec:COMMAND             a program that speaks mjai on stdin and stdout, one process for each job; {{id}} in COMMAND
                         becomes its seat. exec+kita:COMMAND, exec+libriichi3p:COMMAND select a dialect (default
                         mjai3p); exec+event, exec+asked or exec+array a framing (default: detected; see docs/bots.md)
mjsonp://HOST:PORT/ROOM  listens there (default port {DEFAULT_PORT}) until a bot connects; all games are played by one
                         job

Quote a bot that contains a blank, and put one that contains a comma in double quotes:
--bots 'rule,"exec:python bot.py --set a,b",efficiency'

External bots play one game at a time. If one crashes, times out or sends an illegal answer, the failure is reported,
its seat discards what it draws for the rest of the game, and the bot is restarted for the next game.

With --json FILE, finished games are kept in FILE.partial (their rows for --parquet in FILE.partial.rows) until FILE is
written. To resume an interrupted run, run the same command again. When FILE has the results of the same command
already, they are printed and nothing is played; a FILE of other settings, bots or sources is never replaced. --save
replaces games of the same bots on the same walls alone, and keeps games on other walls that are in the folder.

exit codes: 0 finished (a bot may have failed in some games, which is printed), 1 the run failed, or a bot failed in
every game, 2 bad arguments, 130 interrupted; the tables are printed in all cases but 2

--statistics shows besides, and --json FILE holds in any case (shares as shares of 1, with the numbers behind the
medians):

{more_definitions()}
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena", description=__doc__, epilog=EPILOG)
    parser.add_argument(
        "--games",
        type=positive,
        metavar="N",
        help=f"number of games, rounded up to a multiple of three (default {GAMES}); with --sprt or --until, the "
        f"number at most (default {MAX_GAMES})",
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
        help="points that each of --bots starts every game with, which add up to 105000 (default 35000 each)",
    )
    add_game_options(parser)
    add_stopping_options(parser)
    add_report_options(parser)
    return parser


def with_negative_bounds(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``--sprt -0.01,-0.03`` as ``--sprt=-0.01,-0.03``: argparse takes the bounds for an option."""
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
    try:
        if arguments and not arguments[0].startswith("-"):
            raise ValueError(f"unknown program {arguments[0]!r}: choose one of {', '.join(COMMANDS)}, or options alone")
        check_quotes(arguments)
        options = parser.parse_args(with_negative_bounds(arguments))
        games = options.games or (GAMES if options.stop is None else MAX_GAMES)
        settings = RunSettings(
            *(options.bots, round_up(games), options.seed, options.rules, options.length, options.timeout),
            *(options.scores, options.stop, options.control_variates),
        )
        if options.decisions and options.parquet is None:
            raise ValueError("--decisions: give --parquet FOLDER too, where the file is to be")
        files = {"html": options.html, "parquet": options.parquet, "decisions": options.decisions}
        workers = workers_for(options, settings.bots)
        arena_run = ArenaRun(settings, workers, options.json, options.save, **files)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    screen, notes = Console(), Console(stderr=True)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = TABLE_WIDTH
    note = partial(notes.print, soft_wrap=True, highlight=False, markup=False)
    if settings.games != games and options.stop is None:
        note(f"{settings.games:,} games instead of {games:,}: every wall is played in all rotations")
    if arena_run.games:
        of_games = "" if options.stop else f" of {settings.games:,}"
        note(f"resuming: {arena_run.games:,}{of_games} games are finished")
    if arena_run.finished is None:
        for spec in filter(connects_to_us, settings.bots):
            note(how_to_join(spec))
    return run(arena_run, screen, notes, options.statistics)


def how_to_join(spec: str) -> str:
    """How a bot joins the arena that waits for the bot ``spec``."""
    url = url_to_join(spec)
    return f"a bot can join at {url}, for example: {program_name('agents.client')} rule {url} --games 0"


def url_to_join(spec: str) -> str:
    """The URL at which a bot of this machine joins the bot ``mjsonp://HOST:PORT/ROOM``."""
    address = parse_url(spec)
    host = "localhost" if address.host in ("0.0.0.0", "::") else address.host
    return f"{address.scheme}://{f'[{host}]' if ':' in host else host}:{address.port}/{address.room}"


def run(arena_run: ArenaRun, screen: Console, notes: Console, statistics: bool = False) -> int:
    """Play, print the tables, all ``statistics`` if asked for, and what was written; return the exit code."""
    code, why, failed = OK, "", list[str]()
    try:
        arena_run.play(notes)
    except KeyboardInterrupt:
        code, why = INTERRUPTED, "interrupted"
    except (GameError, WorkerError, OSError) as error:
        code, why = FAILED, describe_error(error)
    with uninterrupted():
        if arena_run.finished is None and arena_run.games == 0:
            screen.print("no games finished yet")
        else:
            match = arena_run.match
            match.print(screen, statistics)
            failed = match.failed
        if code == OK:
            try:
                arena_run.finish()
                screen.print(arena_run.written(), soft_wrap=True, highlight=False, markup=False)
                if arena_run.settings.bots == BOTS:
                    screen.print(next_steps(), highlight=False, markup=False)
            except OSError as error:
                code, why = FAILED, describe_error(error)
        if code != OK and arena_run.checkpoint is not None:
            why += "; run the same command again to resume"
        elif code == INTERRUPTED:
            why += "; with --json FILE, a run can be resumed"
        elif code == OK and failed:
            code, why = FAILED, f"failed in every game: {', '.join(failed)}"
        if code != OK:
            notes.print(f"arena: {why}", soft_wrap=True, highlight=False, markup=False)
    return code


def next_steps() -> str:
    """What to do after the default match, whose bots somebody sees who has just installed nukidora."""
    arena = f"{program_name('arena')} --bots"
    return f"""\
next{first_activate()}:
play, or watch: {program_name("server")} --fill rule (http://localhost:8000)
your own bot:   {arena} my_bot.py:Eager,rule,rule (docs/bots.md)
is one better:  {arena} rule,efficiency,efficiency --sprt 0,-0.1"""


def first_activate() -> str:
    """How to make this Python the one that ``python`` starts, "" if it is: ``make arena`` runs it by its path."""
    activate, python = Path(sys.prefix, "bin", "activate"), shutil.which("python")
    if not activate.exists() or (python is not None and Path(python).parent == Path(sys.executable).parent):
        return ""
    here = Path.cwd()
    return f" (first: . {activate.relative_to(here) if activate.is_relative_to(here) else activate})"


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C in the block: a second one does not prevent the tables."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
