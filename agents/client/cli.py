"""python -m agents.client: plays a bot at a mjai server, over TCP or WebSocket."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from time import monotonic
from types import FrameType

from agents.client.address import Address, parse_url
from agents.client.connection import FatalConnectionError, Transport, connect
from agents.client.first_connection import other_protocol, unreachable
from agents.client.session import ClientSession
from agents.external.adapters import AgentBot
from agents.external.framing import FRAMINGS, TIMEOUT
from agents.external.mjai_bot import BotError, MjaiBot, one_line
from agents.external.subprocess_bot import SubprocessBot
from agents.registry import make, names
from engine.common.options import Parser, non_negative, positive_seconds, seconds, seed
from engine.common.program import FAILED, INTERRUPTED, OK, TERMINATED
from engine.mjai.dialects import DIALECTS
from engine.mjai.messages import Message

MIN_BACKOFF, MAX_BACKOFF = 1.0, 30.0  # seconds until the next attempt to connect; doubled each time
FIRST_CONNECTION = 15.0  # seconds to reach a server at all

EPILOG = f"""\
examples:
  python -m agents.client rule mjsonp://localhost:11600/default
  python -m agents.client rule ws://localhost:8000/mjai/default --games 0
  python -m agents.client --exec "python bot.py {{id}}" mjsonp://localhost:11600/default

A room name may ask for house bots in the empty seats: mjsonp://localhost:11600/solo+rule+efficiency.
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
    parser.add_argument("bot", nargs="?", metavar="BOT", help=f"one of {', '.join(names())}; none with --exec")
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
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed of the bot (default 0)")
    parser.add_argument(
        "--pause",
        type=seconds,
        metavar="SECONDS",
        help="seconds to wait before each decision, for spectators (default 0, or NUKIDORA_PAUSE)",
    )
    parser.add_argument("--dialect", choices=DIALECTS, help="of mjai, for the server and the program (default mjai3p)")
    parser.add_argument("--exec", metavar="COMMAND", help="program that speaks mjai on stdin and stdout")
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"time for an answer of the program (default {TIMEOUT:g})",
    )
    parser.add_argument("--framing", choices=FRAMINGS, help="of the program (default auto: detected; see docs/bots.md)")
    return parser


def address(text: str) -> Address:
    """A URL, for the command line."""
    try:
        return parse_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class ThinkingDelay:
    """A bot that waits before each reply."""

    def __init__(self, bot: MjaiBot, seconds: float) -> None:
        self.name = bot.name
        self.prepare = bot.prepare
        self.reject = bot.reject
        self.close = bot.close
        self._bot = bot
        self._seconds = seconds

    def react(self, messages: list[Message]) -> Message:
        """See `MjaiBot`."""
        time.sleep(self._seconds)
        return self._bot.react(messages)


def default_pause(parser: Parser) -> float:
    """The pause that the environment sets, in seconds. A bad value is an error of the command line."""
    try:
        return seconds(os.environ.get("NUKIDORA_PAUSE") or "0")
    except argparse.ArgumentTypeError as error:
        parser.error(f"NUKIDORA_PAUSE: {error}")


def make_bot(options: argparse.Namespace) -> MjaiBot:
    """The bot that the command line names. Raises ValueError saying what is wrong."""
    if (options.bot is None) == (options.exec is None):
        raise ValueError('name a bot or give --exec "COMMAND", one of the two, and then the URL')
    if options.exec is None:
        if options.framing is not None:
            raise ValueError("--framing is for --exec only")
        return AgentBot(make(options.bot, options.seed))
    return SubprocessBot(options.exec, options.dialect, options.framing or FRAMINGS[0], options.timeout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(arguments)  # options may stand between bot and URL
    options.dialect = options.dialect or options.url.dialect
    pause: float = default_pause(parser) if options.pause is None else options.pause
    try:
        bot = make_bot(options)
    except ValueError as error:
        parser.error(str(error))
    join: Message = {"type": "join", "name": options.name or bot.name, "room": options.url.room}
    join["dialect"] = options.dialect
    if options.token:
        join["token"] = options.token
    signal.signal(signal.SIGTERM, terminate)
    player = ThinkingDelay(bot, pause)
    session = ClientSession(player, join, options.games, report, log, options.url)
    with closing(bot):
        try:
            session.prepare()
            play(options.url, session)
        except KeyboardInterrupt:
            return INTERRUPTED
        except FatalConnectionError as error:
            log(str(error))
            return FAILED
        except BotError as error:
            log(f"{bot.name}: {error}")
            return FAILED
        finally:
            if summary := session.summary():
                report(summary)
    return OK


def log_and_sleep(told: str, seconds: float) -> None:
    """Say why there is no connection, and wait before the next attempt."""
    log(told)
    time.sleep(seconds)


def play(
    url: Address,
    session: ClientSession,
    connect: Callable[[Address], Transport] = connect,
    wait: Callable[[str, float], None] = log_and_sleep,
) -> None:
    """Play all games; reconnect with exponential backoff. Raises FatalConnectionError if a retry will not help.

    That is also so if no server can be reached at all within FIRST_CONNECTION seconds. `wait` is called between two
    attempts with what went wrong and the seconds to wait.
    """
    backoff = MIN_BACKOFF
    give_up_at = monotonic() + FIRST_CONNECTION
    while not session.finished:
        n_messages, connected_at = session.n_messages, monotonic()
        try:
            with closing(connect(url)) as transport:
                session.run(transport)
        except OSError as error:
            if session.n_messages > n_messages or monotonic() - connected_at > MAX_BACKOFF:
                backoff = MIN_BACKOFF
            seconds = backoff if session.greeted else first_wait(url, error, backoff, give_up_at)
            wait(f"{url.url}: {error.strerror or error}; trying again in {seconds:g} s", seconds)
            backoff = min(2 * backoff, MAX_BACKOFF)


def first_wait(url: Address, error: OSError, backoff: float, give_up_at: float) -> float:
    """Seconds until the next attempt to reach a server that has never answered. Raises FatalConnectionError."""
    if not isinstance(error, ConnectionRefusedError) and (told := other_protocol(url)):
        raise FatalConnectionError(told)
    left = give_up_at - monotonic()
    if left <= 0:
        raise FatalConnectionError(unreachable(url, error))
    return min(backoff, round(left + 0.05, 1))


def report(line: str) -> None:
    """Print the result of a game. Names in it come from other players."""
    print(one_line(line), flush=True)


def log(line: str) -> None:
    """Print an error. Parts of it may come from the server."""
    print(f"agents.client: {one_line(line)}", file=sys.stderr, flush=True)


def terminate(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM by an orderly exit, so that the child process is ended."""
    sys.exit(TERMINATED)
