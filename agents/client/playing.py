"""Playing at a server: the bot that the command line names, its successive connections, and what is printed."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic

from agents.client.address import Address
from agents.client.connect import connect
from agents.client.connection import FatalConnectionError, Transport
from agents.client.first_connection import FIRST_CONNECTION, other_protocol, unreachable
from agents.client.session import ClientSession
from agents.external.adapters import AgentBot
from agents.external.framing import FRAMINGS, TIMEOUT
from agents.external.mjai_bot import NONE, BotError, MjaiBot, Talking, one_line
from agents.external.subprocess_bot import SubprocessBot
from agents.external.traffic import TrafficLog
from agents.registry import make
from engine.common.options import Parser
from engine.common.program import FAILED, INTERRUPTED, OK, terminate_when_safe
from engine.mjai.messages import Message

MIN_BACKOFF, MAX_BACKOFF = 1.0, 30.0  # seconds until the next attempt to connect; doubled each time


class ThinkingDelay:
    """A `MjaiBot` that waits before each action."""

    def __init__(self, bot: MjaiBot, seconds: float) -> None:
        self.name = bot.name
        self.prepare = bot.prepare
        self.reject = bot.reject
        self.close = bot.close
        self._bot = bot
        self._seconds = seconds

    def said(self) -> str:
        """Return what the bot has said, if it is one that talks."""
        return self._bot.said() if isinstance(self._bot, Talking) else ""

    def react(self, messages: list[Message]) -> Message:
        """Let the bot reply, and wait if it acts."""
        reply = self._bot.react(messages)
        if reply != NONE:  # the reply that older servers expect to messages that ask for nothing
            time.sleep(self._seconds)
        return reply


class LogError(Exception):
    """A log cannot be written."""


class GameLogs:
    """The logs of games in a folder, one after the other; none where there is no folder."""

    def __init__(self, folder: Path | None, bot: MjaiBot) -> None:
        self._folder = folder
        self._bot = bot
        self._log: TrafficLog | None = None

    def open(self, name: str) -> None:
        """The game of that name begins. Raises LogError."""
        self.close()
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._log = TrafficLog(self._folder / f"{name}.log", {self._bot.name: self._bot})
            except OSError as error:
                raise LogError(f"{error.filename}: {error.strerror}") from error

    def close(self) -> None:
        """The game is over."""
        if self._log is not None:
            self._log.close()


def make_bot(options: argparse.Namespace) -> MjaiBot:
    """The bot that the command line names. Raises ValueError saying what is wrong."""
    if options.exec is None:
        return AgentBot(make(options.bot))
    return SubprocessBot(options.exec, options.url.dialect, options.framing or FRAMINGS[0], options.timeout or TIMEOUT)


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Play, and return the exit code."""
    with parser.reporting():
        bot = make_bot(options)
    join: Message = {"type": "join", "name": options.name or bot.name, "room": options.url.room}
    join["dialect"] = options.url.dialect
    if options.token:
        join["token"] = options.token
    signal.signal(signal.SIGTERM, terminate_when_safe)  # so that the child process is ended
    player = ThinkingDelay(bot, options.pause)
    logs = GameLogs(options.log, bot)
    session = ClientSession(player, join, options.games, report, log, options.url, logs.open)
    with closing(logs), closing(bot):
        try:
            logs.open(f"trial-{options.url.room[:100]}")
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
        except LogError as error:
            log(f"--log: {error}")
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
