"""python -m agents.console: a table in the terminal, where you play against two bots or at a server."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from agents import registry
from agents.client.cli import address
from engine.common.options import Parser, check_output, seconds, seed, two_bots
from engine.common.program import terminate_when_safe
from engine.mjai.connection import NAME_FORM, check_name
from engine.rules import PRESETS

NAME = "guest"
PAUSE = 0.4
FOR_BOTS = {"length": "hanchan", "rules": "tenhou", "seed": None, "save": None, "pause": PAUSE}  # with their defaults
FOR_SERVERS = {"name": NAME, "token": None}
RECORDS = (".mjson", ".jsonl", ".json", ".mjlog")  # suffixes of the records that can be written
DUMB = ("", "dumb", "unknown")

EPILOG = """\
examples:
  python -m agents.console --bots rule,bert
  python -m agents.console --bots rule,rule --length east --save game.mjson
  python -m agents.console mjsonp://localhost:11600/solo+rule+rule
  python -m agents.console wss://mahjong.example/mjai/default --name Aki

Type the number of a move, or p to pass; c shows which tiles are unseen, ? all keys, q quits. At a server its clock
runs while you think; after a lost connection the game goes on where it was. NO_COLOR=1 leaves out the colours.

exit codes: 0 the game is over, or you have quit, 1 the server cannot be reached, or rejects you, 2 bad arguments, or
no terminal, 130 interrupted, 143 terminated
"""


def make_parser() -> Parser:
    """The command line. Options that are for servers or for bots only have no default here."""
    parser = Parser("agents.console", description=__doc__, epilog=EPILOG)
    parser.add_argument(
        "url",
        nargs="?",
        type=address,
        metavar="URL",
        help="mjsonp://HOST:PORT/ROOM, ws://HOST:PORT/mjai/ROOM or wss://…",
    )
    parser.add_argument(
        "--bots", type=two_bots, metavar="A,B", help=f"play here, against two of {', '.join(registry.names())}"
    )
    at_server = parser.add_argument_group("at a server")
    at_server.add_argument("--name", metavar="NAME", help=f"your name in the game (default {NAME})")
    at_server.add_argument(
        "--token", metavar="TOKEN", help="access token from the server's operator (default: NUKIDORA_TOKEN)"
    )
    here = parser.add_argument_group("against bots")
    here.add_argument("--length", choices=("east", "hanchan"), help="length of the game (default hanchan)")
    here.add_argument("--rules", choices=sorted(PRESETS), help="rules of the game (default tenhou)")
    here.add_argument("--seed", type=seed, metavar="N", help="seed of the walls and of your seat (default: random)")
    here.add_argument("--save", type=Path, metavar="FILE", help="write the record of the game (mjai) when it is over")
    here.add_argument(
        "--pause", type=seconds, metavar="SECONDS", help=f"time that a move of a bot is shown (default {PAUSE:g})"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    check_options(parser, options)
    from agents.console.playing import make_bots, play  # imported late: it loads numba, which the options do not need

    agents = make_bots(parser, options)
    check_terminal(parser)
    signal.signal(signal.SIGTERM, terminate_when_safe)
    return play(options, agents)


def check_options(parser: Parser, options: argparse.Namespace) -> None:
    """Set the defaults, and exit with an error for options that do not go together."""
    if (options.url is None) == (options.bots is None):
        both = "" if options.url is None else ", not both"
        parser.error(f"give the address of a room, or --bots A,B for a table of your own{both}; --help shows examples")
    other, where = (FOR_BOTS, "--bots") if options.bots is None else (FOR_SERVERS, "a server")
    if given := [name for name in other if getattr(options, name) is not None]:
        parser.error(f"--{given[0]} is for {where} only")
    for name, default in (FOR_BOTS | FOR_SERVERS).items():
        if getattr(options, name) is None:
            setattr(options, name, default)
    options.token = options.token or os.environ.get("NUKIDORA_TOKEN")
    try:
        options.name = check_name(options.name)
    except ValueError:
        parser.error(f"--name {options.name!r} is not a name: {NAME_FORM}")
    path = options.save
    if path is not None and Path(path.name.removesuffix(".gz")).suffix not in RECORDS:
        parser.error(f"--save {path}: a record is called {', '.join('*' + suffix for suffix in RECORDS)} or *.gz")
    with parser.reporting():
        check_output("--save", path)
        for spec in options.bots or ():
            registry.check(spec)


def check_terminal(parser: Parser) -> None:
    """Exit with an error where nothing can be drawn, or no key be read."""
    if find_spec("termios") is None:
        parser.error("this system has no terminal that can be used; on Windows, run it in WSL")
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        parser.error("stdin and stdout must be a terminal: a person plays here; agents.client plays a bot")
    if os.environ.get("TERM", "") in DUMB:
        parser.error(f"a terminal of type {os.environ.get('TERM', '')!r} cannot draw a table: set TERM, as in xterm")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; None is one that was closed before the start."""
    return stream is not None and stream.isatty()
