"""Who may connect and play: tokens and limits."""

from __future__ import annotations

from collections import Counter
from time import monotonic

from server.settings import Settings
from server.store import Store, TokenOwner

MAX_ADDRESSES = 10_000  # remembered at a time


class Refused(Exception):  # noqa: N818 - what it is, not that it went wrong
    """Not allowed: one line saying what, and how to mend it."""


class Allowance:
    """So many uses a second on average; `burst` at once."""

    __slots__ = ("_burst", "_left", "_rate", "_since")

    def __init__(self, per_second: float, burst: float) -> None:
        self._rate = per_second
        self._left = self._burst = burst
        self._since = monotonic()

    def take(self) -> bool:
        """Use it once; False where nothing is left."""
        now = monotonic()
        self._left = min(self._burst, self._left + (now - self._since) * self._rate)
        self._since = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    @property
    def whole(self) -> bool:
        """Whether nothing of it is used just now."""
        return self._left + (monotonic() - self._since) * self._rate >= self._burst


class PerMinute:
    """So many uses a minute by each address."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._allowances: dict[str, Allowance] = {}

    def take(self, address: str) -> bool:
        """Use it once for an address; False where it has used all."""
        if address not in self._allowances:
            if len(self._allowances) >= MAX_ADDRESSES:
                self._allowances = {key: kept for key, kept in self._allowances.items() if not kept.whole}
            self._allowances[address] = Allowance(self.per_minute / 60, self.per_minute)
        return self._allowances[address].take()


class Access:
    """What each address and each token may do."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._connections: Counter[str] = Counter()
        self._joins = PerMinute(settings.joins_per_minute)
        self._downloads = PerMinute(settings.downloads_per_minute)

    def connect(self, address: str) -> None:
        """Count a connection. Raises Refused where there are too many."""
        if self._connections.total() >= self._settings.max_connections:
            raise Refused("the server is full; try again later")
        if self._connections[address] >= self._settings.connections_per_address:
            raise Refused(f"{self._connections[address]} connections of {address} already; close one of them")
        self._connections[address] += 1

    def disconnect(self, address: str) -> None:
        """A counted connection is gone."""
        self._connections[address] -= 1
        if not self._connections[address]:
            del self._connections[address]

    def join(self, address: str) -> None:
        """Count a join. Raises Refused where there are too many."""
        if not self._joins.take(address):
            raise Refused(f"more than {self._joins.per_minute} joins a minute from {address}; wait a little")

    def download(self, address: str) -> None:
        """Count the download of a record. Raises Refused where there are too many."""
        if not self._downloads.take(address):
            raise Refused(f"more than {self._downloads.per_minute} downloads a minute from {address}; wait a little")

    async def admit(self, name: str, token: str | None) -> None:
        """Whether a bot may play under `name`: a name that has a token belongs to it. Raises Refused."""
        owner = await self._store.token_owner(token) if token else None
        if token and owner is None:
            raise Refused("the token is unknown or revoked; ask whoever runs the server for another")
        if owner is not None and owner.name != name:
            raise Refused(f"the token belongs to {owner.name!r}: join with this name")
        if owner is None and self._settings.tokens_needed:
            raise Refused('a token is needed: put "token" into the join message, or ?token= into the URL')
        if owner is None and await self._store.has_token(name):
            raise Refused(f"the name {name!r} belongs to a token: send it as well, or take another name")

    async def admin(self, token: str | None) -> TokenOwner | None:
        """Who may open and close rooms: the owner of an admin token; anybody (None) where no tokens are needed.

        Raises Refused.
        """
        owner = await self._store.token_owner(token) if token else None
        if owner is None and self._settings.tokens_needed:
            raise Refused("an admin token is needed: send it as Authorization: Bearer TOKEN")
        if owner is not None and not owner.admin:
            raise Refused(f"the token of {owner.name!r} is not an admin's")
        return owner
