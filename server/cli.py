"""python -m server: a game server for mjai bots that play three-player riichi mahjong."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Any

import structlog
import uvloop
from pydantic import ValidationError

from engine.common.options import Parser, describe_error
from engine.common.program import FAILED, OK
from engine.mjai.connection import check_name
from server.access import HOUSE_BOT_SUFFIX
from server.logs import start_logging
from server.running import running, warm_up
from server.settings import PREFIX, Settings
from server.store import Store, StoreError

log = structlog.get_logger("server")
EPILOG = f"""\
Every flag can also be set by an environment variable, such as --fill-delay by {PREFIX}FILL_DELAY; flags override
variables. The settings up to --spectator-delay are defaults of rooms. Items of lists are separated by commas.
"""


def token_name(name: str) -> str:
    """The name of a new token. Raises ArgumentTypeError for a name that no bot can join with."""
    try:
        can_join = check_name(name) == name
    except ValueError:
        can_join = False
    if not can_join:
        raise argparse.ArgumentTypeError(f"{name!r} is not 1 to 64 printable characters without spaces around them")
    if name.endswith(HOUSE_BOT_SUFFIX):
        raise argparse.ArgumentTypeError(f"{name!r} is reserved for house bots: choose another")
    return name


def make_flags() -> Parser:
    """A parser for the flags of all settings."""
    parser = Parser("server", add_help=False)
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = ",".join(default) if isinstance(default, tuple) else default
        parser.add_argument(
            "--" + name.replace("_", "-"),
            default=argparse.SUPPRESS,
            metavar=name.rpartition("_")[2].upper(),
            help=f"{field.description} (default {'none' if shown in (None, '') else shown})",
        )
    return parser


def make_parser() -> Parser:
    """The parser for the whole command line: flags and commands."""
    parser = Parser(
        "server",
        description=__doc__,
        epilog=EPILOG,
        parents=[make_flags()],
    )
    commands = parser.add_subparsers(metavar="COMMAND", help="without a command: run the server")
    token = commands.add_parser("token", help="manage the tokens of bots and admins")
    actions = token.add_subparsers(dest="token", required=True, metavar="ACTION")
    adding = actions.add_parser("add", help="create a token for a name; it is shown once")
    adding.add_argument("name", type=token_name)
    adding.add_argument("--admin", action="store_true", help="the token may open and close rooms")
    actions.add_parser("list", help="list the names that have a token")
    actions.add_parser("revoke", help="revoke a token").add_argument("name")
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line. An unknown flag is reported by name; argparse would report the word after it."""
    _, rest = make_flags().parse_known_args(argv)
    if rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help"):
        parser.error(f"unknown flag {rest[0]}: --help lists all")
    return parser.parse_args(argv)


def read_settings(parser: Parser, given: dict[str, Any]) -> Settings:
    """Settings from the given flags and the environment. Exits with a one-line message if any are invalid."""
    try:
        return Settings(**{name: value for name, value in given.items() if name in Settings.model_fields})
    except ValidationError as error:
        lines = []
        for details in error.errors():
            name = str(details["loc"][0])
            source = "--" + name.replace("_", "-") if name in given else PREFIX + name.upper()
            lines.append(f"{source} {details['input']!r}: {details['msg'].removeprefix('Value error, ')}")
        parser.error("; ".join(lines))


async def serve(settings: Settings) -> int:
    """Run the server until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(settings) as server:
        host = f"[{server.host}]" if ":" in server.host else server.host
        print(f"mjsonp://{host}:{server.mjai_port}/default  ws://{host}:{server.port}/mjai/default")
        print(f"http://{host}:{server.port}/docs", flush=True)
        await stop.wait()
        log.info("stopping")
    return OK


async def manage_tokens(settings: Settings, args: argparse.Namespace) -> int:
    """Add, list or revoke tokens."""
    settings.data.mkdir(parents=True, exist_ok=True)
    store = await Store.open(settings.database_url)
    try:
        if args.token == "add":
            print(await store.add_token(args.name, args.admin))
        elif args.token == "list":
            for token in await store.tokens():
                print(f"{token.name}  {'admin' if token.admin else 'bot'}  {token.created:%Y-%m-%d}")
        elif not await store.revoke_token(args.name):
            print(f"server: {args.name!r} has no token", file=sys.stderr)
            return FAILED
        return OK
    finally:
        await store.close()


def main(argv: Sequence[str]) -> int:
    """Run the server or a command. Returns the exit status."""
    parser = make_parser()
    args = parse(parser, argv)
    settings = read_settings(parser, vars(args))
    start_logging(settings.log)
    try:
        if "token" in vars(args):
            return asyncio.run(manage_tokens(settings, args))
        warm_up(settings)
        return uvloop.run(serve(settings))
    except (StoreError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(describe_error(error))
