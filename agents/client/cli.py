"""python -m agents.client: plays a bot at a mjai server, over TCP or WebSocket."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from agents import registry
from agents.client.address import Address, parse_url
from agents.client.first_connection import FIRST_CONNECTION
from agents.external.framing import FRAMINGS, TIMEOUT
from engine.common.options import Parser, non_negative, positive_seconds, seconds
from engine.mjai.connection import DIALECTS

EPILOG = f"""\
examples:
  python -m agents.client rule mjsonp://localhost:11600/default
  python -m agents.client rule ws://localhost:8000/mjai/default --games 0
  python -m agents.client --exec "python bot.py {{id}}" mjsonp://localhost:11600/default

A room name may ask for house bots in the empty seats: mjsonp://localhost:11600/solo+rule+efficiency. The URL may choose
the dialect of mjai, for the server and a program ({", ".join(DIALECTS)}): mjsonp://localhost:11600/default?dialect=kita.
If no server answers within {FIRST_CONNECTION:g} s, the client gives up. If a connection is lost later, it reconnects
after 1 s, 2 s and so on up to 30 s, and resumes the game. If a program (--exec) crashes, hangs or sends an invalid
reply, the error is printed with the end of its stderr, safe defaults are played for it until the end of the game, and
the next game starts it anew.
exit codes: 0 all games played (with --games 0: the server wants no more), 1 no server answers, or it rejects the bot,
or the bot cannot be started, 2 bad arguments, 130 interrupted, 143 terminated
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "agents.client",
        description=__doc__,
        epilog=EPILOG,
    )
    parser.add_argument("bot", nargs="?", metavar="BOT", help=f"one of {', '.join(registry.names())}; none with --exec")
    parser.add_argument(
        "url", type=address, metavar="URL", help="mjsonp://HOST:PORT/ROOM, ws://HOST:PORT/mjai/ROOM or wss://…"
    )
    parser.add_argument("--name", metavar="NAME", help="name in the game (default: the bot's own name)")
    parser.add_argument(
        "--token", default=os.environ.get("NUKIDORA_TOKEN"), metavar="TOKEN",
        help="access token from the server's operator (default: NUKIDORA_TOKEN)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=non_negative, default=1, metavar="N", help="games to play (default 1; 0: no end)"
    )
    parser.add_argument(
        "--pause",
        type=seconds,
        metavar="SECONDS",
        help="seconds to wait before each action, for spectators (default 0, or NUKIDORA_PAUSE)",
    )
    parser.add_argument("--exec", metavar="COMMAND", help="program that speaks mjai on stdin and stdout")
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        metavar="SECONDS",
        help=f"time for an answer of the program (default {TIMEOUT:g})",
    )
    parser.add_argument(
        "--log", type=Path, metavar="FOLDER",
        help="log what the program receives, replies and writes to stderr: one file per game, named by its id",
    )  # fmt: skip
    parser.add_argument("--framing", choices=FRAMINGS, help="of the program (default auto: detected; see docs/bots.md)")
    return parser


def address(text: str) -> Address:
    """A URL, for the command line."""
    try:
        return parse_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def default_pause(parser: Parser) -> float:
    """The pause that the environment sets, in seconds. A bad value is an error of the command line."""
    try:
        return seconds(os.environ.get("NUKIDORA_PAUSE") or "0")
    except argparse.ArgumentTypeError as error:
        parser.error(f"NUKIDORA_PAUSE: {error}")


def check_bot(options: argparse.Namespace) -> None:
    """Raise ValueError if the options name no bot, as far as can be checked without loading one."""
    if (options.bot is None) == (options.exec is None):
        raise ValueError('name a bot or give --exec "COMMAND", one of the two, and then the URL')
    if options.exec is None:
        for name in ("framing", "log", "timeout"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name} is for --exec only")
        registry.check(options.bot)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(arguments)  # options may stand between bot and URL
    options.pause = default_pause(parser) if options.pause is None else options.pause
    with parser.reporting():
        check_bot(options)
    from agents.client.playing import run  # imported late: it loads numba, which the options do not need

    return run(parser, options)
