"""The commands of ``python -m engine``; their options are in `engine.cli`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Protocol, TypeVar

from rich.console import Console

from engine.common.files import write_atomically
from engine.common.line_file import LineFile
from engine.common.options import Parser, check_not_read, check_output, check_parent, describe_error, printable
from engine.common.pools import WorkerError, delay_interrupts
from engine.common.program import FAILED, INTERRUPTED, OK, program_name
from engine.common.progress import Progress
from engine.common.sources import digest_of_sources
from engine.mjai.connection import DEFAULT_DIALECT
from engine.records.archives import digest_of, files_of, members, total_size
from engine.records.convert import Conversion
from engine.records.files import RecordError, find_records, notes_of, read_records, write_record
from engine.records.filters import Filters, filters_of
from engine.records.model import with_rules_of
from engine.records.show import show_game
from engine.records.stream import Item, jobs_for
from engine.records.validate import Report, check_all

CHECKPOINT = 100  # records between two saves of the progress with --json


class HasNotes(Protocol):
    """What has become of a record, with notes on it."""

    @property
    def notes(self) -> Sequence[str]:
        """One line each."""
        ...


Each = TypeVar("Each")
Noted = TypeVar("Noted", bound=HasNotes)


def validate(args: argparse.Namespace) -> int:
    """Replay every record found; print a line for each fault, and the totals; see `engine.cli`."""
    check_output("--json", args.json)
    paths, filters = found_paths(args), Filters(rules=args.rules)
    check_not_read("--json", args.json, files_of(paths))
    jobs = jobs_for(paths)
    lines, report, done = None, Report(), 0
    if args.json is not None:
        identity = {"filters": filters.options, "files": digest_of(paths), "sources": [digest_of_sources("engine")]}
        lines = LineFile(args.json.with_name(args.json.name + ".partial"), identity)
        last = lines.last({"done": 0, "counts": report.counts()})
        report.count(last["counts"])
        done = last["done"]
    found = members(paths)
    done = skip(found, done)
    faults: list[str] = []

    def take(each: Report) -> None:
        nonlocal done, faults
        report.add(each)
        done += 1
        for fault in each.faults:
            print(fault)
        faults += each.faults if lines else []
        if lines and done % CHECKPOINT == 0:
            lines.append({"done": done, "counts": report.counts(), "faults": faults})
            faults = []

    code, why = for_each(check_all(found, filters, jobs), paths, done, take)
    if code != OK:
        again = "the same command continues" if lines else "with --json FILE, the same command continues"
        print(f"{why}: {done:,} records are checked; {again}", file=sys.stderr)
    if lines:
        lines.append({"done": done, "counts": report.counts(), "faults": faults})
        if code == OK:
            write_report(args.json, report, lines)
    print(report, flush=True)
    if paths and code == OK and not (report.n_records or report.n_left_out):
        say_nothing_found(args)
    if report.n_mismatches or report.n_contradictions:
        print(f"to see a round: {program_name('engine')} show FILE --round N", file=sys.stderr)
    if code != OK:
        return code
    return OK if report.n_records and report.is_clean else FAILED


def for_each(
    results: Generator[tuple[Item, Noted]], paths: Sequence[Path], done: int, take: Callable[[Noted], None]
) -> tuple[int, str]:
    """Give each result on a record to ``take``, with progress; return the exit code and, if it is not OK, why.

    ``take`` is never interrupted: a record could be counted twice by the command that continues. The first ``done``
    records at ``paths`` were skipped.
    """
    notes: set[str] = set()
    try:
        with closing(results) as found:
            for item, each in with_progress(found, paths, done):
                with delay_interrupts():
                    say_new(notes, item.name, each.notes)
                    take(each)
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted"
    except WorkerError as error:
        return FAILED, str(error)
    return OK, ""


def say_new(said: set[str], name: str, notes: Sequence[str]) -> None:
    """Print the notes of a record that have not been printed before: all games of a lobby have the same."""
    for note in notes:
        if note not in said:
            said.add(note)
            print(f"{printable(name)}: {note}", file=sys.stderr)


def found_paths(args: argparse.Namespace) -> list[Path]:
    """The record files and archives that the command names."""
    paths = find_records(args.paths)
    if not paths:
        say_nothing_found(args)
    return paths


def say_nothing_found(args: argparse.Namespace) -> None:
    """Report that the paths of the command hold no records."""
    print(f"no game records in {' '.join(map(str, args.paths))}", file=sys.stderr)


def skip(found: Iterator[object], n: int) -> int:
    """Skip the first `n`, done by an interrupted job, and say so; return how many there were."""
    if n:
        print(f"continuing after {n:,} records", file=sys.stderr)
    return sum(1 for _ in islice(found, n))


def with_progress(
    results: Iterator[tuple[Item, Each]], paths: Sequence[Path], done: int
) -> Iterator[tuple[Item, Each]]:
    """Yield the results on records, showing progress by the bytes of their files; the first ``done`` were skipped."""
    shown = 0
    with Progress("kB", max(1, total_size(paths) // 1000)) as progress:
        for number, (item, result) in enumerate(results, done + 1):
            yield item, result
            position = item.position // 1000
            if done and number == done + 1:  # it tells how many bytes the skipped ones had
                progress.start_from(position)
                shown = position
            progress.advance(position - shown, f"{number:,} record{'s' * (number != 1)}")
            shown = position


def write_report(path: Path, report: Report, lines: LineFile) -> None:
    """Write the counts and all faults as JSON, and delete the file of the progress."""
    with write_atomically(path) as file:
        file.write(json.dumps(report.counts())[:-1].encode() + b', "faults": [')
        faults = (fault for entry in lines.entries() for fault in entry.get("faults", []))
        for number, fault in enumerate(faults):
            file.write(b"," * bool(number) + b"\n" + json.dumps(fault).encode())
        file.write(b"]}\n")
    lines.delete()


def convert(args: argparse.Namespace) -> int:
    """Convert one game, or with --out all games found; see `engine.cli`."""
    if args.out is None:
        return convert_one(args)
    check_parent("--out", args.out)
    if args.dialect != DEFAULT_DIALECT and not args.format.startswith("mjson"):
        args.parser.error(f"--dialect {args.dialect}: it is one of mjai, so --format must be mjson, not {args.format}")
    if not (paths := found_paths(args)):
        return FAILED
    jobs = jobs_for(paths)
    conversion = Conversion(paths, args.out, args.format, args.dialect, filters_of(args))
    if conversion.done:
        print(f"continuing after {conversion.done:,} records", file=sys.stderr)
    report = conversion.report

    def take(each: Report) -> None:
        for fault in each.faults:
            print(fault, file=sys.stderr)

    code, why = for_each(conversion.run(jobs), conversion.paths, conversion.done, take)
    if code != OK:
        print(f"{why}: {conversion.kept:,} records are kept; the same command continues", file=sys.stderr)
        return code
    n_written = report.n_records - report.n_damaged - report.n_four_players
    rare = {"damaged": report.n_damaged, "games of four": report.n_four_players, "left out": report.n_left_out}
    print(" · ".join([f"{args.out}: {n_written:,} records", *(f"{name} {n:,}" for name, n in rare.items() if n)]))
    return OK if n_written and report.is_clean else FAILED


def convert_one(args: argparse.Namespace) -> int:
    """Convert the game in one file."""
    if len(args.paths) != 2:
        args.parser.error("name a record and the file to write, or records and --out ARCHIVE")
    source, target = args.paths
    check_not_read("", target, files_of([source]))
    record = with_rules_of(read_records(source), args.rules)
    say_new(set(), str(source), notes_of(record, target.name))
    try:
        write_record(record, target, args.dialect)
    except RecordError:
        raise
    except ValueError as error:
        args.parser.error(str(error))
    print(f"{target}: {len(record.rounds())} rounds written; to see them: {show_command(target)}")
    return OK


def show_command(path: Path) -> str:
    """Return the shell command that shows a record, quoted: Tenhou's names contain an ampersand."""
    return f"{program_name('engine')} show {quote(str(path))}"


def show(args: argparse.Namespace) -> int:
    """Print a game, or one round and its link to Tenhou's viewer; see `engine.cli`."""
    record = read_records(args.file)
    say_new(set(), str(args.file), record.notes)
    n_rounds = len(record.rounds())
    if args.round and args.round > n_rounds:
        args.parser.error(f"--round {args.round}: {args.file} has {n_rounds} rounds")
    show_game(record, Console(highlight=False), args.round)
    if not args.round:
        print(f"a round with a link to Tenhou's viewer: {show_command(args.file)} --round N")
    return OK


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {"validate": validate, "convert": convert, "show": show}


def run(args: argparse.Namespace) -> int:
    """Run the command of a command line; returns the exit code."""
    parser: Parser = args.parser
    try:
        return COMMANDS[args.command](args)
    except RecordError as error:
        print(f"{parser.short_name}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        parser.error(describe_error(error))
