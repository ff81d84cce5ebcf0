"""An external bot that connects to us over TCP: the arena can play it without a server in between."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

from agents.client.address import Address, parse_url
from agents.client.connection import TcpTransport, to_text
from agents.client.first_connection import REQUEST
from agents.external.framing import TIMEOUT
from agents.external.mjai_bot import NONE, BotError, read_reply
from agents.external.traffic import RECEIVED, SENT, Note
from engine.mjai.bot_checks import check_join
from engine.mjai.connection import HELLO, JOIN_TIMEOUT, WHEN_ASKED, Join, error
from engine.mjai.dialects import write
from engine.mjai.messages import Message

PROBE = REQUEST.decode().split("\r")[0]  # what our client sends to a port that stays silent
NO_MORE_GAMES = "all games are played"  # an error without ``retry``: another join would not be answered


class ConnectedBot:
    """A bot that has connected and joined."""

    def __init__(self, transport: TcpTransport, join: Join, dialect: str) -> None:
        """`dialect` is used if `join` names none."""
        self.transport = transport
        self.dialect = join.dialect if "dialect" in join.given else dialect
        self.when_asked = join.reply == WHEN_ASKED
        self.games_left = join.games or -1
        self.n_replies = 0
        self.note: Note | None = None

    def _noted(self, mark: str, message: Message) -> Message:
        if self.note is not None:
            self.note(mark, to_text(message).encode(errors="backslashreplace"))
        return message

    def send_events(self, messages: list[Message], ask: bool, timeout: float) -> Message:
        """Send `messages`; returns the reply to the last one, NONE if none is expected. Raises OSError, ValueError.

        `ask`: the last message asks for a decision. The bot has `timeout` seconds for each reply.
        """
        reply = NONE
        for number, message in enumerate(messages, 1):
            can_act = ask and number == len(messages)
            event = write(message, self.dialect)
            told = self.when_asked and (can_act or message["type"] == "start_game")
            self.transport.send(self._noted(SENT, event | {"can_act": can_act} if told else event))
            if can_act or not self.when_asked:
                reply = self._noted(RECEIVED, self.transport.receive(timeout))
                self.n_replies += 1
        return reply


class Listener:
    """A mjai bot that listens at ``mjsonp://HOST:PORT/ROOM`` for one connection, which joins as at our own server.

    A game begins when a bot has joined, however long that takes. If the bot disconnects, the next game waits for
    another connection.
    """

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        """Does not listen yet. A bot has `timeout` seconds for each reply. Raises ValueError for a bad URL."""
        self._address = parse_url(url)
        if self._address.scheme != "mjsonp":
            raise ValueError(f"{url!r}: bots can only connect to mjsonp://HOST:PORT/ROOM")
        self.name = self._address.room
        self._timeout = timeout
        self.note: Note | None = None  # see `agents.external.traffic`
        self._server: socket.socket | None = None
        self._bot: ConnectedBot | None = None
        self._seat = -1
        self._playing = False

    def prepare(self) -> None:
        """Listen, so that bots can connect; see `agents.external.mjai_bot.MjaiBot`."""
        if self._server is None:
            self._server = listen(self._address)

    def react(self, messages: list[Message]) -> Message:
        """Ask the bot that has joined; at the beginning of a game, wait for one."""
        reused = messages[0]["type"] == "start_game" and self._begin(messages[0]["id"])
        if self._bot is None:
            raise BotError("sits out until the next game")
        n_replies = self._bot.n_replies
        self._bot.note = self.note
        game_over = messages[-1]["type"] == "end_game"
        try:
            reply = self._bot.send_events(messages, not game_over, self._timeout)
            if not game_over:
                return read_reply(reply, self._seat)
        except (OSError, ValueError) as error:
            disconnected = isinstance(error, OSError) and not isinstance(error, TimeoutError)
            if not game_over and reused and disconnected and self._bot.n_replies == n_replies:
                self._disconnect()  # it disconnected after the last game
                return self.react(messages)
            if not game_over:
                raise self._fault(error) from None
            self._bot.games_left = 1  # it disconnected at the end of the game
        self._playing = False
        self._bot.games_left -= 1
        if self._bot.games_left == 0:
            self._disconnect()
        return NONE

    def reject(self, reason: str) -> BotError:
        """Send the reason to the bot, then disconnect it."""
        if self._bot is not None:
            disconnect_with_error(self._bot.transport, reason)
            self._bot = None
        return BotError(reason)

    def close(self) -> None:
        """Disconnect the bot and stop listening. A bot that waits for a next game is notified that there is none."""
        if self._bot is not None and not self._playing:
            disconnect_with_error(self._bot.transport, NO_MORE_GAMES)
            self._bot = None
        self._disconnect()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _begin(self, seat: int) -> bool:
        """Wait for a bot unless one is connected, and begin a game as `seat`. Returns whether it was connected."""
        if self._playing:
            self._disconnect()
        reused = self._bot is not None
        if self._bot is None:
            self._bot = self._accept()
        self._seat = seat
        self._playing = True
        return reused

    def _accept(self) -> ConnectedBot:
        """Wait for the next bot that joins."""
        self.prepare()
        assert self._server is not None
        print(f"waiting for a bot at {self._address.full}", file=sys.stderr, flush=True)
        while True:
            connected, _ = self._server.accept()
            transport = TcpTransport(connected)
            try:
                return self._handshake(transport)
            except ValueError as error:
                disconnect_with_error(transport, str(error))
                if PROBE not in str(error):
                    print(f"rejected a bot at {self._address.full}: {error}", file=sys.stderr, flush=True)
            except OSError:
                transport.close()

    def _handshake(self, transport: TcpTransport) -> ConnectedBot:
        transport.send(HELLO)
        join = check_join(transport.receive(JOIN_TIMEOUT))
        if join.room != self._address.room:
            raise ValueError(f"the only room here is {self._address.room}")
        return ConnectedBot(transport, join, self._address.dialect)

    def _fault(self, error: OSError | ValueError) -> BotError:
        if isinstance(error, TimeoutError):
            what = f"did not reply within {self._timeout:g} s"
        elif isinstance(error, ValueError):
            what = f"sent an invalid reply: {error}"
        else:
            what = f"has disconnected: {error}"
        return self.reject(what)

    def _disconnect(self) -> None:
        if self._bot is not None:
            self._bot.transport.close()
            self._bot = None
        self._playing = False


def listen(address: Address) -> socket.socket:
    """A socket that listens at `address`. Raises OSError with the address as its file name."""
    try:
        return socket.create_server((address.host, address.port))
    except OSError as error:
        raise OSError(error.errno, error.strerror, address.url) from None


def disconnect_with_error(transport: TcpTransport, reason: str) -> None:
    """Send an error and close the connection."""
    with suppress(OSError):
        transport.send(error(reason))
    transport.close()
