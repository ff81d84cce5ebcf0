"""Runs the ladder for the command line: plays its league and writes its page."""

from __future__ import annotations

import platform
import re
import shlex
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from agents.clusters import workers_for
from agents.external.specs import connects_to_us
from arena.columns import RESULTS
from arena.ladder.page import YARDSTICK_GAMES, page
from arena.leagues.games import LeagueSettings
from arena.leagues.run import LeagueRun
from arena.leagues.running import run
from arena.run import ArenaRun, make_folder
from engine.common.cluster import Cluster
from engine.common.files import write_atomically
from engine.common.options import Parser, check_output
from engine.table import N_SEATS

SETTINGS = LeagueSettings(seed=0, rules="tenhou", length="hanchan")  # so that ladders can be compared
SPEED_GAMES = 30  # of the run that measures how fast a bot decides
YARDSTICK = "human"  # which imitates people: if it plays, each bot's placement against two of it is on the page
PLACEMENT = next(column for column in RESULTS if column.key == "placement")


def start(parser: Parser, options: Namespace, arguments: Sequence[str]) -> int:
    """Play what is missing, write the page, and return the exit code."""
    with parser.reporting(ValueError, OSError):
        make_folder(options.output.parent, f"--output {options.output}")
        check_output("--output", options.output)
        for bot in filter(connects_to_us, options.bots):
            raise ValueError(f"{bot} cannot be on a ladder, which measures each bot against itself: use a league")
        workers = partial(workers_for, options)
        league_run = LeagueRun(SETTINGS, options.bots, workers, games=options.games, json=options.json)
        matches = [SETTINGS.match((bot,) * N_SEATS) for bot in league_run.bots]
        yardstick_runs = make_yardstick_runs(league_run.bots, options.json, workers)
        speed_runs = [ArenaRun(replace(match, games=SPEED_GAMES), jobs=1) for match in matches]

    command = shlex.join(["python", "-m", "arena", "ladder", *arguments])

    def write_page(notes: Console) -> None:
        against = {run.settings.bots[0]: placement(run, notes) for run in yardstick_runs}
        speeds = {run.settings.bots[0]: decisions_per_second(run, notes) for run in speed_runs}
        text = page(league_run.league(), against, speeds, command, machine())
        with write_atomically(options.output) as file:
            file.write(text.encode())
        notes.print(f"wrote {options.output}", soft_wrap=True, highlight=False, markup=False)

    return run(league_run, "arena ladder", write_page)


def make_yardstick_runs(
    bots: Sequence[str], json: Path, workers: Callable[[Sequence[str]], int | Cluster]
) -> list[ArenaRun]:
    """The matches of each of `bots` against two YARDSTICK, if it plays. Raises what `ArenaRun` raises.

    Their results are kept beside the league ``json``, in ``NAME.BOT.json``.
    """
    if YARDSTICK not in bots:
        return []
    runs = []
    for bot in bots:
        if bot != YARDSTICK:
            match = SETTINGS.match((bot, YARDSTICK, YARDSTICK))
            settings = replace(match, games=YARDSTICK_GAMES, control_variates=True)
            name = re.sub(r"[^\w@-]+", "_", bot)
            runs.append(ArenaRun(settings, workers(match.bots), json.with_name(f"{json.stem}.{name}.json")))
    return runs


def placement(run: ArenaRun, notes: Console) -> str:
    """Return the placement of the first bot, with its interval. Raises what `ArenaRun.play` raises."""
    notes.print(f"{run.settings.bots[0]} against two {YARDSTICK}:", soft_wrap=True, highlight=False, markup=False)
    run.play(notes)
    run.finish()
    return PLACEMENT.cell(run.document["bots"][0])


def decisions_per_second(run: ArenaRun, notes: Console) -> float:
    """Return how fast one core plays a bot against itself. Raises what `ArenaRun.play` raises."""
    notes.print(f"speed of {run.settings.bots[0]}:", soft_wrap=True, highlight=False, markup=False)
    run.play(notes)
    return float(run.document["speed"]["decisions_per_second"])


def machine() -> str:
    """The machine of the speeds, in a few words."""
    return f"{platform.machine()}, Python {platform.python_version()}"
