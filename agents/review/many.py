"""What ``python -m agents.review --player`` does: reviews all games of a player, and tells what they add up to."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents.bot_files import digest_of_files, digest_of_weights
from agents.review.games import Found, Reviewed, review_item
from agents.review.opinions import cached_bot, check_reviewer
from agents.review.page import totals_page
from agents.review.report import loss_text
from agents.review.review import Json
from agents.review.totals import ALL, GROUPS, MISTAKE, Totals
from engine.common.files import write_atomically
from engine.common.line_file import LineFile
from engine.common.options import Parser, check_not_read, describe_error, notes_stream, printable
from engine.common.pools import delay_interrupts
from engine.common.program import FAILED, OK
from engine.common.screen import plain_table, screen
from engine.common.sources import digest_of_sources
from engine.records.archives import digest_of, files_of, members
from engine.records.commands import for_each, found_paths, skip
from engine.records.filters import THREE_PLAYERS
from engine.records.stream import in_order, jobs_for

HEADINGS = {"by_kind": "decision", "by_shanten": "shanten", "by_turn": "turn"}


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Review, print or write, and return the exit code."""
    try:
        for spec in options.bot:
            check_reviewer(cached_bot(spec), spec)
        if not (paths := found_paths(options)):
            return FAILED
        for option, path in (("--json", options.json), ("--html", options.html)):
            check_not_read(option, path, files_of(paths))
        found = Found(Totals.of_none(len(options.bot)), checkpoint_of(options, paths))
        code, why = review_all(found, options, paths)
        with delay_interrupts():
            found.keep()
        if code != OK:
            again = "the same command continues" if found.checkpoint else "with --json FILE, the same command continues"
            print_totals(screen(), found.totals, options)
            print(f"{why}: {found.done:,} records are done; {again}", file=sys.stderr)
            return code
        if not found.totals.games:
            if found.checkpoint is not None:
                found.checkpoint.delete()
            found.check_player(options.player)
            return FAILED  # nothing could be read, which has been said
        write(found, options)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        parser.error(describe_error(error))
    return FAILED if found.n_faults else OK


def checkpoint_of(options: argparse.Namespace, paths: Sequence[Path]) -> LineFile | None:
    """What keeps how far the job is, beside its output; None without a file to write. Raises ValueError, OSError."""
    output: Path | None = options.json or options.html
    if output is None:
        return None
    identity = {
        "player": options.player,
        "bots": options.bot,
        "files": digest_of(paths),
        "sources": [digest_of_sources("engine", "agents"), digest_of_weights()],
        "bot_files": digest_of_files(options.bot),
    }
    return LineFile(output.with_name(output.name + ".partial"), identity)


def review_all(found: Found, options: argparse.Namespace, paths: Sequence[Path]) -> tuple[int, str]:
    """Review the records that are not done; returns the exit code, and why it ends early."""
    work = partial(review_item, player=options.player, bots=tuple(options.bot))
    rest = members(paths)
    skip(rest, found.done)

    def take(reviewed: Reviewed) -> None:
        for fault in reviewed.faults:
            print(printable(fault), file=sys.stderr)
        found.add(reviewed)

    return for_each(in_order(work, rest, THREE_PLAYERS, jobs_for(paths)), paths, found.done, take)


def write(found: Found, options: argparse.Namespace) -> None:
    """Write the files that are asked for, and print. Raises OSError, ValueError where files of pages are missing."""
    totals = found.totals
    texts: dict[Path, str] = {}
    if options.json is not None:
        told = {"records": found.done, "faults": found.faults, "n_faults": found.n_faults}
        document = totals.as_json(options.player, options.bot) | told
        texts[options.json] = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    if options.html is not None:
        texts[options.html] = totals_page(totals, options.player, options.bot)
    for path, text in texts.items():
        with write_atomically(path) as file:
            file.write(text.encode())
    if found.checkpoint is not None:
        found.checkpoint.delete()
    print_totals(screen(), totals, options)
    for path in texts:
        print(f"wrote {path}", file=notes_stream(*texts))


def print_totals(console: Console, totals: Totals, options: argparse.Namespace) -> None:
    """Print the tables and the costliest mistakes of each bot, one after the other."""
    if not totals.games:
        return
    of_games = f"{totals.games:,} game{'s' * (totals.games != 1)}"
    console.print(Text(f"{printable(options.player)}: {of_games}", style="bold"))
    for bot, spec in enumerate(options.bot):
        console.print()
        console.print(Text(f"Reviewed by {spec}; losses in placements, ± is the 95 % interval", style="bold"))
        summary = totals.summary(bot)
        for group in GROUPS:
            console.print(table_of(HEADINGS[group], summary[group], summary if group == "by_kind" else None))
        if totals.mistakes[bot]:
            console.print(Text("The costliest mistakes", style="bold"))
            console.print(mistakes_of(totals, bot))
        else:
            console.print(f"No mistakes: no loss of {MISTAKE} or more")


def table_of(heading: str, rows: Json, total: Json | None) -> Table:
    """A line for each row, and one for all decisions if they are given."""
    table = plain_table([heading], ["number", "agreed, %", "mean loss", "loss of a game"])
    for name, row in (rows | ({ALL: total} if total else {})).items():
        per_game = row["loss_per_game"]
        loss = f"{loss_text(per_game['mean'])} ± {loss_text(per_game['interval'])}"
        table.add_row(name, f"{row['decisions']:,}", f"{100 * row['accuracy']:.1f}", loss_text(row["mean_loss"]), loss)
    return table


def mistakes_of(totals: Totals, bot: int) -> Table:
    """A line for each of the costliest mistakes."""
    table = plain_table(numbers=["loss"], texts=["record", "where", "played", "preferred"])
    for each in totals.mistakes[bot]:
        where = f"{each.round_name} turn {each.turn} (seat {each.seat})"
        table.add_row(loss_text(each.loss), Text(printable(each.file)), where, each.played, each.best)
    return table
