"""Who may connect and play: tokens and limits."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv6Address, ip_address
from math import ceil
from time import monotonic

from server.settings import Settings
from server.store import Store, TokenOwner

MAX_ADDRESSES = 10_000  # remembered at a time
HOUSE = " (house)"  # how the names of house bots end
CONNECT_AGAIN = 10  # seconds until an address that has too many connections may have closed one


class Refused(Exception):  # noqa: N818 - what it is, not that it went wrong
    """Not allowed: one line saying what, and how to mend it."""

    retry = False  # whether the same may be allowed later


class Unknown(Refused):
    """No token, or one that nobody has."""


class Full(Refused):
    """The server has no room for more."""

    retry = True


class TooMany(Refused):
    """More than one address may have."""

    retry = True

    def __init__(self, text: str, seconds: int) -> None:
        """It may try again in so many seconds."""
        super().__init__(text)
        self.seconds = seconds


class RateLimiter:
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
    def seconds(self) -> int:
        """Whole seconds, at least one, until there is something left."""
        return max(1, ceil((1.0 - self._left) / self._rate))


class PerMinute:
    """So many uses a minute by each address."""

    def __init__(self, per_minute: int, uses: str) -> None:
        """`uses` is what is counted, for messages."""
        self._per_minute = per_minute
        self._uses = uses
        self._allowances: dict[str, RateLimiter] = {}  # the address seen last comes last

    def take(self, address: str) -> None:
        """Use it once for an address. Raises TooMany where it has used all."""
        address = counted_as(address)
        allowance = self._allowances.pop(address, None) or RateLimiter(self._per_minute / 60, self._per_minute)
        self._allowances[address] = allowance
        if len(self._allowances) > MAX_ADDRESSES:
            del self._allowances[next(iter(self._allowances))]
        if not allowance.take():
            text = f"more than {self._per_minute} {self._uses} a minute from {address}; wait a little"
            raise TooMany(text, allowance.seconds)


def counted_as(address: str) -> str:
    """What an address is counted as: of IPv6 the network (/64), as whoever has one address there has them all."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # none, as with a socket in the file system
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


class Access:
    """What each address and each token may do."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._connections: Counter[str] = Counter()
        self._joins = PerMinute(settings.joins_per_minute, "joins")
        self._downloads = PerMinute(settings.downloads_per_minute, "downloads")

    def connect(self, address: str) -> None:
        """Count a connection. Raises Full or TooMany."""
        address = counted_as(address)
        if self._connections.total() >= self._settings.max_connections:
            raise Full("the server is full; try again later")
        if self._connections[address] >= self._settings.connections_per_address:
            text = f"{self._connections[address]} connections of {address} already; close one of them"
            raise TooMany(text, CONNECT_AGAIN)
        self._connections[address] += 1

    def disconnect(self, address: str) -> None:
        """A counted connection is gone."""
        address = counted_as(address)
        self._connections[address] -= 1
        if not self._connections[address]:
            del self._connections[address]

    def join(self, address: str) -> None:
        """Count a join. Raises TooMany."""
        self._joins.take(address)

    def download(self, address: str) -> None:
        """Count the download of a record. Raises TooMany."""
        self._downloads.take(address)

    async def admit(self, name: str, token: str | None) -> None:
        """Whether a bot may play under `name`: a name that has a token belongs to it. Raises Refused."""
        if name.endswith(HOUSE):
            raise Refused(f"the name {name!r} is a house bot's; take another")
        owner = await self._store.token_owner(token) if token else None
        if token and owner is None:
            raise Unknown("the token is unknown or revoked; ask whoever runs the server for another")
        if owner is not None and owner.name != name:
            raise Refused(f"the token belongs to {owner.name!r}: join with this name")
        if owner is None and self._settings.tokens_needed:
            raise Unknown('a token is needed: put "token" into the join message, or ?token= into the URL')
        if owner is None and await self._store.has_token(name):
            raise Refused(f"the name {name!r} belongs to a token: send it as well, or take another name")

    async def admin(self, token: str | None) -> TokenOwner | None:
        """Who may open and close rooms: the owner of an admin token; anybody (None) where no tokens are needed.

        Raises Unknown, and Refused for the token of a bot.
        """
        owner = await self._store.token_owner(token) if token else None
        if token and owner is None:
            raise Unknown("the token is unknown or revoked; make another with python -m server token add NAME --admin")
        if owner is None and self._settings.tokens_needed:
            raise Unknown("an admin token is needed: send it as Authorization: Bearer TOKEN")
        if owner is not None and not owner.admin:
            raise Refused(f"the token of {owner.name!r} is not an admin's")
        return owner
