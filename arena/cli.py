"""python -m arena: three bots play each other on shared walls; tables compare their results."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from agents.registry import names
from arena.columns import definitions
from arena.play import GameError
from arena.run import ArenaRun
from arena.schedule import RunSettings, round_up
from engine.common.options import Parser, describe_error, positive, positive_seconds, seed, three_bots, usable_cores
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.workers import WorkerError
from engine.rules import PRESETS

TABLE_WIDTH = 100  # characters, where stdout is no terminal

EPILOG = f"""\
Every wall is played in three rotations of the seats, so that each bot has each seat once with the same tiles. Odd walls
rotate in the opposite order. Results depend on --games, --bots, --seed, --rules and --length, but not on --jobs.

columns of the tables (intervals are 95 % confidence intervals over the means of each wall's rotations):
{definitions()}

External bots play one game at a time. If one crashes, times out or sends an illegal answer, the failure is reported,
its seat discards what it draws for the rest of the game, and the bot is restarted for the next game.

exec:COMMAND             a program that speaks mjai on stdin and stdout, one process for each job; {{id}} in COMMAND
                         becomes its seat. exec+kita:COMMAND, exec+libriichi3p:COMMAND select a dialect (default
                         mjai3p); exec+event, exec+asked or exec+array a framing (default: detected; see docs/bots.md)
mjsonp://HOST:PORT/ROOM  listens there until a bot connects; all games are then played by one job

Put a bot that contains a comma in double quotes: --bots 'rule,"exec:python bot.py --set a,b",efficiency'

With --json FILE, finished games are kept in FILE.partial until FILE is written. To resume an interrupted run, run the
same command again.
exit codes: 0 finished, 1 a bot or the run failed, 2 bad arguments, 130 interrupted; the tables are printed in all cases
but 2
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "arena",
        description=__doc__,
        epilog=EPILOG,
    )
    parser.add_argument(
        "--games",
        type=positive,
        default=1000,
        metavar="N",
        help="number of games, rounded up to a multiple of three (default 1000)",
    )
    parser.add_argument(
        "--bots",
        type=three_bots,
        default="bert,rule,random",
        metavar="A,B,C",
        help=f"three of {', '.join(names())} and external bots, see below (default bert,rule,random)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of all walls and bots (default 0)")
    parser.add_argument("--rules", choices=sorted(PRESETS), default="tenhou", help="default tenhou")
    parser.add_argument("--length", choices=("east", "hanchan"), default="hanchan", help="default hanchan")
    parser.add_argument(
        "--jobs", type=positive, default=usable_cores(), metavar="N", help="worker processes (default: all cores)"
    )
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        default=30.0,
        metavar="SECONDS",
        help="time for an answer of an external bot (default 30)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the statistics and the result of every game")
    parser.add_argument("--save", type=Path, metavar="DIR", help="save every game as WALLSEED-ROTATION.mjson.gz")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the arena and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    settings = RunSettings(
        options.bots, round_up(options.games), options.seed, options.rules, options.length, options.timeout
    )
    screen, notes = Console(), Console(stderr=True)
    if not screen.is_terminal:
        screen.width = TABLE_WIDTH
    try:
        arena_run = ArenaRun(settings, options.jobs, options.json, options.save)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    if settings.games != options.games:
        notes.print(f"{settings.games:,} games instead of {options.games:,}: every wall is played in all rotations")
    if arena_run.games:
        notes.print(f"resuming: {arena_run.games:,} of {settings.games:,} games are finished", soft_wrap=True)
    return run(arena_run, screen, notes)


def run(arena_run: ArenaRun, screen: Console, notes: Console) -> int:
    """Play, print the tables, and return the exit code."""
    code, why = OK, ""
    try:
        arena_run.play(notes)
    except KeyboardInterrupt:
        code, why = INTERRUPTED, "interrupted"
    except (GameError, WorkerError, OSError) as error:
        code, why = FAILED, describe_error(error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C does not prevent the tables
    arena_run.report(screen)
    if code == OK:
        try:
            arena_run.finish()
        except OSError as error:
            code, why = FAILED, describe_error(error)
    if code != OK:
        resume = "" if arena_run.checkpoint is None else "; run the same command again to resume"
        notes.print(f"arena: {why}{resume}", soft_wrap=True, highlight=False, markup=False)
    return code
