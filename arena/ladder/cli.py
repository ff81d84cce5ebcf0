"""python -m arena ladder: every bot against every other on shared walls, and a page that ranks them."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from agents.clusters import workers_for
from agents.registry import names
from arena.checkpoint import CheckpointError
from arena.chunk import GameError
from arena.ladder.page import page
from arena.ladder.schedule import LadderSettings
from arena.ladder.standings import standings_of
from arena.run import ArenaRun, make_folder
from arena.series import Series
from engine.common.cluster import Cluster, add_worker_options
from engine.common.files import write_atomically
from engine.common.options import Parser, bots_of, check_output, describe_error, positive, seed
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.workers import WorkerError
from engine.rules import PRESETS

EPILOG = """\
Every three of the bots meet, in all rotations of the seats, on the same walls. Finished games are kept in the folder
--results: after Ctrl-C the same command plays only what is missing. A folder belongs to one ladder: other settings, or
other versions of the bots, need another folder.

exit codes: 0 finished, 1 the run failed, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena ladder", description=__doc__, epilog=EPILOG)
    known = ",".join(names())
    parser.add_argument("--bots", type=bots_of, default=bots_of(known), metavar="A,B,…", help=f"default: {known}")
    parser.add_argument(
        "--games", type=positive, default=2000, metavar="N", help="games in which any two bots meet at least"
    )
    parser.add_argument("--slow", type=bots_of, default=(), metavar="A,…", help="bots of which fewer games are played")
    parser.add_argument(
        "--slow-games", type=positive, default=300, metavar="N", help="the same where one of the two is slow"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of all walls and bots (default 0)")
    parser.add_argument("--rules", choices=sorted(PRESETS), default="tenhou", help="rules of the games")
    parser.add_argument("--length", choices=("east", "hanchan"), default="hanchan", help="length of the games")
    add_worker_options(parser)
    parser.add_argument("--results", type=Path, required=True, metavar="FOLDER", help="keeps all finished games")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="the page, in Markdown")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Play what is missing, write the page, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        settings = LadderSettings(
            options.bots, options.games, frozenset(options.slow), options.slow_games, options.seed, options.rules,
            options.length,
        )  # fmt: skip
        make_folder(options.results, f"--results {options.results}")
        make_folder(options.output.parent, f"--output {options.output}")
        check_output("--output", options.output)
        speed_runs = [ArenaRun(run, jobs=1) for run in settings.speed_runs()]  # raises for a bot that does not exist
        series = open_series(settings, options.results, workers_for(options, options.bots))
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    notes = Console(stderr=True)
    try:
        series.play(notes)
        speeds = {run.settings.bots[0]: decisions_per_second(run, notes) for run in speed_runs}
        text = page(standings_of(settings.bots, series, speeds), settings, command_of(arguments), machine())
        with write_atomically(options.output) as file:
            file.write(text.encode())
    except KeyboardInterrupt:
        return stopped(notes, INTERRUPTED, "interrupted; the same command resumes")
    except (GameError, WorkerError, OSError) as error:
        return stopped(notes, FAILED, f"{describe_error(error)}; finished games are kept in {options.results}")
    notes.print(f"wrote {options.output}", soft_wrap=True, highlight=False)
    return OK


def open_series(settings: LadderSettings, folder: Path, workers: int | Cluster) -> Series:
    """All matches, with the games of ``folder``. Raises ValueError if these are of another ladder, and OSError."""
    try:
        return Series(list(settings.meetings()), workers, folder)
    except CheckpointError as error:
        raise ValueError(f"{error}; or name another folder for --results") from None


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


def stopped(notes: Console, code: int, why: str) -> int:
    """Print why the ladder stopped, and return the exit code."""
    notes.print(f"arena ladder: {why}", soft_wrap=True, highlight=False, markup=False)
    return code
