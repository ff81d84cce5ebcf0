"""Connections that are opened and closed as fast as that is possible."""

from __future__ import annotations

import socket
import struct

from tests.support.attacker import Attack, Attacker
from tests.support.websocket_frames import CLOSE, frame

ORDERLY = struct.pack("ii", 0, 0)


def close_tcp(attacker: Attacker) -> None:
    """Connect and close."""
    attacker.tcp().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ORDERLY)


def reset_tcp(attacker: Attacker) -> None:
    """Connect and reset."""
    attacker.tcp()


def reset_http(attacker: Attacker) -> None:
    """Connect and reset."""
    attacker.http()


def reset_websocket(attacker: Attacker) -> None:
    """Open a WebSocket and reset."""
    attacker.websocket()


def close_websocket(attacker: Attacker) -> None:
    """Open a WebSocket and close it as one should."""
    opened = attacker.websocket()
    opened.sendall(frame(CLOSE, b"\x03\xe8"))
    attacker.wait_closed(opened)


ATTACKS = tuple(
    Attack(name, act, loops=4, pause=0.0, short=act is reset_websocket)
    for name, act in {
        "TCP connections that are closed": close_tcp,
        "TCP connections that are reset": reset_tcp,
        "HTTP connections that are reset": reset_http,
        "WebSockets that are closed": close_websocket,
        "WebSockets that are reset": reset_websocket,
    }.items()
)
