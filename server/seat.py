"""One seat of a game being played."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agents.base import Agent
from server.start import Player

if TYPE_CHECKING:
    from server.guest import Guest
    from server.sitting import Sitting


@dataclass(slots=True)
class Seat:
    """State of a seat; `guest` is None where a house bot sits or the connection is lost."""

    sitting: Sitting
    index: int
    player: Player
    bank: float  # seconds left
    guest: Guest | None = None
    house: Agent | None = None  # who decides, where it is not the guest
    thinking: asyncio.Future[int] | None = None  # the last answer of a house bot that is not compiled, done or not
    secret: str = ""
    menu: list[int] = field(default_factory=list)  # of the decision that is open
    asked_at: float = 0.0  # loop time
    clock: asyncio.TimerHandle | None = None  # until the open decision is late
    patience: asyncio.TimerHandle | None = None  # until a lost guest's seat is taken over
    faults: int = 0
    decisions: int = 0

    @property
    def taken_over(self) -> bool:
        """Whether a house bot plays for a guest."""
        return self.house is not None and not self.player.house

    def stop_clocks(self) -> None:
        """Nothing more happens here by itself."""
        for timer in (self.clock, self.patience):
            if timer is not None:
                timer.cancel()
        self.clock = self.patience = None


def new_secret() -> tuple[str, str]:
    """A secret to come back with, and its hash to keep."""
    secret = secrets.token_urlsafe(16)
    return secret, secret_hash(secret)


def secret_hash(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
