"""The interfaces between transports, connections, games and the lobby.

Each side knows the others only through these protocols; the lobby creates games and connections and links them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from engine.common.error_text import ErrorText
from engine.mjai.connection import Join
from engine.mjai.messages import Message
from server.fairness import FairLock, FairQueue
from server.house_bots import HouseBots
from server.limits import Limits

MAX_UNSENT_BYTES = 262_144  # buffered for a peer that does not read; above this the connection is aborted


class Transport(Protocol):
    """One connection and its outgoing messages. No method waits for the peer."""

    address: str
    pings: bool  # whether the peer is pinged, and the connection closed if it does not answer

    @property
    def data_waits(self) -> bool:
        """Whether received data waits to be parsed."""
        ...

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages in order. Aborts the connection if more than MAX_UNSENT_BYTES are buffered."""
        ...

    def close(self) -> None:
        """Close once everything is delivered, or after `Limits.close_timeout` seconds."""
        ...

    def refund(self, size: int) -> None:
        """Give back the budget of the message of `size` bytes just received, which was requested."""
        ...


class ConnectionHandler(Protocol):
    """Incoming messages of one connection."""

    @property
    def max_message(self) -> int:
        """The maximum length in bytes of a message accepted now."""
        ...

    def message_received(self, data: bytes) -> None:
        """Handle one message of at most `max_message` bytes, not necessarily UTF-8."""
        ...

    def message_too_long(self) -> None:
        """Handle a longer message, which was discarded."""
        ...

    def close_with_error(self, text: ErrorText) -> None:
        """Send an error and close, as the peer has exceeded a limit of the transport."""
        ...

    def disconnected(self) -> None:
        """Handle the end of the connection; called once, whichever side closed it."""
        ...


class JoiningHandler(ConnectionHandler, Protocol):
    """Incoming messages of a bot's connection, which begins with a join."""

    def eof_received(self) -> bool:
        """Handle the end of the peer's messages. Returns whether it still gets an answer to its join message."""
        ...


# Encoded messages of one step of a game, shared by seats for which they are equal; keyed by their number in the step,
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

    def fault(self, seat: int, text: ErrorText, kind: str, is_decision: bool) -> None:
        """Count a fault. If it came as the reply to the open decision, the safe default is played."""
        ...

    def connection_lost(self, seat: int) -> None:
        """Handle the loss of the seat's connection."""
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
        """Whether the bot is asked, and replies, only when it has a choice."""
        ...

    def accept(self, join: Join) -> None:
        """Note that the lobby has accepted the join message."""
        ...

    def enter_game(self, game: GamePort, seat: int, secret: str) -> None:
        """Let the bot play this seat from now on; it may resume the game with `secret`.

        A house bot that has taken over the seat meanwhile keeps it.
        """
        ...

    def leave_game(self) -> None:
        """Detach the bot from its seat."""
        ...

    def send_joined(self, room: str, waiting: int, needed: int) -> None:
        """Send `joined` to a waiting bot that has asked for it; see `engine.mjai.connection.joined`."""
        ...

    def send_resumed(self, first: int) -> None:
        """Tell a reconnected bot from which message of the game on messages are resent."""
        ...

    def send_messages(
        self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int], encoded: Encoded
    ) -> None:
        """Send messages of the game, hidden information removed.

        The last message asks for a decision if there are `legal_actions`. `encoded` is a cache for calls with the same
        messages and table, empty at first.
        """
        ...

    def resend_messages(self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int]) -> None:
        """Send messages again that were sent before."""
        ...

    def send_error(self, text: ErrorText) -> None:
        """Send an error, ahead of messages not sent yet."""
        ...

    def decision_timed_out(self) -> None:
        """Note that the open decision was made without the bot; its reply may still come."""
        ...

    def close_with_error(self, text: ErrorText, retry: bool = False) -> None:
        """Send an error and close the connection; `retry`: the same may succeed later."""
        ...

    def close_when_sent(self) -> None:
        """Close the connection once all messages are sent."""
        ...


class GameOwner(Protocol):
    """The events that a game reports to the lobby that runs it."""

    fair_queue: FairQueue
    limits: Limits
    house_bots: HouseBots
    network: FairLock  # held while the network of a house bot decides

    def recorded(self, game_id: str, rounds: int) -> None:
        """Handle new messages in the game's history, which finish this many rounds."""
        ...

    def stores(self, address: str, size: int) -> bool:
        """Return whether `size` bytes of annotation or fault text from a bot at an address may be stored."""
        ...

    def game_over(self, game_id: str) -> None:
        """Handle the end of the last round: store the result, then call `LiveGame.announce_end`."""
        ...


class ConnectionOwner(Protocol):
    """The events that a connection reports to the lobby that accepted it."""

    def join_received(self, bot: PlayerPort, join: Join) -> None:
        """Handle a bot's join."""
        ...

    def bot_left(self, bot: PlayerPort) -> None:
        """Remove a bot that has disconnected or is being disconnected. Called once."""
        ...
