"""Clients behind a reverse proxy at 127.0.0.1, which the server trusts by default: one client, and a thousand."""

from __future__ import annotations

import socket
from functools import partial
from itertools import count

from tests.server.attacks.control_frames import FRAMES
from tests.server.attacks.requests import LOOPS, ask, request
from tests.support.attacker import Attack, Attacker
from tests.support.websocket_frames import TEXT, frame

PROXY = "127.0.0.1"
CLIENTS = 1_000
NUMBERS = count()
ONE_CLIENT = "X-Forwarded-For: 203.0.113.7\r\n"


def next_client() -> str:
    """The header of requests that come from one client after the other."""
    number = next(NUMBERS) % CLIENTS
    return f"X-Forwarded-For: 198.51.{number // 250}.{1 + number % 250}\r\n"


def send_frames(what: str, attacker: Attacker) -> None:
    """Open a WebSocket and send these frames."""
    first, then = FRAMES[what]
    opened = attacker.websocket(address=PROXY, headers=ONE_CLIENT)
    opened.sendall(first)
    attacker.flood(opened, then)


def ask_for_many(attacker: Attacker) -> None:
    """Ask once for each client, on a connection of its own."""
    attacker.get("/api/games", PROXY, next_client())


def half_a_frame(attacker: Attacker, _: int) -> socket.socket:
    """A WebSocket whose first message does not end."""
    opened = attacker.websocket(address=PROXY, headers=next_client())
    opened.sendall(frame(TEXT, b"x" * 8_000, length=65_536))
    return opened


ATTACKS = (
    *(
        Attack(f"{what}, behind a proxy", partial(send_frames, what), short=what == "pings")
        for what in ("pings", "empty continuation frames", "fragments of one byte")
    ),
    Attack(
        f"GET /api/games, {LOOPS} loops behind a proxy",
        lambda attacker: ask(request("/api/games", ONE_CLIENT), attacker, PROXY),
        LOOPS,
    ),
    Attack("GET /api/games of 1,000 clients behind a proxy", ask_for_many, LOOPS, pause=0.0),
    Attack(
        "WebSockets of 1,000 clients behind a proxy",
        lambda attacker: attacker.keep_open(CLIENTS, partial(half_a_frame, attacker)),
        full=True,
    ),
)
