"""python -m agents.pack: puts a bot into one file, which speaks mjai on stdin and stdout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.files import PROGRAM
from engine.common.options import Parser, check_output

EPILOG = """\
examples:
  python -m agents.pack rule -o rule.pyz
  python -m agents.pack "bert:FOLDER?temperature=0.5" -o mine.pyz
  python -m agents.pack my_bot.py:Eager -o eager.pyz
  python -m arena --bots "exec:python rule.pyz,rule,random"

The file runs with Python 3.11 or newer, numpy and numba (and onnxruntime, for a network); nukidora itself need not be
installed. A bot in a file of yours is packed with the modules that it imports and the files that it opens in its
folder, and with a file or folder that its argument names. Hidden files, and files that the bot writes, are left out.
The same bot gives the same bytes.

exit codes: 0 written, 1 it cannot be written, or the bot in it does not play, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("agents.pack", description=__doc__, epilog=EPILOG)
    known = ", ".join(registry.names())
    parser.add_argument("bot", metavar="BOT", help=f"one of {known}, or FILE.py:CLASS; see docs/bots.md")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file, such as bot.pyz")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack a bot, let it play its first decision on this machine, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    with parser.reporting():
        check_output("--output", options.output)
        if not PROGRAM.match(options.bot):  # of which `contents_of` says why it cannot be packed
            registry.check(options.bot)
    from agents.pack.packing import run  # imported late: it loads numba, which the options do not need

    return run(parser, options)
