"""python -m agents.review: what bots think of every decision of a seat in a recorded game, or of a player in many."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from engine.cli import SOURCES
from engine.common.options import Parser, check_not_read, check_output, seat

PLAIN, MJAI_REVIEWER = "nukidora", "mjai-reviewer"  # formats of --json

EPILOG = """\
examples:
  python -m agents.review game.mjson --seat 0
  python -m agents.review game.xml --bot bert --bot rule --seat 2 --html review.html
  python -m agents.review games/ 2025.zip --player NoName --bot rule --html where_i_lose.html

The loss of a decision is the value of the best option less that of what was played, in placements: 0.01 is a
hundredth of a placement. Without --html and --json, a table of agreement and mean loss and the largest losses are
printed.

With --player, all three-player games of that player among the records are reviewed, at whatever seat: how much each
kind of decision costs in a game, and the costliest mistakes. With --json or --html, an interrupted job is continued by
the same command.

exit codes: 0 done, 1 the record cannot be read (with --player: one of the records), 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("agents.review", description=__doc__, epilog=EPILOG)
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="RECORD",
        help=f"mjai, mjlog or tenhou.net/6 JSON, gzipped or not; with --player: {SOURCES}",
    )
    parser.add_argument(
        "--bot",
        action="append",
        metavar="BOT",
        help="a bot with action values, such as bert, rule, bert:FOLDER; may be given again (default bert)",
    )
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--seat", type=seat, metavar="N", help="0 is the first dealer, then 1 and 2")
    whose.add_argument("--player", metavar="NAME", help="all games of the player of this name")
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
    options.bot = [*dict.fromkeys(options.bot or ["bert"])]
    check_options(parser, options)
    if options.player is not None:
        from agents.review.many import run as run_many  # only now: it takes numba, which the options do not need

        return run_many(parser, options)
    from agents.review.running import run

    return run(parser, options, for_mjai_reviewer=options.format == MJAI_REVIEWER)


def check_options(parser: Parser, options: argparse.Namespace) -> None:
    """Exit with an error for options that cannot be carried out, before any work."""
    with parser.reporting():
        check_output("--html", options.html)
        check_output("--json", options.json)
        check_not_read("--html", options.html, options.paths)
        check_not_read("--json", options.json, options.paths)
        for spec in options.bot:
            registry.check(spec)
    if options.player is None and len(options.paths) > 1:
        parser.error("--seat is of one record: give --player NAME for several")
    if options.player is not None and options.format != PLAIN:
        parser.error(f"--format {options.format} is of one game: give --seat in place of --player")
    if options.format == MJAI_REVIEWER and options.json is None:
        parser.error(f"--format {MJAI_REVIEWER} is for --json FILE")
    if options.format == MJAI_REVIEWER and len(options.bot) > 1:
        parser.error(f"--format {MJAI_REVIEWER} has room for one bot: give --bot once")
