"""One seat of a game in play."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.mjai.messages import Message
from server.connection.bot_connection import BotConnection
from server.game.clock import DecisionClock
from server.game.fallback import FallbackPlayer
from server.game.start import Player
from server.loop_clock import Timer


@dataclass(slots=True)
class Seat:
    """State of a seat. `LiveGame` alone changes who plays it (`connection`, `fallback`)."""

    index: int
    player: Player
    clock: DecisionClock
    fallback: FallbackPlayer
    connection: BotConnection | None = None  # None: a house bot plays here, or the connection is lost
    address: str = ""  # of its latest connection, as the limits count it
    secret: str = ""  # to resume the game with
    legal_actions: list[int] = field(default_factory=list)  # of the open decision
    hint: list[Message] = field(default_factory=list)  # what its bot was told of the open decision
    paused: bool = False  # whether a house bot has begun its pause before the open decision
    reconnect_timer: Timer | None = None  # until a house bot takes the seat of a lost connection over
    restored: int | None = None  # messages the game had after a crash; None: the bot has come back, or nothing was lost
    cut_off: bool = False  # its bot has seen more of the game than the journal holds, and has not come back
    left: bool = False  # its bot has left the game by request: a house bot plays to the end
    faults: int = 0
    decisions: int = 0

    @property
    def taken_over(self) -> bool:
        """Whether a house bot plays for a connected bot."""
        return bool(self.fallback.bot) and not self.player.house

    @property
    def needs_connection(self) -> bool:
        """Whether the seat waits for its bot to reconnect: the connection is lost, and no house bot has taken over."""
        return self.connection is None and not self.fallback.bot

    @property
    def data_waits(self) -> bool:
        """Whether the connection has received data that is not parsed yet."""
        return self.connection is not None and self.connection.transport.data_waits

    def needs_no_reply(self, legal_actions: Sequence[int]) -> bool:
        """Whether a decision is made without the connection: by a house bot, or because there is but one action."""
        if self.fallback.bot:
            return True
        return len(legal_actions) == 1 and (self.connection is None or self.connection.only_when_asked)

    def cancel_reconnect_timer(self) -> None:
        """Wait no longer for a lost connection."""
        if self.reconnect_timer is not None:
            self.reconnect_timer.cancel()
            self.reconnect_timer = None


def new_secret() -> tuple[str, str]:
    """A secret to resume a game with, and its hash to store."""
    secret = secrets.token_urlsafe(16)
    return secret, secret_hash(secret)


def secret_hash(secret: str) -> str:
    """SHA-256 of a secret, hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()
