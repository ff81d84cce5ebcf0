"""The interfaces between transports, connections, games and the lobby.

Each side knows the others only by these protocols: the lobby creates games and connections and joins them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from engine.mjai.connection import Join
from engine.mjai.messages import Message
from server.fairness import FairLock, FairQueue
from server.house_bots import HouseBots
from server.limits import Limits

MAX_UNSENT_BYTES = 262_144  # buffered for a peer that does not read; beyond it the connection is aborted


class Transport(Protocol):
    """One connection and its outgoing messages. No method waits for the peer."""

    address: str
    pings: bool  # whether the peer is pinged, and the connection closed if it does not answer

    @property
    def data_waits(self) -> bool:
        """Whether data that was received waits to be parsed."""
        ...

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages in order. Aborts the connection if more than MAX_UNSENT_BYTES are buffered."""
        ...

    def close(self) -> None:
        """Close once everything is delivered, or after `Limits.close_timeout` seconds."""
        ...

    def refund(self, size: int) -> None:
        """The message of `size` bytes that was just received was asked for: it does not count against the limit."""
        ...


class ConnectionHandler(Protocol):
    """Incoming messages of one connection."""

    @property
    def max_message(self) -> int:
        """Bytes of the longest message that is accepted now."""
        ...

    def message_received(self, data: bytes) -> None:
        """One message of at most `max_message` bytes; not necessarily UTF-8."""
        ...

    def message_too_long(self) -> None:
        """The peer sent a longer message; it was discarded."""
        ...

    def close_with_error(self, text: str) -> None:
        """The peer has broken a limit of the transport: tell it, and close."""
        ...

    def disconnected(self) -> None:
        """The connection is closed; called once, whichever side closed it."""
        ...


class JoiningHandler(ConnectionHandler, Protocol):
    """The same of a bot, which joins first."""

    def eof_received(self) -> bool:
        """The peer sends no more. Returns whether it is still to be sent the answer to its join message."""
        ...


# Messages of one step of a game that are the same for several seats, as they are sent: by their number in the step,
# whether the seat is the actor, and the dialect.
Encoded = dict[tuple[int, bool, str], bytes]
Connect = Callable[[Transport], ConnectionHandler]  # called for each new connection


class SeatPort(Protocol):
    """A seat as the connection that plays it sees it."""

    @property
    def taken_over(self) -> bool:
        """Whether a house bot plays for a connected bot."""
        ...


class GamePort(Protocol):
    """A game as a connection that plays in it sees it. Seats are 0 to 2."""

    @property
    def id(self) -> str:
        """Id of the game."""
        ...

    @property
    def seats(self) -> Sequence[SeatPort]:
        """The three seats."""
        ...

    @property
    def decision_time(self) -> float:
        """Seconds for each decision, without the time bank."""
        ...

    def legal_actions(self, seat: int) -> list[int]:
        """Legal actions of the seat's open decision; empty if none is open."""
        ...

    def decide(self, seat: int, reply: Message) -> None:
        """Take a reply as the seat's decision, which must be open."""
        ...

    def fault(self, seat: int, text: str, kind: str, is_decision: bool) -> None:
        """Count a fault. If it came as the reply to the open decision, the safe default is played."""
        ...

    def connection_lost(self, seat: int) -> None:
        """The connection of the seat is closed."""
        ...

    @property
    def gives_hints(self) -> bool:
        """Whether seats may ask for hints."""
        ...

    def hint(self, seat: int) -> tuple[str, list[Message]]:
        """A house bot, and what it thinks of the open decision (`server.game.hints`): nothing if none is open."""
        ...

    def leave(self, seat: int) -> None:
        """The bot leaves: a house bot plays on, and the connection is closed, unless the game is over."""
        ...


class PlayerPort(Protocol):
    """A connected bot as rooms and games see it."""

    transport: Transport
    join: Join
    games_left: int  # games the bot stays for, the one in play included; 0: no limit

    @property
    def only_when_asked(self) -> bool:
        """Whether the bot is asked, and replies, only where it has a choice."""
        ...

    def accept(self, join: Join) -> None:
        """The lobby has accepted the join message."""
        ...

    def enter_game(self, game: GamePort, seat: int, secret: str) -> None:
        """The bot plays this seat from now on; `secret` is what it may resume the game with.

        A house bot that has played the seat meanwhile still has it.
        """
        ...

    def leave_game(self) -> None:
        """The bot plays no seat any more."""
        ...

    def send_joined(self, room: str, waiting: int, needed: int) -> None:
        """Tell a bot that wants to know it that it waits for a game; see `engine.mjai.connection.joined`."""
        ...

    def send_resumed(self, first: int) -> None:
        """Tell a bot that has reconnected from which message of the game on all messages are sent again."""
        ...

    def send_messages(
        self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int], encoded: Encoded
    ) -> None:
        """Send messages of the game, hidden information removed.

        The last message asks for a decision if there are `legal_actions`. `encoded` is empty, or what another call with
        the same messages and table has left in it.
        """
        ...

    def resend_messages(self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int]) -> None:
        """The same for messages that were sent before."""
        ...

    def send_error(self, text: str) -> None:
        """Send an error, ahead of messages not sent yet."""
        ...

    def decision_timed_out(self) -> None:
        """The open decision was made without the bot; its reply may still come."""
        ...

    def close_with_error(self, text: str, retry: bool = False) -> None:
        """Send an error and close the connection; `retry`: the same may succeed later."""
        ...

    def close_when_sent(self) -> None:
        """Close the connection once all messages are sent."""
        ...


class GameOwner(Protocol):
    """What a game reports to the lobby that runs it."""

    fair_queue: FairQueue
    limits: Limits
    house_bots: HouseBots
    network: FairLock  # held while the network of a house bot decides

    def recorded(self, game_id: str, rounds: int) -> None:
        """The game's history has new messages, which finish that many rounds."""
        ...

    def stores(self, address: str, size: int) -> bool:
        """Whether a text of so many bytes that a bot of an address causes, annotation or fault, is stored."""
        ...

    def game_over(self, game_id: str) -> None:
        """The last round has ended. The result is to be stored, then `LiveGame.announce_end` called."""
        ...


class ConnectionOwner(Protocol):
    """What a connection reports to the lobby that accepted it."""

    def join_received(self, bot: PlayerPort, join: Join) -> None:
        """A bot asks to join."""
        ...

    def bot_left(self, bot: PlayerPort) -> None:
        """The bot takes no further part: it disconnected or is being disconnected. Called once."""
        ...
