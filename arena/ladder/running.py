"""Runs the ladder for the command line: plays its league and writes its page."""

from __future__ import annotations

import platform
import shlex
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from rich.console import Console

from agents.clusters import workers_for
from arena.ladder.page import page
from arena.leagues.games import LeagueSettings
from arena.leagues.run import LeagueRun
from arena.leagues.running import run
from arena.run import ArenaRun, make_folder
from engine.common.files import write_atomically
from engine.common.options import Parser, check_output
from engine.table import N_SEATS

SETTINGS = LeagueSettings(seed=0, rules="tenhou", length="hanchan")  # so that ladders can be compared
SPEED_GAMES = 30  # of the run that measures how fast a bot decides


def start(parser: Parser, options: Namespace, arguments: Sequence[str]) -> int:
    """Play what is missing, write the page, and return the exit code."""
    with parser.reporting(ValueError, OSError):
        make_folder(options.output.parent, f"--output {options.output}")
        check_output("--output", options.output)
        workers = partial(workers_for, options)
        league_run = LeagueRun(SETTINGS, options.bots, workers, games=options.games, json=options.json)
        matches = [SETTINGS.match((bot,) * N_SEATS) for bot in league_run.bots]
        speed_runs = [ArenaRun(replace(match, games=SPEED_GAMES), jobs=1) for match in matches]

    def write_page(notes: Console) -> None:
        speeds = {run.settings.bots[0]: decisions_per_second(run, notes) for run in speed_runs}
        text = page(league_run.league(), speeds, shlex.join(["python", "-m", "arena", "ladder", *arguments]), machine())
        with write_atomically(options.output) as file:
            file.write(text.encode())
        notes.print(f"wrote {options.output}", soft_wrap=True, highlight=False)

    return run(league_run, "arena ladder", write_page)


def decisions_per_second(run: ArenaRun, notes: Console) -> float:
    """Return how fast one core plays a bot against itself. Raises what `ArenaRun.play` raises."""
    notes.print(f"speed of {run.settings.bots[0]}:", soft_wrap=True, highlight=False)
    run.play(notes)
    return float(run.document["speed"]["decisions_per_second"])


def machine() -> str:
    """The machine of the speeds, in a few words."""
    return f"{platform.machine()}, Python {platform.python_version()}"
