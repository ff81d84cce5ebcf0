"""python -m engine: validate, convert or show game records."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from engine.common.options import Parser, describe_error, positive, usable_cores
from engine.common.program import FAILED, INTERRUPTED, OK, program_name
from engine.common.progress import Progress
from engine.records.files import RecordError, find_records, read_records, write_record
from engine.records.show import show_game
from engine.records.validate import AUTO, check_files
from engine.rules import PRESETS

PARALLEL_FROM = 100  # number of files from which several processes are faster than one


def validate(args: argparse.Namespace) -> int:
    """Replay every record file found; print a line for each mismatch and each broken file, and the totals."""
    files = find_records(args.paths)
    if not files:
        print(f"no game records in {' '.join(map(str, args.paths))}", file=sys.stderr)
    jobs = args.jobs or (usable_cores() if len(files) >= PARALLEL_FROM else 1)
    checked = rounds = decisions = mismatches = 0
    interrupted = False
    try:
        with Progress("files", len(files)) as progress:
            for report in check_files(files, args.rules, jobs):
                checked += 1
                rounds += report.n_rounds
                decisions += report.n_decisions
                mismatches += len(report.faults)
                for fault in report.faults:
                    print(fault)
                progress.advance()
    except KeyboardInterrupt:
        interrupted = True
        print(f"interrupted: {checked:,} of {len(files):,} files are checked", file=sys.stderr)
    print(f"files {checked} · rounds {rounds} · decisions {decisions} · mismatches {mismatches}", flush=True)
    if mismatches:
        print(f"to see a round: {program_name('engine')} show FILE --round N", file=sys.stderr)
    if interrupted:
        return INTERRUPTED
    return OK if files and not mismatches else FAILED


def convert(args: argparse.Namespace) -> int:
    """Convert the game in one file to another format."""
    source, target = args.source, args.target
    if target.exists() and target.samefile(source):
        args.parser.error(f"{target} is the record to convert: name another file to write")
    record = read_records(source)
    try:
        write_record(record, target)
    except RecordError:
        raise
    except ValueError as error:
        args.parser.error(str(error))
    print(f"{target}: {len(record.rounds())} rounds written; to see them: {program_name('engine')} show {target}")
    return OK


def show(args: argparse.Namespace) -> int:
    """Print a game, or one round and its link to Tenhou's viewer.

    Each line is a turn: the number of its first event in the record, the player, the hand before it, the tile taken,
    and what the player does.
    """
    record = read_records(args.file)
    n_rounds = len(record.rounds())
    if args.round and args.round > n_rounds:
        args.parser.error(f"--round {args.round}: {args.file} has {n_rounds} rounds")
    show_game(record, Console(highlight=False), args.round)
    if not args.round:
        print(f"a round with a link to Tenhou's viewer: {program_name('engine')} show {args.file} --round N")
    return OK


def arguments() -> Parser:
    """The command line."""
    parser = Parser("engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable[[argparse.Namespace], int], text: str) -> Parser:
        added = commands.add_parser(run.__name__, help=text, description=run.__doc__)
        added.set_defaults(run=run, parser=added)
        return added

    checking = command(validate, "check game records against the rules")
    checking.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a record file, or a folder of them")
    checking.add_argument("--rules", choices=(AUTO, *PRESETS), default=AUTO, help="default: the rules each file names")
    checking.add_argument("--jobs", type=positive, metavar="N", help="processes; default: all cores for many files")
    converting = command(convert, "write a game record as .mjson, .jsonl or .json (tenhou.net/6), .gz added or not")
    converting.add_argument("source", type=Path, metavar="IN", help="a record in any format, gzipped or not")
    converting.add_argument("target", type=Path, metavar="OUT", help="the file to write; its ending names the format")
    showing = command(show, "print a game record")
    showing.add_argument("file", type=Path, metavar="FILE", help="a record in any format, gzipped or not")
    showing.add_argument(
        "--round",
        type=positive,
        metavar="N",
        help="only this round, counted from 1, and a link to its replay in Tenhou's viewer",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one command; returns the exit code: 0, 1 for faulty records, 2 for wrong arguments."""
    args = arguments().parse_args(argv)
    parser: Parser = args.parser
    try:
        return int(args.run(args))
    except RecordError as error:
        print(error, file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        parser.error(describe_error(error))
