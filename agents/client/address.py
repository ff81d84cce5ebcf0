"""The addresses of rooms."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit, urlunsplit

from engine.mjai.connection import DEFAULT_DIALECT, DEFAULT_PORT, DEFAULT_ROOM, DIALECTS, ROOM_TEXT, is_room

PORTS = {"mjsonp": DEFAULT_PORT, "ws": 80, "wss": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a room. `url` is as it was given."""

    url: str
    scheme: str  # mjsonp, ws or wss
    host: str
    port: int
    room: str
    dialect: str

    @property
    def full(self) -> str:
        """The URL with a port, so that a port left out is seen."""
        parts = urlsplit(self.url)
        with_port = parts.netloc if parts.port else f"{parts.netloc.removesuffix(':')}:{self.port}"
        return urlunsplit(parts._replace(netloc=with_port))

    def api(self, http_port: int | None) -> str:
        """Where the server's HTTP API is; "" if that is not known. `http_port` is its port as announced by the server.

        WebSockets share the port of the API, which a proxy may have changed.
        """
        if self.scheme == "mjsonp":
            host = f"[{self.host}]" if ":" in self.host else self.host
            return f"http://{host}:{http_port}" if http_port else ""
        return urlunsplit(("https" if self.scheme == "wss" else "http", urlsplit(self.url).netloc, "", "", ""))


def parse_url(url: str) -> Address:
    """``mjsonp://host:11600/room``, ``ws://host:8000/mjai/room``, each perhaps with ``?dialect=…``.

    Raises ValueError saying what is wrong.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r}: {error}") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a room, such as mjsonp://localhost:11600/default")
    path = parts.path.removeprefix("/")
    room = (path if parts.scheme == "mjsonp" else path.rpartition("/")[2]) or DEFAULT_ROOM
    if not is_room(room):
        raise ValueError(f"{url!r}: a room is {ROOM_TEXT}, then +BOT for each house bot")
    (dialect,) = parse_qs(parts.query).get("dialect", [DEFAULT_DIALECT])[-1:]
    if dialect not in DIALECTS:
        raise ValueError(f"{url!r}: dialect must be one of {', '.join(DIALECTS)}")
    return Address(url, parts.scheme, parts.hostname, port or PORTS[parts.scheme], room, dialect)
