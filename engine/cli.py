"""The command line ``python -m engine``: validate, convert or show game records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.common.options import Parser, positive
from engine.mjai.connection import DEFAULT_DIALECT, DIALECTS
from engine.records.options import FORMATS, add_filters, add_rules

SOURCES = (
    "a record file, an archive (.zip, .tar, .tar.gz, .tar.zst, a database of logs), a folder, or a pattern of them"
)
EPILOG = """\
A record is mjai, Tenhou mjlog or tenhou.net/6, compressed (.gz, .bz2, .zst) or not. One in an archive is named
archive.zip:name, and by its log id in a database of houou-logs or phoenix-logs.
"""
VALIDATE = """\
Replay every record found; print a line for each fault, and the totals.

A mismatch is a difference between the record and the rules. A contradiction is a difference within the record, such as
deltas that do not fit the scores of the next round: an error of the program that wrote it. A damaged record cannot be
read, or only in part. With --json, running the same command again continues an interrupted check.
"""
CONVERT = """\
Convert one game to another format, or with --out all games found into an archive or a folder.

The other programs read what convert has chosen: it alone has options for that. The converted records name the rules
given with --rules. A record that cannot be converted is reported and left out.
Running the same command again continues an interrupted conversion.
"""
SHOW = """\
Print a game, or one round and its link to Tenhou's viewer.

Each line is a turn: the number of its first event in the record, the player, the hand before it, the tile taken, and
the player's action.
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("engine", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str, description: str) -> Parser:
        added = commands.add_parser(name, help=text, description=description, epilog=EPILOG)
        added.set_defaults(parser=added)
        return added

    checking = command("validate", "check game records against the rules", VALIDATE)
    checking.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=SOURCES)
    checking.add_argument("--json", type=Path, metavar="FILE", help="write the counts and faults; makes it resumable")
    converting = command(
        "convert", "write game records as .mjson, .jsonl, .json (tenhou.net/6) or .mjlog, .gz added or not", CONVERT
    )
    converting.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help=f"{SOURCES}; without --out: a record, and the file to write"
    )
    converting.add_argument(
        "--out", type=Path, metavar="OUT", help="a folder, or a file .tar.zst, .tar.gz, .tar or .zip: write all records"
    )
    converting.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of the records in --out")
    converting.add_argument("--dialect", choices=DIALECTS, default=DEFAULT_DIALECT, help="of mjai (docs/protocol.md)")
    for each in (checking, converting):
        add_rules(each)
    add_filters(converting)
    showing = command("show", "print a game record", SHOW)
    showing.add_argument("file", type=Path, metavar="FILE", help="a record, or archive.zip:name")
    showing.add_argument(
        "--round",
        type=positive,
        metavar="N",
        help="only this round, counted from 1, and a link to its replay in Tenhou's viewer",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one command; returns the exit code: 0, 1 for faulty records, 2 for wrong arguments."""
    args = make_parser().parse_args(argv)
    from engine.records.commands import run  # imported late: it needs numba, which parsing the options does not

    return run(args)
