"""Access control: the limits of each address, and the errors of what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil

from engine.common.error_text import ErrorText, error_text
from server.addresses import Proxies, limited_address
from server.limits import Limits
from server.settings import Settings

ALL_ANNOTATIONS = 8  # times the limit of one address that all addresses together may store
MIN_ARRIVALS = 10  # minimum burst of new connections of an address
ARRIVALS_PER_CONNECTION = 10  # new connections per minute of an address, for each connection that it may have open
DOWNLOADS_AT_ONCE = 4  # per address: a record has up to two megabytes, and its client may be slow to read
UPLOADS_AT_ONCE = 16  # in total, and one per address: each may have a quarter of a megabyte
UPLOAD_RETRY = 2  # seconds after which a refused upload may be tried again
CONNECTION_RETRY = 10  # seconds after which an address with too many connections may try again
ROOM_RETRY = 60  # seconds after which an address with too many rooms may try again


class AccessError(Exception):
    """A request is refused. The message is one line: what is refused, and what to do about it."""

    status = 403  # HTTP status of the response
    retry = False  # whether the same request may succeed later

    def __init__(self, text: ErrorText) -> None:
        super().__init__(text)
        self.text = text


class UnauthorizedError(AccessError):
    """A token is missing or unknown."""

    status = 401


class ServerFullError(AccessError):
    """The server is at its limit of connections or rooms."""

    status = 503
    retry = True


class RateLimitError(AccessError):
    """An address has exceeded one of its limits. `retry_after`: seconds until it may try again."""

    status = 429
    retry = True

    def __init__(self, text: ErrorText, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class RateLimiter:
    """A token bucket: `per_second` uses (or other units) per second on average, at most `burst` at once."""

    __slots__ = ("_burst", "_clock", "_left", "_rate", "_since")

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = per_second
        self._left = self._burst = burst
        self._clock = clock
        self._since = clock()

    def take(self, units: float = 1.0) -> bool:
        """Take from the bucket. Returns False, and takes nothing, if less is left."""
        now = self._clock()
        left = self._left + (now - self._since) * self._rate
        if left > self._burst:  # faster than `min`, as this is called for each message
            left = self._burst
        self._since = now
        if left < units:
            self._left = left
            return False
        self._left = left - units
        return True

    def put_back(self, units: float) -> None:
        """Put back what was taken."""
        left = self._left + units
        self._left = left if left < self._burst else self._burst

    @property
    def retry_after(self) -> int:
        """Whole seconds, at least one, until the next use is available."""
        return max(1, ceil((1.0 - self._left) / self._rate))


class AddressRateLimiter:
    """At most `per_minute` uses per minute for each address, `burst` of them at once."""

    def __init__(self, per_minute: float, burst: float, uses: str, setting: str, limits: Limits) -> None:
        """`uses` and `setting`: the names, for messages, of the counted uses and of the server's setting."""
        self._per_minute = per_minute
        self._burst = burst
        self._limits = limits
        self._uses, self._setting = uses, setting
        self._limiters: dict[str, RateLimiter] = {}  # the most recently used address is last

    def take(self, address: str, uses: float = 1.0) -> None:
        """Take one use for an address, or a fraction of one. Raises RateLimitError if less is left."""
        address = limited_address(address)
        limiter = self._limiters.pop(address, None)
        if limiter is None:
            limiter = RateLimiter(self._per_minute / 60, self._burst, self._limits.clock)
        self._limiters[address] = limiter
        if len(self._limiters) > self._limits.max_addresses:
            del self._limiters[next(iter(self._limiters))]
        if not limiter.take(uses):
            raise RateLimitError(self._refusal(address), limiter.retry_after)

    def _refusal(self, address: str) -> ErrorText:
        return error_text(
            "too_many",
            "more than {limit} {uses} a minute from {address} (the server's setting {setting}); try again later",
            limit=f"{self._per_minute:,g}",
            uses=self._uses,
            address=address,
            setting=self._setting,
        )


class Admission:
    """A connection, counted in total and for its client's address until it is released."""

    def __init__(self, access: Access, peer: str, by_proxy: bool) -> None:
        """`by_proxy`: the client's address is not known before `forward`."""
        self.address = peer
        self.party = limited_address(peer)  # the party that its work is attributed to (`server.fairness`)
        self._access = access
        self._counted_as = None if by_proxy else self.party
        self._released = False

    def forward(self, forwarded_for: str) -> None:
        """Set the client of a trusted proxy's connection by ``X-Forwarded-For`` of a request. Raises RateLimitError."""
        if self._counted_as is None:
            client = self._access.proxies.client(self.address, forwarded_for)
            self._access.arrive(client)
            self.address = client
            self.party = self._counted_as = limited_address(client)

    def release(self) -> None:
        """Stop counting the connection, which has been closed."""
        if not self._released:
            self._released = True
            self._access.uncount(self._counted_as)


class Access:
    """Applies the limits of each address."""

    def __init__(self, settings: Settings, limits: Limits) -> None:
        self.proxies = Proxies(settings.trusted_proxies)
        self._settings = settings
        self._n_connections = 0
        self._by_address: Counter[str] = Counter()
        self._downloading: Counter[str] = Counter()  # by address
        self._uploading: set[str] = set()  # addresses
        self._rooms: Counter[str] = Counter()
        of_each = partial(AddressRateLimiter, limits=limits)
        limit = settings.connections_per_address
        self._arrivals = of_each(
            ARRIVALS_PER_CONNECTION * limit, max(MIN_ARRIVALS, 2 * limit), "new connections", "connections_per_address"
        )
        per_minute = 1024 * settings.annotations_per_minute
        self._annotations = of_each(per_minute, per_minute, "annotations", "annotations_per_minute")
        in_all = ALL_ANNOTATIONS * per_minute
        self._all_annotations = RateLimiter(in_all / 60, in_all, limits.clock)
        per_minute = settings.joins_per_minute
        self._joins = of_each(per_minute, per_minute, "joins", "joins_per_minute")
        per_minute = settings.downloads_per_minute
        self._downloads = of_each(per_minute, per_minute, "downloads", "downloads_per_minute")
        per_minute = settings.requests_per_minute
        self._requests = of_each(per_minute, max(1, per_minute / 4), "HTTP requests", "requests_per_minute")

    def stores(self, address: str, size: int) -> bool:
        """Return whether `size` bytes of a bot's text may be stored, by the limits of its address and of all."""
        if not self._all_annotations.take(size):
            return False
        with suppress(RateLimitError):
            self._annotations.take(address, size)
            return True
        self._all_annotations.put_back(size)
        return False

    def n_connections(self) -> int:
        """Return the number of open connections of all kinds."""
        return self._n_connections

    def admit(self, peer: str, maybe_proxy: bool) -> Admission:
        """Count a new connection. Raises ServerFullError or RateLimitError.

        A connection of a trusted proxy is counted for the address of its client once that is known.
        """
        if self._n_connections >= self._settings.max_connections:
            raise ServerFullError(
                error_text("server_full", "the server is full (its setting max_connections); try again later")
            )
        by_proxy = maybe_proxy and self.proxies.trusts(peer)
        if not by_proxy:
            self.arrive(peer)
        self._n_connections += 1
        return Admission(self, peer, by_proxy)

    def arrive(self, client: str) -> None:
        """Count a new connection of a client. Raises RateLimitError."""
        self._arrivals.take(client)
        address = limited_address(client)
        n_open = self._by_address[address]
        if n_open >= self._settings.connections_per_address:
            text = error_text(
                "connections",
                "{address} has {n} connections (the server's setting connections_per_address); close one",
                address=address,
                n=n_open,
            )
            raise RateLimitError(text, CONNECTION_RETRY)
        self._by_address[address] += 1

    def uncount(self, address: str | None) -> None:
        """A connection is closed; `address` is the limited one of `arrive`, None if it was not called."""
        self._n_connections -= 1
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def request(self, address: str, requests: float = 1.0) -> None:
        """Count an HTTP request, or an operation that costs a fraction of one. Raises RateLimitError."""
        self._requests.take(address, requests)

    def open_room(self, address: str) -> None:
        """Count a room that is not permanent, opened by a bot that joins it or by a request. Raises RateLimitError."""
        address = limited_address(address)
        n_open = self._rooms[address]
        if n_open >= self._settings.rooms_per_address:
            text = error_text(
                "rooms",
                "{address} has opened {n} rooms (the server's setting rooms_per_address); "
                "join one of them, or leave one first",
                address=address,
                n=n_open,
            )
            raise RateLimitError(text, ROOM_RETRY)
        self._rooms[address] += 1

    def close_room(self, address: str) -> None:
        """Stop counting a room, which has been closed."""
        address = limited_address(address)
        self._rooms[address] -= 1
        if not self._rooms[address]:
            del self._rooms[address]

    def join(self, address: str) -> None:
        """Count a join. Raises RateLimitError."""
        self._joins.take(address)

    @contextmanager
    def downloading(self, address: str) -> Iterator[None]:
        """Count the download of a record while the block runs. Raises RateLimitError."""
        self._downloads.take(address)
        address = limited_address(address)
        n_running = self._downloading[address]
        if n_running >= DOWNLOADS_AT_ONCE:
            text = error_text(
                "downloads", "{n} records are being sent to {address}; read them first", n=n_running, address=address
            )
            raise RateLimitError(text, CONNECTION_RETRY)
        self._downloading[address] += 1
        try:
            yield
        finally:
            self._downloading[address] -= 1
            if not self._downloading[address]:
                del self._downloading[address]

    @contextmanager
    def uploading(self, address: str) -> Iterator[None]:
        """Count a record or a position that is received, read, and answered, while the block runs.

        Raises RateLimitError.
        """
        address = limited_address(address)
        if address in self._uploading:
            text = error_text(
                "upload", "another record or position of {address} is being read; wait for it", address=address
            )
            raise RateLimitError(text, UPLOAD_RETRY)
        if len(self._uploading) >= UPLOADS_AT_ONCE:
            text = error_text("uploads", "too many records and positions are being read; try again soon")
            raise RateLimitError(text, UPLOAD_RETRY)
        self._uploading.add(address)
        try:
            yield
        finally:
            self._uploading.discard(address)
