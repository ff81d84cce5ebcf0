"""Connections that say nothing, or begin something and do not go on: of one address, and of a thousand."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial

from tests.support.attacker import Attack, Attacker, address
from tests.support.websocket_frames import TEXT, frame, upgrade_request

BEGUN = {
    "nothing": b"",
    "half a head": b"GET /api/games HTTP/1.1\r\nHost: x\r\nX-",
    "half a body": b"POST /api/rooms HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    "an upgrade by POST": upgrade_request("/mjai/siege", "POST"),
    "mjai on the HTTP port": b'{"type":"join","name":"attacker"}\n',
    "one request": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
}
THOUSAND = 1_000
Opening = Callable[[Attacker, int], socket.socket]


def begin(data: bytes, attacker: Attacker, number: int) -> socket.socket:
    """An HTTP connection on which this has been sent."""
    opened = attacker.http()
    opened.sendall(data)
    return opened


def websocket_frame(attacker: Attacker, number: int) -> socket.socket:
    """A WebSocket on which half a frame has been sent."""
    opened = attacker.websocket()
    opened.sendall(frame(TEXT, b"{", length=100))
    return opened


def half_tcp(attacker: Attacker, number: int) -> socket.socket:
    """A connection of a bot that its own side has closed."""
    opened = attacker.tcp()
    opened.shutdown(socket.SHUT_WR)
    return opened


def half_websocket(attacker: Attacker, number: int) -> socket.socket:
    """A WebSocket that its own side has closed, without a closing frame."""
    opened = attacker.websocket()
    opened.shutdown(socket.SHUT_WR)
    return opened


def keep(opening: Opening, attacker: Attacker) -> None:
    """Keep connections open."""
    attacker.keep_open(300, partial(opening, attacker))


OPEN: dict[str, Opening] = {name: partial(begin, data) for name, data in BEGUN.items()} | {
    "half a WebSocket frame": websocket_frame,
    "their own side closed": half_tcp,
    "a WebSocket whose own side is closed": half_websocket,
}
ATTACKS = (
    *(Attack(f"connections with {what}", partial(keep, opening)) for what, opening in OPEN.items()),
    Attack("1,000 idle TCP connections", lambda a: a.keep_open(THOUSAND, lambda _: a.tcp())),
    Attack("1,000 idle HTTP connections", lambda a: a.keep_open(THOUSAND, lambda _: a.http()), short=True),
    Attack(
        "idle TCP connections of 1,000 addresses",
        lambda a: a.keep_open(THOUSAND, lambda number: a.tcp(address(number))),
        full=True,
    ),
    Attack(
        "idle HTTP connections of 1,000 addresses",
        lambda a: a.keep_open(THOUSAND, lambda number: a.http(address(number))),
        full=True,
    ),
)
