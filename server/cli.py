"""python -m server: a game server for mjai bots that play three-player riichi mahjong."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import structlog

from engine.common.options import Parser, describe_error
from engine.common.program import FAILED, OK, TERMINATED, program_name
from engine.mjai.connection import check_name
from server.backup import BackupError, back_up, restore
from server.descriptors import fit_connections
from server.flags import make_flags, parse, read_settings
from server.logs import start_logging, wanted_format
from server.names import imitates_house_bot
from server.running import Running, check_addresses, make_folder, running
from server.settings import PREFIX, Settings, is_loopback
from server.store import Store, StoreError
from server.warm_up import settle, warm_up

log = structlog.get_logger("server")
EPILOG = f"""\
Every flag can also be set by an environment variable, such as --fill-delay by {PREFIX}FILL_DELAY; flags override
variables. The settings up to --pause are defaults of rooms. Items of lists are separated by commas.
"""
EARLIER_DATABASE = Path("data", "nukidora.db")  # in the default folder of earlier versions
EVERYWHERE = ("", "0.0.0.0", "::")


def token_name(name: str) -> str:
    """The name of a new token. Raises ArgumentTypeError for a name that no bot can join with."""
    try:
        can_join = check_name(name) == name
    except ValueError:
        can_join = False
    if not can_join:
        raise argparse.ArgumentTypeError(f"{name!r} is not 1 to 64 printable characters without spaces around them")
    if imitates_house_bot(name):
        raise argparse.ArgumentTypeError(f"{name!r} is reserved for house bots, or looks like one: choose another")
    return name


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
    adding.add_argument("name", metavar="NAME", type=token_name)
    adding.add_argument("--admin", action="store_true", help="the token may open and close rooms")
    actions.add_parser("list", help="list the names that have a token")
    actions.add_parser("revoke", help="revoke a token").add_argument("name", metavar="NAME")
    saving = commands.add_parser("backup", help="back the database up; the server may play on")
    saving.add_argument("backup", metavar="FILE", type=Path, help="a new file")
    restoring = commands.add_parser("restore", help="put a backup in place of the database; stop the server first")
    restoring.add_argument("restore", metavar="FILE", type=Path, help="made by backup")
    return parser


def addresses(server: Running, settings: Settings) -> dict[str, str]:
    """What people need to know of a server that is up, by subject."""
    host = "127.0.0.1" if server.host in EVERYWHERE else server.host
    host = f"[{host}]" if ":" in host else host
    others = " (and at all other addresses of this machine)" if server.host in EVERYWHERE else ""
    start, token = program_name("agents.client"), " --name NAME --token TOKEN" if settings.tokens_needed else ""
    needed = f"needed to play; make one with {program_name('server')} token add NAME"
    only_here = is_loopback(server.host) or server.host == "localhost"
    not_needed = "only this machine can connect" if only_here else "anybody who can connect may play"
    return {
        "bots": f"mjsonp://{host}:{server.mjai_port}/default or ws://{host}:{server.port}/mjai/default{others}",
        "pages": f"http://{host}:{server.port}",
        "data": f"{settings.data.absolute()}",
        "tokens": needed if settings.tokens_needed else f"not needed: {not_needed}",
        "try it": f"{start} rule mjsonp://{host}:{server.mjai_port}/try+rule+rule{token}",
    }


def announce(server: Running, settings: Settings) -> None:
    """Say that the server is up, and where: in a few lines, or in one of the log where that is for programs."""
    facts = addresses(server, settings)
    if settings.log == "json":
        log.info("the server is up", **facts)
        return
    print("the server is up; Ctrl-C stops it")
    for subject, text in facts.items():
        print(f"  {subject:8}{text}")
    sys.stdout.flush()


async def serve(settings: Settings) -> int:
    """Run the server until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    on_signals(asyncio.get_running_loop(), stop.set)
    async with running(settings) as server:
        settle()
        announce(server, settings)
        await stop.wait()
        n_playing = sum(room.playing for room in server.lobby.rooms.values())
        log.info("stopping")
    if settings.log == "json":
        log.info("stopped", playing=n_playing, data=str(settings.data))
    else:
        print(f"stopped; {n_playing} games in play go on at the next start; data is in {settings.data}")
    return OK


def on_signals(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call a function at SIGINT and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if sys.platform == "win32":  # where event loops have no signal handlers; untested
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
        else:
            loop.add_signal_handler(number, call)


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine in the fastest event loop there is."""
    try:
        from uvloop import new_event_loop
    except ImportError:  # it does not exist for Windows
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


async def manage_tokens(settings: Settings, args: argparse.Namespace) -> int:
    """Add, list or revoke tokens."""
    make_folder(settings.data)
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


def mention_earlier_data(settings: Settings) -> None:
    """Say how to use the data of an earlier version, whose default folder was another."""
    default = Settings.model_fields["data"].default
    unused = settings.data == default and not settings.database and not default.exists()
    if unused and EARLIER_DATABASE.exists() and not os.environ.get(PREFIX + "DATA"):
        folder = EARLIER_DATABASE.parent
        log.warning(f"{EARLIER_DATABASE}, of an earlier version, is not used; to use it: --data {folder}")


def main(argv: Sequence[str]) -> int:
    """Run the server or a command. Returns the exit status."""
    start_logging(wanted_format(argv))
    parser = make_parser()
    args = parse(parser, argv)
    settings = read_settings(parser, vars(args))
    mention_earlier_data(settings)
    try:
        if "token" in vars(args):
            return asyncio.run(manage_tokens(settings, args))
        if "backup" in vars(args) or "restore" in vars(args):
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that no half file is left
            print(back_up(settings, args.backup) if "backup" in vars(args) else restore(settings, args.restore))
            return OK
        check_addresses(settings)
        settings = fit_connections(settings)
        log.info("starting; a line will say when the server is up")
        warm_up(settings)
        return run(serve(settings))
    except (StoreError, BackupError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(describe_error(error))
