"""The actions of ``python -m server`` after its options are parsed: run the server, or a command."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import structlog

from engine.common.options import Parser, describe_error
from engine.common.program import FAILED, OK, TERMINATED, interrupt_at_once, program_name
from server.backup import BackupError, back_up, restore
from server.data_folder import make_folder
from server.descriptors import fit_connections
from server.limits import LIMITS, Limits
from server.lobby import Lobby
from server.logs import start_logging
from server.retention import prune
from server.running import Running, running
from server.settings import Settings, is_loopback
from server.store import Store, StoreError
from server.warm_up import settle, warm_up

log = structlog.get_logger("server")
T = TypeVar("T")
EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # `host` -> an address that this machine reaches


def addresses(server: Running, settings: Settings) -> dict[str, str]:
    """Return what people need to know about a running server, keyed by subject."""
    host = EVERYWHERE.get(server.host, server.host)  # asyncio listens on :: for IPv6 only
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
    """Announce that the server is up, and where: as a few lines of text, or as one entry of a JSON log."""
    facts = addresses(server, settings)
    if settings.log == "json":
        log.info("the server is up", **facts)
        return
    print("the server is up; Ctrl-C stops it")
    for subject, text in facts.items():
        print(f"  {subject:8}{text}")
    sys.stdout.flush()


async def serve(settings: Settings, limits: Limits = LIMITS) -> int:
    """Run the server until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    on_signals(asyncio.get_running_loop(), stop.set)
    async with running(settings, limits=limits) as server:
        settle()
        announce(server, settings)
        await stop.wait()
        n_playing = unfinished_games(server.lobby)
        log.info("stopping")
    if settings.log == "json":
        log.info("stopped", playing=n_playing, data=str(settings.data))
    else:
        print(f"stopped; {n_playing} games in play go on at the next start; data is in {settings.data}")
    return OK


def unfinished_games(lobby: Lobby) -> int:
    """Return how many games go on at the next start; exhibitions do not."""
    return sum(not (game.announced or game.start.exhibition) for game in lobby.games.values())


def on_signals(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call a function at SIGINT and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if sys.platform == "win32":  # where event loops have no signal handlers; untested
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
        else:
            loop.add_signal_handler(number, call)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the fastest event loop available."""
    new_event_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):  # not available on Windows
        from uvloop import new_event_loop
    interrupt_at_once()
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


def start(parser: Parser, settings: Settings, args: argparse.Namespace, hint: str, limits: Limits = LIMITS) -> int:
    """Log `hint`, and run the server or a command. Returns the exit status."""
    if settings.log == "text":  # otherwise `server.cli` has started logging, for errors in the arguments
        start_logging("text")
    if hint:
        log.warning(hint)
    try:
        if args.command == "token":
            return run(manage_tokens(settings, args))
        if args.command == "prune":
            make_folder(settings.data)
            run(prune(settings))
            return OK
        if args.command in ("backup", "restore"):
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that no incomplete file is left
            print((back_up if args.command == "backup" else restore)(settings, args.file))
            return OK
        settings = fit_connections(settings)
        log.info("starting; a line will say when the server is up")
        warm_up(settings)
        return run(serve(settings, limits))
    except (StoreError, BackupError, ValueError) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(describe_error(error))
