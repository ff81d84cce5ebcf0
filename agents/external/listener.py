"""A foreign bot that connects to us, as a player: for whoever wants to play it without a server."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

from agents.client.connection import Address, TcpLine, parse_url
from agents.external.mjai_bot import NONE, BotError, read_reply
from engine.mjai.bot_messages import read_join
from engine.mjai.connection import HELLO, JOIN_TIMEOUT, WHEN_ASKED, Join, error
from engine.mjai.dialects import write
from engine.mjai.messages import Message

TIMEOUT = 30.0  # seconds for one answer


class Visitor:
    """A bot that has joined."""

    def __init__(self, line: TcpLine, join: Join, dialect: str) -> None:
        """`dialect` is spoken unless `join` asks for one."""
        self.line = line
        self.dialect = join.dialect if "dialect" in join.given else dialect
        self.when_asked = join.reply == WHEN_ASKED
        self.games_left = join.games or -1
        self.n_replies = 0

    def exchange(self, messages: list[Message], asked: bool, timeout: float) -> Message:
        """Tell it all messages; its reply to the last one. Raises OSError, ValueError."""
        reply = NONE
        for place, message in enumerate(messages, 1):
            asks = asked and place == len(messages)
            told = write(message, self.dialect)
            self.line.send(told | {"can_act": True} if self.when_asked and asks else told)
            if asks or not self.when_asked:
                reply = self.line.receive(timeout)
                self.n_replies += 1
        return reply


class Listener:
    """Waits at ``mjsonp://HOST:PORT/ROOM`` for one bot, which may join in any way our own server would let it.

    A game begins when a bot is there, however long that takes. A bot that leaves is waited for again at the next game.
    """

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        """Nothing is opened yet. A bot has `timeout` seconds for each answer. Raises ValueError for a bad URL."""
        self._address = parse_url(url)
        if self._address.scheme != "mjsonp":
            raise ValueError(f"{url!r}: bots are waited for at mjsonp://HOST:PORT/ROOM only")
        self.name = self._address.room
        self._timeout = timeout
        self._door: socket.socket | None = None
        self._visitor: Visitor | None = None
        self._seat = -1
        self._playing = False

    def prepare(self) -> None:
        """Listen, so that bots can connect; see `agents.external.mjai_bot.MjaiBot`."""
        if self._door is None:
            self._door = open_door(self._address)

    def react(self, messages: list[Message]) -> Message:
        """See `agents.external.mjai_bot.MjaiBot`."""
        kept = messages[0]["type"] == "start_game" and self._begin(messages[0]["id"])
        if self._visitor is None:
            raise BotError("sits out until the next game")
        n_replies = self._visitor.n_replies
        ending = messages[-1]["type"] == "end_game"
        try:
            reply = self._visitor.exchange(messages, not ending, self._timeout)
            if not ending:
                return read_reply(reply, self._seat)
        except (OSError, ValueError) as error:
            gone = isinstance(error, OSError) and not isinstance(error, TimeoutError)
            if not ending and kept and gone and self._visitor.n_replies == n_replies:
                self._dismiss()  # it has left after the last game
                return self.react(messages)
            if not ending:
                raise self._fault(error) from None
            self._visitor.games_left = 1  # it has left with the end of the game
        self._playing = False
        self._visitor.games_left -= 1
        if self._visitor.games_left == 0:
            self._dismiss()
        return NONE

    def refuse(self, why: str) -> None:
        """See `agents.external.mjai_bot.MjaiBot`; the bot is told why, and sent away."""
        if self._visitor is not None:
            turn_away(self._visitor.line, why)
            self._visitor = None

    def close(self) -> None:
        """Send the bot away, and wait for no other."""
        self._dismiss()
        if self._door is not None:
            self._door.close()
            self._door = None

    def _begin(self, seat: int) -> bool:
        """See to a bot that can play a new game as `seat`. Returns whether it is the one of the last game."""
        if self._playing:
            self._dismiss()
        kept = self._visitor is not None
        if self._visitor is None:
            self._visitor = self._wait()
        self._seat = seat
        self._playing = True
        return kept

    def _wait(self) -> Visitor:
        """The next bot that joins."""
        self.prepare()
        assert self._door is not None
        print(f"waiting for a bot at {self._address.url}", file=sys.stderr, flush=True)
        while True:
            connected, _ = self._door.accept()
            line = TcpLine(connected)
            try:
                return self._welcome(line)
            except ValueError as error:
                turn_away(line, str(error))
                print(f"turned a bot away at {self._address.url}: {error}", file=sys.stderr, flush=True)
            except OSError:
                line.close()

    def _welcome(self, line: TcpLine) -> Visitor:
        line.send(HELLO)
        join = read_join(line.receive(JOIN_TIMEOUT))
        if join.room != self._address.room:
            raise ValueError(f"the only room here is {self._address.room}")
        return Visitor(line, join, self._address.dialect)

    def _fault(self, error: OSError | ValueError) -> BotError:
        if isinstance(error, TimeoutError):
            what = f"did not answer within {self._timeout:g} s"
        elif isinstance(error, ValueError):
            what = f"answered nonsense: {error}"
        else:
            what = f"has left: {error}"
        self.refuse(what)
        return BotError(what)

    def _dismiss(self) -> None:
        if self._visitor is not None:
            self._visitor.line.close()
            self._visitor = None
        self._playing = False


def open_door(address: Address) -> socket.socket:
    """A socket that listens at an address. Raises OSError, which names the address."""
    try:
        return socket.create_server((address.host, address.port))
    except OSError as error:
        raise OSError(error.errno, error.strerror, address.url) from None


def turn_away(line: TcpLine, why: str) -> None:
    """Say why, and hang up."""
    with suppress(OSError):
        line.send(error(why))
    line.close()
