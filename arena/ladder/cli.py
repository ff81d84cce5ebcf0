"""python -m arena ladder: the league of all built-in bots, and a page that ranks them."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from agents.registry import names
from arena.ladder.page import page
from arena.leagues.cli import HOW, open_league, run
from arena.options import add_game_options
from arena.run import ArenaRun, make_folder
from engine.common.files import write_atomically
from engine.common.options import Parser, bots_of, check_output, describe_error, positive
from engine.table import N_SEATS

GAMES = 30_000
SLOW = frozenset({"search"})  # bots that take seconds for a game: they play only if --bots names them
SPEED_GAMES = 30  # of the run that measures how fast a bot decides

EPILOG = f"""\
{HOW}
This is python -m arena league with a page, and with games of each bot against itself that measure how fast it decides.
FILE is a league: to resume an interrupted one, run the same command again; with another bot in --bots, only games with
that bot are played.

exit codes: 0 finished, 1 the league failed, or a bot failed in every game, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena ladder", description=__doc__, epilog=EPILOG)
    known = ",".join(name for name in names() if name not in SLOW)
    parser.add_argument("--bots", type=bots_of, default=bots_of(known), metavar="A,B,…", help=f"default: {known}")
    parser.add_argument(
        "--games", type=positive, default=GAMES, metavar="N", help="about how many games are played in all"
    )
    add_game_options(parser)
    parser.add_argument("--json", type=Path, required=True, metavar="FILE", help="the league")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="PAGE", help="the page, in Markdown")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Play what is missing, write the page, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        make_folder(options.output.parent, f"--output {options.output}")
        check_output("--output", options.output)
        league_run = open_league(options, options.games)
        matches = [league_run.settings.match((bot,) * N_SEATS, options.timeout) for bot in league_run.bots]
        speed_runs = [ArenaRun(replace(match, games=SPEED_GAMES), jobs=1) for match in matches]
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))

    def write_page(notes: Console) -> None:
        speeds = {run.settings.bots[0]: decisions_per_second(run, notes) for run in speed_runs}
        text = page(league_run.league(), speeds, command_of(arguments), machine())
        with write_atomically(options.output) as file:
            file.write(text.encode())
        notes.print(f"wrote {options.output}", soft_wrap=True, highlight=False)

    return run(league_run, "arena ladder", write_page)


def decisions_per_second(run: ArenaRun, notes: Console) -> float:
    """How fast one core plays a bot against itself. Raises what `ArenaRun.play` raises."""
    notes.print(f"speed of {run.settings.bots[0]}:", soft_wrap=True, highlight=False)
    run.play(notes)
    return float(run.document["speed"]["decisions_per_second"])


def command_of(arguments: Sequence[str]) -> str:
    """The command line that makes the page."""
    return shlex.join(["python", "-m", "arena", "ladder", *arguments])


def machine() -> str:
    """The machine of the speeds, in a few words."""
    return f"{platform.machine()}, Python {platform.python_version()}"
