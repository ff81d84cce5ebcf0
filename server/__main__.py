"""python -m server: seats mjai bots at games of three-player riichi mahjong."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Any

import structlog
import uvloop
from pydantic import TypeAdapter, ValidationError

from engine.common.options import Parser, describe_error
from server.access import HOUSE
from server.logs import start_logging
from server.messages import Name
from server.running import running, warm_up
from server.settings import PREFIX, Settings
from server.store import Store, StoreError

OK, FAILED = 0, 1
log = structlog.get_logger("server")
EPILOG = f"""\
Every flag can be set by an environment variable: --fill-after by {PREFIX}FILL_AFTER; flags count more. What concerns
play holds for rooms that say nothing themselves. Lists are separated by commas.
"""


def owner_name(name: str) -> str:
    """A name for a token, which must be one that can join. Raises ArgumentTypeError for any other."""
    try:
        joins_so = TypeAdapter(Name).validate_python(name) == name
    except ValidationError:
        joins_so = False
    if not joins_so:
        raise argparse.ArgumentTypeError(f"{name!r} is not 1 to 64 printable characters without spaces around them")
    if name.endswith(HOUSE):
        raise argparse.ArgumentTypeError(f"{name!r} is a house bot's: take another")
    return name


def make_flags() -> Parser:
    """The flags of all settings."""
    parser = Parser("server", add_help=False, allow_abbrev=False)
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
    """The command line: flags and commands."""
    parser = Parser(
        "server",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[make_flags()],
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", help="without one: serve")
    token = commands.add_parser("token", help="tokens of bots and admins")
    actions = token.add_subparsers(dest="token", required=True, metavar="ACTION")
    adding = actions.add_parser("add", help="a new token for a name; it is shown once")
    adding.add_argument("name", type=owner_name)
    adding.add_argument("--admin", action="store_true", help="may open and close rooms")
    actions.add_parser("list", help="names that have one")
    actions.add_parser("revoke", help="end a token").add_argument("name")
    return parser


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """The arguments. A flag that does not exist is named; argparse would take what follows it for the command."""
    _, rest = make_flags().parse_known_args(argv)
    if rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help"):
        parser.error(f"unknown flag {rest[0]}: --help lists all")
    return parser.parse_args(argv)


def read_settings(parser: Parser, given: dict[str, Any]) -> Settings:
    """Settings from flags and environment; what is wrong with them is said in one line each."""
    try:
        return Settings(**{name: value for name, value in given.items() if name in Settings.model_fields})
    except ValidationError as error:
        lines = []
        for fault in error.errors():
            name = str(fault["loc"][0])
            place = "--" + name.replace("_", "-") if name in given else PREFIX + name.upper()
            lines.append(f"{place} {fault['input']!r}: {fault['msg'].removeprefix('Value error, ')}")
        parser.error("; ".join(lines))


async def serve(settings: Settings) -> int:
    """Serve until told to stop."""
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


async def tokens(settings: Settings, args: argparse.Namespace) -> int:
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
    """Run the server or a command; returns the exit code."""
    parser = make_parser()
    args = parse(parser, argv)
    settings = read_settings(parser, vars(args))
    start_logging(settings.log)
    try:
        if "token" in vars(args):
            return asyncio.run(tokens(settings, args))
        warm_up(settings)
        return uvloop.run(serve(settings))
    except (StoreError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(describe_error(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
