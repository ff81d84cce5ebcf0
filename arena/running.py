"""Runs a match for the command line of the arena: plays it and prints its tables."""

from __future__ import annotations

import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from agents.client.address import parse_url
from agents.clusters import workers_for
from agents.external.specs import connects_to_us
from arena.chunk import GameError
from arena.run import ArenaRun
from arena.schedule import RunSettings, round_up
from engine.common.options import Parser, describe_error
from engine.common.pools import WorkerError
from engine.common.program import FAILED, INTERRUPTED, OK, program_name
from engine.common.screen import screen


def start(parser: Parser, options: Namespace, games: int, is_default: bool) -> int:
    """Play at most ``games`` and return the exit code. ``is_default``: of the bots that play if none are named."""
    with parser.reporting(ValueError, OSError):
        settings = RunSettings(
            *(options.bots, round_up(games), options.seed, options.rules, options.length, options.timeout),
            *(options.scores, options.stop, options.control_variates, options.tenhou_seed or ""),
        )
        files = {"html": options.html, "parquet": options.parquet, "decisions": options.decisions, "log": options.log}
        workers = workers_for(options, settings.bots)
        arena_run = ArenaRun(settings, workers, options.json, options.save, **files)
    console, notes = screen(), Console(stderr=True)
    note = partial(notes.print, soft_wrap=True, highlight=False, markup=False)
    if settings.games != games and options.stop is None:
        note(f"{settings.games:,} games instead of {games:,}: every wall is played in all rotations")
    if arena_run.games:
        of_games = "" if options.stop else f" of {settings.games:,}"
        note(f"resuming: {arena_run.games:,}{of_games} games are finished")
    if arena_run.finished is None:
        for spec in filter(connects_to_us, settings.bots):
            note(how_to_join(spec))
    return run(arena_run, console, notes, options.statistics, is_default)


def how_to_join(spec: str) -> str:
    """Return how a bot joins the arena that waits for the bot ``spec``."""
    url = url_to_join(spec)
    return f"a bot can join at {url}, for example: {program_name('agents.client')} rule {url} --games 0"


def url_to_join(spec: str) -> str:
    """The URL at which a bot of this machine joins the bot ``mjsonp://HOST:PORT/ROOM``."""
    address = parse_url(spec)
    host = "localhost" if address.host in ("0.0.0.0", "::") else address.host
    return f"{address.scheme}://{f'[{host}]' if ':' in host else host}:{address.port}/{address.room}"


def run(
    arena_run: ArenaRun, console: Console, notes: Console, statistics: bool = False, is_default: bool = False
) -> int:
    """Play, print the tables, all ``statistics`` if asked for, and what was written; return the exit code.

    ``is_default``: what to do next is printed, too.
    """
    code, why, failed = OK, "", list[str]()
    try:
        arena_run.play(notes)
    except KeyboardInterrupt:
        code, why = INTERRUPTED, "interrupted"
    except (GameError, WorkerError, OSError) as error:
        code, why = FAILED, describe_error(error)
    with ignore_interrupts():
        if arena_run.finished is None and arena_run.games == 0:
            console.print("no games finished yet")
        else:
            match = arena_run.match
            match.print(console, statistics)
            failed = match.failed
        if code == OK:
            try:
                arena_run.finish()
                console.print(arena_run.describe_files(), soft_wrap=True, highlight=False, markup=False)
                if is_default:
                    console.print(next_steps(), soft_wrap=True, highlight=False, markup=False)
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
    """Return what to do after the default match, the first one that a new user plays."""
    arena = f"{program_name('arena')} --bots"
    return f"""\
next{first_activate()}:
play, or watch: {program_name("server")} --fill rule (http://localhost:8000)
your own bot:   {arena} my_bot.py:Eager,rule,rule (docs/bots.md)
is one better:  {arena} rule,efficiency,efficiency --sprt 0,-0.1"""


def first_activate() -> str:
    """Return how to make ``python`` start this Python, "" if it does already; ``make arena`` runs it by its path."""
    activate, python = Path(sys.prefix, "bin", "activate"), shutil.which("python")
    if not activate.exists() or (python is not None and Path(python).parent == Path(sys.executable).parent):
        return ""
    here = Path.cwd()
    return f" (first: . {activate.relative_to(here) if activate.is_relative_to(here) else activate})"


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in the block: a second one does not prevent the tables."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
