"""A league, as the command line asks for it: it is played, and its tables are printed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial

from rich.console import Console

from agents.clusters import workers_for
from agents.external.specs import connects_to_us
from arena.chunk import GameError
from arena.leagues.games import LeagueSettings
from arena.leagues.league import print_league
from arena.leagues.run import LeagueRun
from arena.running import how_to_join, ignore_interrupts
from engine.common.options import Parser, describe_error, printable
from engine.common.pools import WorkerError
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.screen import screen


def start(parser: Parser, options: Namespace, games: int | None) -> int:
    """Play about so many games, or for ``--hours`` if None, and return the exit code."""
    with parser.reporting(ValueError, OSError):
        league_run = LeagueRun(
            LeagueSettings(options.seed, options.rules, options.length),
            options.bots,
            partial(workers_for, options),
            games=games,
            hours=options.hours,
            timeout=options.timeout,
            json=options.json,
        )
    return run(league_run, "arena league")


def run(league_run: LeagueRun, program: str, then: Callable[[Console], None] | None = None) -> int:
    """Play, print the tables, and return the exit code. ``then``: is done before the league is said to be finished."""
    console, notes = screen(), Console(stderr=True)
    note = partial(notes.print, soft_wrap=True, highlight=False, markup=False)
    if league_run.games:
        note(describe_progress(league_run))
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
    with ignore_interrupts():
        league = league_run.league()
        print_league(console, league)
        kept = league_run.store.path
        if code == OK:
            where = f"league in {kept}" if kept else "nothing was written: --json FILE keeps the league"
            console.print(where, soft_wrap=True, highlight=False, markup=False)
            if league.failed:
                code, why = FAILED, f"failed in every game: {printable(', '.join(league.failed))}"
        else:
            why += "; run the same command again to resume" if kept else "; with --json FILE, a league can be resumed"
        if why:
            note(f"{program}: {why}")
    return code


def describe_progress(league_run: LeagueRun) -> str:
    """How many games there are, and how many will be played."""
    total, games = league_run.total, league_run.games
    if total is None:
        return f"the league has {games:,} games already"
    if total == games:
        return f"the league has {games:,} games already: nothing to play"
    return f"resuming: {games:,} of {total:,} games are finished"
