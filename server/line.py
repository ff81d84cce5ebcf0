"""One connection as the rest of the server sees it, whatever carries it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

MAX_UNREAD = 262_144  # bytes a peer may leave unread before its connection is cut
LINGER = 5.0  # seconds a closed connection has to read what it was sent


class Line(Protocol):
    """Messages out. Nothing here ever waits for the peer."""

    address: str

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages in order. A peer that leaves more than MAX_UNREAD bytes unread is cut off."""
        ...

    def close(self) -> None:
        """Close once what was sent is delivered, or after LINGER seconds."""
        ...


class Listener(Protocol):
    """Messages in."""

    def received(self, data: bytes | str) -> None:
        """One message, at most MAX_MESSAGE bytes."""
        ...

    def oversized(self) -> None:
        """The peer sent a longer message; it was not kept."""
        ...

    def lost(self) -> None:
        """The connection is gone; called once, whoever ended it."""
        ...


Welcome = Callable[[Line], Listener]  # called for each new connection
