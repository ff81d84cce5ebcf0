"""Listening sockets at all addresses of a host name, and the addresses of clients behind proxies."""

from __future__ import annotations

import errno
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from ipaddress import IPv6Address, ip_address, ip_network

# IPv6 is disabled, or one of the addresses is not this machine's: the other addresses are enough.
UNAVAILABLE = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
OF_THE_PORT = frozenset({errno.EADDRINUSE, errno.EACCES})  # another address would fail, too
# Maximum number of connections waiting to be accepted; the system may allow fewer (net.core.somaxconn). When the queue
# is full, Linux drops the requests of new clients, which retry after a second.
BACKLOG = 4096
HOST_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")  # an address has no letters, or has colons
Option = tuple[int, int, int]  # level, name and value, as setsockopt takes them


@contextmanager
def listening(
    host: str, port: int, setting: str = "port", options: Sequence[Option] = ()
) -> Iterator[list[socket.socket]]:
    """Yield sockets that listen on every address of `host` ("": all), all on the same port (0: any free one).

    Connections queue there until they are accepted. The sockets are closed at the end of the block. Raises OSError with
    one line that names the setting to change, for an unknown host or a port in use; `setting` is that of the port.
    """
    with ExitStack() as closing:
        try:
            found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (socket.gaierror, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            hint = "name an address of this machine with --host (NUKIDORA_HOST)"
            raise OSError(f"host {host!r} is not known ({why}); {hint}") from error
        sockets: list[socket.socket] = []
        unavailable = None
        for family, _, protocol, _, address in dict.fromkeys(found):
            bind_to = (address[0], sockets[0].getsockname()[1] if sockets else port, *address[2:])
            try:
                sockets.append(closing.enter_context(_listen(family, protocol, bind_to, options)))
            except OSError as error:
                wrong = setting if error.errno in OF_THE_PORT else "host"
                hint = f"choose another with --{wrong.replace('_', '-')} (NUKIDORA_{wrong.upper()})"
                unavailable = OSError(f"cannot listen on {bind_to[0]}, port {bind_to[1]}: {error.strerror}; {hint}")
                if error.errno not in UNAVAILABLE:
                    raise unavailable from error
        if unavailable is not None and not sockets:
            raise unavailable
        yield sockets


def _listen(family: int, protocol: int, address: tuple[str | int, ...], options: Sequence[Option]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        if sys.platform != "win32":  # where this option would let two servers share the port
            # Connections of an earlier server may still be in TIME_WAIT.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # Otherwise the socket would take the IPv4 port as well.
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        for option in options:
            listener.setsockopt(*option)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def limited_address(address: str) -> str:
    """Return the address to which limits apply: for IPv6 the /64 network, since a host usually has all of it."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # not an IP address, such as a Unix socket
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


class Proxies:
    """The reverse proxies whose ``X-Forwarded-For`` is believed."""

    def __init__(self, trusted: str) -> None:
        """`trusted`: addresses, networks and host names, separated by commas; ``*``: all.

        Host names are looked up by `server.running.keep_resolved`. Raises ValueError for anything else.
        """
        self._all = trusted.strip() == "*"
        parts = [] if self._all else [part.strip() for part in trusted.split(",") if part.strip()]
        self.names = [part for part in parts if HOST_NAME.fullmatch(part)]
        self._networks = [ip_network(part, strict=False) for part in parts if part not in self.names]
        self.resolved: dict[str, set[str]] = {}  # name -> its addresses

    def trusts(self, address: str) -> bool:
        """Return whether an address belongs to a trusted proxy."""
        if self._all or any(address in addresses for addresses in self.resolved.values()):
            return is_address(address)
        return is_address(address) and any(ip_address(address) in network for network in self._networks)

    def client(self, peer: str, forwarded_for: str) -> str:
        """Return the client's address of a request that a peer sent with this ``X-Forwarded-For`` ("": none).

        Each proxy appends the address of its peer, so the last one that is not a trusted proxy is the client.
        """
        if not self.trusts(peer):
            return peer
        addresses = [without_port(part.strip()) for part in forwarded_for.split(",")]
        addresses = [address for address in addresses if is_address(address)]
        if not addresses:
            return peer
        untrusted = (address for address in reversed(addresses) if not self.trusts(address))
        return next(untrusted, addresses[0])


def is_address(text: str) -> bool:
    """Whether a text is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def without_port(address: str) -> str:
    """Return an address of ``X-Forwarded-For`` without its port, as in ``1.2.3.4:5`` or ``[::1]:5``."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address
