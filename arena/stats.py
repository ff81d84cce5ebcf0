"""python -m arena stats: counts how players play, from records of their games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.options import add_file_options
from engine.cli import SOURCES
from engine.common.options import Parser

SHOWN = 20  # players in the tables, unless they are named

EPILOG = """\
Records may have any format that nukidora reads: mjai, Tenhou mjlog or tenhou.net/6, Mahjong Soul; saved games of the
arena, games of a server, your own logs. Every game is replayed by the rules first. A record that cannot be read,
differs from the rules or is incomplete is named and left out; so is a seat that somebody else played in part.
Four-player games are left out. To count some records of an archive, choose them with python -m engine convert.

Each line of the tables is a player, by name; the first is all players together. Intervals are 95 %, by Student's t
distribution, and games count as independent. docs/statistics.md defines every statistic.

With --json, the same command continues an interrupted count.

exit codes: 0 all games were counted, 1 some could not be, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("arena stats", description=__doc__, epilog=EPILOG)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=SOURCES)
    parser.add_argument(
        "--player",
        dest="players_shown",
        action="append",
        metavar="NAME",
        help=f"show this player; may be repeated (default: the {SHOWN} with the most games)",
    )
    parser.add_argument(
        "--statistics", action="store_true", help="print all statistics: wins, riichi and waits, deal-ins, draws, calls"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all statistics of all players")
    add_file_options(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the program and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    from arena.record_stats import start  # imported late: it loads numba, which the options do not need

    return start(parser, options, SHOWN)
