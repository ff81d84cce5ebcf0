"""python -m agents.review: what bots think of every decision of a seat in a recorded game."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.registry import make
from agents.review import mjai_reviewer
from agents.review.decisions import SeatDecisions, seat_decisions
from agents.review.opinions import check_reviewer
from agents.review.page import page
from agents.review.report import print_review
from agents.review.review import Review, make_review
from engine.common.options import Parser, check_output, describe_error
from engine.common.program import FAILED, OK
from engine.common.progress import Progress
from engine.records.files import RecordError, read_records
from engine.table import N_SEATS

PLAIN, MJAI_REVIEWER = "nukidora", "mjai-reviewer"  # formats of --json
TABLE_WIDTH = 100  # columns where the output is no terminal

EPILOG = """\
examples:
  python -m agents.review game.mjson --seat 0
  python -m agents.review game.xml --bot bert --bot rule --seat 2 --html review.html

The loss of a decision is the value of the best option less that of what was played, in placements: 0.01 is a
hundredth of a placement. Without --html and --json, a table of agreement and mean loss and the largest losses are
printed.
exit codes: 0 done, 1 the record cannot be read, 2 bad arguments, 130 interrupted
"""


def seat(text: str) -> int:
    """Option type: a seat, counted from the first dealer's."""
    if text not in map(str, range(N_SEATS)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a seat: 0 is the first dealer, then 1 and 2")
    return int(text)


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("agents.review", description=__doc__, epilog=EPILOG)
    parser.add_argument("record", type=Path, metavar="RECORD", help="mjai, mjlog or tenhou.net/6 JSON, gzipped or not")
    parser.add_argument(
        "--bot",
        action="append",
        metavar="BOT",
        help="a bot with action values, such as bert, rule, bert:FOLDER; may be given again (default bert)",
    )
    parser.add_argument("--seat", type=seat, required=True, metavar="N", help="0 is the first dealer, then 1 and 2")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page that needs no other file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the review as JSON")
    parser.add_argument(
        "--format", choices=(PLAIN, MJAI_REVIEWER), default=PLAIN, help=f"of --json (default {PLAIN}); see docs/web.md"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Review, print or write, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    specs = [*dict.fromkeys(options.bot or ["bert"])]
    check_options(parser, options, specs)
    try:
        decisions = seat_decisions(read_records(options.record), options.seat)
        review = with_progress(decisions, specs)
        files = files_of(review, options)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except RecordError as error:
        print(f"{parser.short_name}: {error}", file=sys.stderr)
        return FAILED
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    if not files:
        print_review(review, screen())
    for path in files:
        print(f"wrote {path}")
    return OK


def check_options(parser: Parser, options: argparse.Namespace, specs: Sequence[str]) -> None:
    """Exit with an error for options that cannot be carried out, before any work."""
    try:
        check_output("--html", options.html)
        check_output("--json", options.json)
    except ValueError as error:
        parser.error(str(error))
    if options.format == MJAI_REVIEWER and options.json is None:
        parser.error(f"--format {MJAI_REVIEWER} is for --json FILE")
    if options.format == MJAI_REVIEWER and len(specs) > 1:
        parser.error(f"--format {MJAI_REVIEWER} has room for one bot: give --bot once")


def with_progress(decisions: SeatDecisions, specs: Sequence[str]) -> Review:
    """The review, with a progress bar. Raises ValueError for a bot that cannot be made or cannot review."""
    bots = {spec: make(spec) for spec in specs}
    for spec, bot in bots.items():
        check_reviewer(bot, spec)
    with Progress("decisions", len(bots) * len(decisions.decisions)) as progress:
        return make_review(decisions, bots, progress.advance)


def files_of(review: Review, options: argparse.Namespace) -> dict[Path, str]:
    """The contents of the files to write. Raises ValueError where the files of the pages are missing."""
    files: dict[Path, str] = {}
    if options.json is not None:
        document: Any = review.as_json() if options.format == PLAIN else mjai_reviewer.document(review)
        files[options.json] = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    if options.html is not None:
        files[options.html] = page(review)
    return files


def screen() -> Console:
    """The terminal, or a width for what is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = TABLE_WIDTH
    return console
