"""Peers that are sent games and read nothing of them."""

from __future__ import annotations

import socket

from tests.support.attacker import Attack, Attacker, join
from tests.support.websocket_frames import TEXT, frame

CONNECTIONS = 90
ROOM = "deaf+rule+rule"


def small(opened: socket.socket) -> socket.socket:
    """Let the system take little for it."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    return opened


def spectator(attacker: Attacker) -> socket.socket:
    """A spectator of one of the honest bots' games."""
    game = attacker.first("/api/games?status=playing&limit=1")
    return small(attacker.websocket(f"/api/games/{game}/events"))


def tcp_bot(attacker: Attacker) -> socket.socket:
    """A bot that is sent a whole game without replying."""
    opened = small(attacker.tcp())
    opened.sendall(join(ROOM, reply="when_asked", resume=True) + b"\n")
    return opened


def websocket_bot(attacker: Attacker) -> socket.socket:
    """The same over a WebSocket."""
    opened = small(attacker.websocket(f"/mjai/{ROOM}"))
    opened.sendall(frame(TEXT, join(ROOM, reply="when_asked", resume=True)))
    return opened


ATTACKS = (
    Attack("spectators that do not read", lambda a: a.keep_open(CONNECTIONS, lambda _: spectator(a), read=False)),
    Attack(
        "TCP bots that do not read", lambda a: a.keep_open(CONNECTIONS, lambda _: tcp_bot(a), read=False), log_lines=500
    ),
    Attack(
        "WebSocket bots that do not read",
        lambda a: a.keep_open(CONNECTIONS, lambda _: websocket_bot(a), read=False),
        log_lines=500,
    ),
)
