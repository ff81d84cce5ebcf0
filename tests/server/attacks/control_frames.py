"""WebSocket frames without a message: pings, pongs, empty frames, fragments; of bots and of spectators."""

from __future__ import annotations

import socket
from functools import partial

from tests.support.attacker import Attack, Attacker, join
from tests.support.websocket_frames import CONTINUATION, PING, PONG, TEXT, frame

MANY = 10_000
# what is sent -> first, then again and again
FRAMES = {
    "pings": (b"", frame(PING) * MANY),
    "pings of 125 bytes": (b"", frame(PING, bytes(125)) * (MANY // 20)),
    "pongs": (b"", frame(PONG) * MANY),
    "empty continuation frames": (frame(TEXT, final=False), frame(CONTINUATION, final=False) * MANY),
    "empty text frames": (b"", frame(TEXT) * MANY),
    "fragments of one byte": (frame(TEXT, final=False), frame(CONTINUATION, b"x", final=False) * MANY),
}


def unjoined(attacker: Attacker) -> socket.socket:
    """A bot that does not join."""
    return attacker.websocket()


def playing(attacker: Attacker) -> socket.socket:
    """A bot that plays."""
    opened = attacker.websocket("/mjai/frames+rule+rule")
    opened.sendall(frame(TEXT, join("frames+rule+rule")))
    said = b""
    while b"start_game" not in said:
        if not (data := opened.recv(4096)):
            raise ConnectionResetError
        said += data
    return opened


def spectating(attacker: Attacker) -> socket.socket:
    """A spectator of one of the honest bots' games."""
    game = attacker.first("/api/games?status=playing&limit=1")
    return attacker.websocket(f"/api/games/{game}/events")


WHO = {"not joined": unjoined, "playing": playing, "spectating": spectating}
SHORT = {("pings", "not joined"), ("empty continuation frames", "playing"), ("pongs", "spectating")}


def send_frames(what: str, who: str, attacker: Attacker) -> None:
    """Open a WebSocket and send these frames."""
    first, then = FRAMES[what]
    opened = WHO[who](attacker)
    opened.sendall(first)
    attacker.flood(opened, then)


def ping_unread(attacker: Attacker) -> None:
    """Pings, whose pongs are not read."""
    attacker.flood(attacker.websocket(), frame(PING, bytes(125)) * (MANY // 20), read=False)


ATTACKS = (
    *(
        Attack(f"{what}, {who}", partial(send_frames, what, who), short=(what, who) in SHORT)
        for what in FRAMES
        for who in WHO
    ),
    Attack("pings of peers that do not read", ping_unread, loops=20),
)
