"""The command ``python -m agents.bert data``: makes training data from recorded games or self-play."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agents.base import ActionValues
from agents.bert.next_steps import command, new_run, print_outcome
from agents.bert.training.data import seat_filter
from agents.bert.training.data.manifest import (
    BAD_FILES,
    Contents,
    add_sources,
    clear,
    contents,
    has_rollouts,
    join_bad_files,
)
from agents.bert.training.data.selfplay import SelfPlayConfig, cached_teacher
from agents.bert.training.data.shards import exists
from agents.bert.training.data.sources import Chunk, Records, SelfPlay, Source, SourceError
from agents.bert.training.data.workers import fill_all
from agents.clusters import workers_for
from agents.registry import make_bots
from engine.common.cluster import Cluster
from engine.common.options import Parser, describe_error
from engine.common.pools import WorkerError
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.progress import Progress


def parse_sources(options: argparse.Namespace) -> list[Source]:
    """The sources that the options name. Raises ValueError, OSError."""
    sources: list[Source] = []
    seats = seat_filter.parse_seat_filter(options.decisions)
    teacher = cached_teacher(options.teacher)
    if options.rollouts and (teacher is None or not options.selfplay):
        raise ValueError("--rollouts needs --selfplay, and a --teacher that plays the rollouts")
    if options.playouts and not options.rollouts:
        raise ValueError("--playouts names the bot that plays --rollouts N: give both")
    cached_teacher(options.playouts)
    if options.hard_examples and (teacher is None or not options.selfplay):
        raise ValueError("--hard-examples needs --selfplay and a --teacher")
    if options.records and (options.rollouts or options.hard_examples):
        raise ValueError("--rollouts and --hard-examples need --selfplay: add --records by another command with --add")
    for bots in options.selfplay or ():
        config = SelfPlayConfig(
            bots, options.seed, options.games, options.decisions, options.teacher, options.rollouts,
            options.hard_examples, options.playouts,
        )  # fmt: skip
        made = make_bots(bots, options.seed)
        if (config.rollouts or config.hard_examples) and not any(isinstance(bot, ActionValues) for bot in made):
            raise ValueError(
                f"--rollouts and --hard-examples: none of {','.join(bots)} has action values; bert and rule have"
            )
        if seats.player is not None and seats.player not in bots:
            raise ValueError(f"--decisions {options.decisions}: no such bot plays in --selfplay {','.join(bots)}")
        sources.append(SelfPlay(config))
    if options.records:
        sources.append(Records(options.records, options.decisions, options.teacher))
    if not sources:
        raise ValueError("no source: give --records PATH or --selfplay A,B,C")
    return sources


def bots_in(options: argparse.Namespace) -> list[str]:
    """All bots that the options name."""
    bots = [bot for bots in options.selfplay or () for bot in bots]
    return [*bots, *filter(None, (options.teacher, options.playouts))]


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Make training data and return the exit code."""
    with parser.reporting(ValueError, OSError):
        workers = workers_for(options, bots_in(options))
        tasks = add_sources(options.out, parse_sources(options), add=options.add)
    code, why = make_shards(options.out, tasks, workers)
    if code != OK:
        note(f"{parser.short_name}: {why}; the same command continues")
    try:
        made = report(options.out)
        if code == OK and not made.samples:
            clear(options.out)
            note(f"{parser.short_name}: no samples; {options.out} is free for other data")
            return FAILED
    except (ValueError, OSError) as error:
        note(f"{parser.short_name}: {describe_error(error)}")
        return code or FAILED
    if code == OK:
        print_next(options.out, made)
    return code


def print_next(out: Path, made: Contents) -> None:
    """Print what to do next with a complete folder."""
    if not 0 < made.validation_games < made.games:
        lacks = "training" if made.validation_games else "validation"
        print(f"wrote {out}, which has no game for {lacks} (one in twenty is for validation): add games with --add")
        return
    train = command("agents.bert train", out, new_run(), "--from", "tiny", "--batch-size", 128)
    if has_rollouts(out):
        train = command("agents.bert improve", out, new_run(), "--from", "runs/first/model")
    print_outcome(f"wrote {out}", train)


def note(line: str) -> None:
    """Print a line to stderr."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Within the block SIGTERM raises KeyboardInterrupt, as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def make_shards(out: Path, tasks: list[tuple[int, Chunk]], workers: int | Cluster) -> tuple[int, str]:
    """Make the shards that are missing; returns the exit code, and why it stopped early."""
    todo = [(number, chunk) for number, chunk in tasks if not exists(out, number)]
    total = sum(chunk.n_games for _, chunk in tasks)
    done = total - sum(chunk.n_games for _, chunk in todo)
    if not todo:
        note(f"{out}: already finished")
        return OK, ""
    if done:
        note(f"continuing from {done:,} of {total:,} games")
    try:
        with (
            sigterm_as_ctrl_c(),
            Progress("games", total, done) as progress,
            closing(fill_all(out, todo, workers)) as filled,
        ):
            for n_games in filled:
                progress.advance(n_games)
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted"
    except (SourceError, WorkerError, OSError) as error:
        return FAILED, describe_error(error)
    return OK, ""


def report(out: Path) -> Contents:
    """Print and return what the folder holds. Raises ValueError for damaged data, OSError."""
    made = contents(out)
    print(f"{out}: {made}")
    if n_bad := join_bad_files(out):
        print(f"{n_bad:,} files unusable, in whole or in part: see {out / BAD_FILES}")
    return made
