"""A byte a second of a head, a body, a line, a frame; and bytes one by one, as fast as they go."""

from __future__ import annotations

import socket

from tests.support.attacker import Attack, Attacker, join
from tests.support.websocket_frames import TEXT, frame

CONNECTIONS = 90
HEAD = b"GET /api/games HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 10_000
BODY_HEAD = b"POST /api/rooms HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n"


def body(attacker: Attacker) -> socket.socket:
    """A request whose body comes later."""
    opened = attacker.http()
    opened.sendall(BODY_HEAD)
    return opened


def drip(attacker: Attacker) -> None:
    """Blanks one by one on all connections: each is a packet of its own, unless the server lets them come together."""
    for _ in range(CONNECTIONS):
        attacker.tcp().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while not attacker.over:
        for opened in attacker.opened:
            opened.send(b" ")
        attacker.pace(CONNECTIONS)


ATTACKS = (
    Attack("a head, a byte a second", lambda a: a.keep_open(CONNECTIONS, lambda _: a.http(), trickle=HEAD)),
    Attack("a body, a byte a second", lambda a: a.keep_open(CONNECTIONS, lambda _: body(a), trickle=b"x")),
    Attack("a line, a byte a second", lambda a: a.keep_open(CONNECTIONS, lambda _: a.tcp(), trickle=join("trickle"))),
    Attack(
        "a frame, a byte a second",
        lambda a: a.keep_open(CONNECTIONS, lambda _: a.websocket(), trickle=frame(TEXT, bytes(10_000))),
    ),
    Attack("a line, byte by byte", drip, connections=CONNECTIONS),
)
