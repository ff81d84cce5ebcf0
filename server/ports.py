"""The interfaces of the server: those with several implementations, and those that are called against the imports.

The lobby creates games, and a game sends to the connections that play in it. They call back through `GameOwner` and
`GamePort`, which keep imports free of cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.common.error_text import ErrorText
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


class ConnectionHandler(Protocol):
    """Incoming messages of one connection."""

    @property
    def max_message(self) -> int:
        """The maximum length in bytes of a message accepted now."""
        ...

    def message_received(self, data: bytes) -> bool:
        """Handle one message of at most `max_message` bytes, not necessarily UTF-8.

        Returns whether it was asked for, and so does not count against the limit on messages.
        """
        ...

    def none_received(self) -> bool:
        """Handle `none` if it is the reply to a message that asks nothing; otherwise do nothing and return False."""
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


class GamePort(Protocol):
    """A game as a connection that plays in it sees it. Seats are 0 to 2."""

    @property
    def id(self) -> str:
        """Id of the game."""
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
