"""Addresses to listen on: all that a host name stands for."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

# IPv6 is switched off, or a name stands for an address that is not this machine's: the others do.
NOT_HERE = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
Option = tuple[int, int, int]  # level, name and value, as setsockopt takes them


@contextmanager
def listening(host: str, port: int, options: Sequence[Option] = ()) -> Iterator[list[socket.socket]]:
    """Sockets that listen at every address of `host` ("": all there are), with one port (0: any) and these options.

    Connections wait there for somebody to accept them. The sockets are closed at the end of the block. Raises OSError,
    one line, for a host that is unknown or a port in use.
    """
    with ExitStack() as closing:
        try:
            found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (socket.gaierror, UnicodeError) as error:
            raise OSError(f"host {host!r} is not known ({error}); see --host") from error
        sockets: list[socket.socket] = []
        missing = None
        for family, _, protocol, _, address in dict.fromkeys(found):
            wanted = (address[0], sockets[0].getsockname()[1] if sockets else port, *address[2:])
            try:
                sockets.append(closing.enter_context(_listen(family, protocol, wanted, options)))
            except OSError as error:
                missing = OSError(f"cannot listen on {wanted[0]}, port {wanted[1]}: {error.strerror}")
                if error.errno not in NOT_HERE:
                    raise missing from error
        if missing is not None and not sockets:
            raise missing
        yield sockets


def _listen(family: int, protocol: int, address: tuple[str | int, ...], options: Sequence[Option]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server before has left connections behind
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # or it would take the port of IPv4 as well
        for option in options:
            listener.setsockopt(*option)
        listener.bind(address)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
