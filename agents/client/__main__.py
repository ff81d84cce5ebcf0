"""python -m agents.client: sits a bot down at a mjai server, over TCP or WebSocket, and plays."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from types import FrameType

from agents.client.connection import Address, Unreachable, connect, parse_url
from agents.client.session import Stay
from agents.external.child import FRAMINGS, Child
from agents.external.mjai_bot import AgentBot, BotError, MjaiBot
from agents.registry import make, names
from engine.common.options import Parser, non_negative, seconds
from engine.mjai.dialects import DIALECTS
from engine.mjai.messages import Message

PLAYED, FAILED, INTERRUPTED, TERMINATED = 0, 1, 130, 143
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0  # seconds until a lost server is called again; doubled each time

EPILOG = """\
examples:
  python -m agents.client rule mjsonp://localhost:11600/default
  python -m agents.client rule ws://localhost:8000/mjai/default --games 0
  python -m agents.client --exec "python bot.py {id}" mjsonp://localhost:11600/default

A room's name may ask for house bots in the empty chairs: mjsonp://localhost:11600/solo+rule+efficiency.
A lost connection is called again, after 1 s, 2 s and so on up to 30 s, and the game goes on where it stood. A child
that crashes, hangs or answers nonsense is reported with the end of its stderr; its seat then discards what it draws
until the game is over, and the next game starts a new child.
exit codes: 0 all games played, 1 the server does not let the bot in or the bot cannot be started, 2 bad arguments,
130 interrupted, 143 terminated
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "agents.client", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bot", nargs="?", help=f"one of {', '.join(names())}; none with --exec")
    parser.add_argument("url", type=address, help="mjsonp://HOST:PORT/ROOM, ws://HOST:PORT/mjai/ROOM or wss://…")
    parser.add_argument("--name", help="what to be called at the table (default: the bot's own name)")
    parser.add_argument("--token", default=os.environ.get("NUKIDORA_TOKEN"), help="access token (or NUKIDORA_TOKEN)")
    parser.add_argument(
        "--games", type=non_negative, default=1, metavar="N", help="games to play (default 1, 0: endless)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the bot's own chances (default 0)")
    parser.add_argument(
        "--pause",
        type=seconds,
        default=os.environ.get("NUKIDORA_PAUSE") or "0",
        metavar="S",
        help="seconds to take for each decision, for those who watch (default 0, or NUKIDORA_PAUSE)",
    )
    parser.add_argument("--dialect", choices=DIALECTS, help="of mjai, for the server and the child (default mjai3p)")
    parser.add_argument("--exec", metavar="COMMAND", help="play a bot that speaks mjai on stdin and stdout")
    parser.add_argument("--framing", choices=FRAMINGS, help="of the child (default auto: found out; see docs/bots.md)")
    return parser


def address(text: str) -> Address:
    """A URL, for the command line."""
    try:
        return parse_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class Paced:
    """A player that takes its time."""

    def __init__(self, player: MjaiBot, pause: float) -> None:
        self.name = player.name
        self.prepare = player.prepare
        self.refuse = player.refuse
        self.close = player.close
        self._player = player
        self._pause = pause

    def react(self, messages: list[Message]) -> Message:
        """See `MjaiBot`."""
        time.sleep(self._pause)
        return self._player.react(messages)


def make_external(given: argparse.Namespace) -> MjaiBot:
    """The bot of the command line. Raises ValueError saying what is wrong."""
    if (given.bot is None) == (given.exec is None):
        raise ValueError('name a bot or give --exec "COMMAND", one of the two, and then the URL')
    if given.exec is None:
        if given.framing is not None:
            raise ValueError("--framing is for --exec only")
        return AgentBot(make(given.bot, given.seed))
    return Child(given.exec, given.dialect, given.framing or FRAMINGS[0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, and return the exit code."""
    parser = make_parser()
    given = parser.parse_intermixed_args(arguments)  # options may stand between bot and URL
    given.dialect = given.dialect or given.url.dialect
    try:
        player = make_external(given)
    except ValueError as error:
        parser.error(str(error))
    join: Message = {"type": "join", "name": given.name or player.name, "room": given.url.room}
    join["dialect"] = given.dialect
    if given.token:
        join["token"] = given.token
    signal.signal(signal.SIGTERM, terminate)
    with closing(player):
        try:
            stay = Stay(Paced(player, given.pause), join, given.games, say, complain)
            stay.prepare()
            attend(given.url, stay)
        except KeyboardInterrupt:
            return INTERRUPTED
        except Unreachable as error:
            complain(str(error))
            return FAILED
        except BotError as error:
            complain(f"{player.name}: {error}")
            return FAILED
    return PLAYED


def attend(url: Address, stay: Stay) -> None:
    """Play all games, whatever becomes of the connection. Raises Unreachable where that is of no use."""
    wait = FIRST_WAIT
    while not stay.over:
        news = stay.news
        try:
            with closing(connect(url)) as line:
                stay.attend(line)
        except OSError as error:
            if stay.news > news:
                wait = FIRST_WAIT
            complain(f"{url.url}: {error.strerror or error}; trying again in {wait:g} s")
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)


def say(line: str) -> None:
    """A line of results."""
    print(line, flush=True)


def complain(line: str) -> None:
    """A line about something that went wrong."""
    print(f"agents.client: {line}", file=sys.stderr, flush=True)


def terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM: leave in good order, so that a child is ended."""
    sys.exit(TERMINATED)


if __name__ == "__main__":
    sys.exit(main())
