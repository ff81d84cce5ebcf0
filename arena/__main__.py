"""python -m arena: bots play each other on shared walls, and a table tells who is better."""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from agents.registry import names
from arena.runner import RunError
from arena.schedule import Settings, round_up
from arena.sitting import Sitting
from engine.common.options import Parser, describe_error, positive, three_bots, usable_cores
from engine.rules import PRESETS

FINISHED, FAILED, INTERRUPTED = 0, 1, 130
TABLE_WIDTH = 100  # columns where the output is no terminal

EPILOG = """\
Every wall is played in three rotations of the seats, so that each bot has each seat once with the same tiles; every
other wall goes round the other way. The same settings give the same games whatever --jobs is.

placement, final points  mean ± half-width of the 95 % interval, from the means of each wall's rotations;
                         final points include uma and oka, in thousands
score, busts             mean score at the end of a game; games ended below zero
win, tsumo, deal-in %    share of rounds won, won by own draw, lost by one's own discard, kan or north
riichi, call, draw %     share of rounds with an accepted riichi, with an open meld, that nobody won
win, deal-in points      mean worth of the hand won or paid, without honba and riichi sticks
nukidora                 norths laid per round

External bots play like the others, but one game at a time. One that crashes, hangs or answers nonsense is reported; its
seat then discards what it draws until the game is over, and the next game starts it anew.

exec:COMMAND             a program that speaks mjai on stdin and stdout, one for each job; {id} becomes its seat.
                         exec+kita:COMMAND, exec+libriichi3p:COMMAND: its dialect, if not mjai3p. Whether it reads one
                         event or one array of events a line is found out; +event, +asked or +array tell it.
mjsonp://HOST:PORT/ROOM  waits there for a bot to connect; all games are then played by one job

A bot with a comma in it stands in double quotes: --bots 'rule,"exec:python bot.py --set a,b",efficiency'

With --json, finished games are kept in FILE.partial until FILE is written: an interrupted run goes on from there when
it is started again with the same settings.
exit codes: 0 finished, 1 a bot or the run failed, 2 bad arguments, 130 interrupted (both tables are printed even so)
"""


def seconds(text: str) -> float:
    """A length of time, for an option."""
    try:
        length = float(text)
    except ValueError:
        length = 0.0
    if not 0.0 < length < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return length


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=positive, default=1000, metavar="N", help="rounded up to a multiple of three")
    parser.add_argument(
        "--bots",
        type=three_bots,
        default="bert,rule,random",
        metavar="A,B,C",
        help=f"of {', '.join(names())}, or foreign ones, see below",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all walls and bots (default 0)")
    parser.add_argument("--rules", choices=sorted(PRESETS), default="tenhou")
    parser.add_argument("--length", choices=("east", "hanchan"), default="hanchan")
    parser.add_argument(
        "--jobs", type=positive, default=usable_cores(), metavar="N", help="processes (default: all cores)"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="for an answer of a foreign bot (default 30)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write statistics and the result of every game")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write every game as WALLSEED-ROTATION.mjson.gz")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the arena and return the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    settings = Settings(given.bots, round_up(given.games), given.seed, given.rules, given.length, given.timeout)
    screen, notes = Console(), Console(stderr=True)
    if not screen.is_terminal:
        screen.width = TABLE_WIDTH
    try:
        sitting = Sitting(settings, given.jobs, given.json, given.save)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    if settings.games != given.games:
        notes.print(f"{settings.games:,} games instead of {given.games:,}: every wall is played in all rotations")
    if sitting.games:
        notes.print(f"going on from {sitting.games:,} of {settings.games:,} games", soft_wrap=True)
    return run(sitting, screen, notes)


def run(sitting: Sitting, screen: Console, notes: Console) -> int:
    """Play, print, and return the exit code."""
    code, why = FINISHED, ""
    try:
        sitting.play(notes)
    except KeyboardInterrupt:
        code, why = INTERRUPTED, "interrupted"
    except (RunError, OSError) as error:
        code, why = FAILED, describe_error(error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient second Ctrl-C does not cost the tables
    sitting.report(screen)
    if code == FINISHED:
        try:
            sitting.finish()
        except OSError as error:
            code, why = FAILED, describe_error(error)
    if code != FINISHED:
        going_on = "" if sitting.journal is None else "; start it again with the same settings to go on"
        notes.print(f"arena: {why}{going_on}", soft_wrap=True, highlight=False, markup=False)
    return code


if __name__ == "__main__":
    sys.exit(main())
