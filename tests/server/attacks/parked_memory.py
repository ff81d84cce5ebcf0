"""Messages that are begun and not ended, on many connections: memory that the server keeps for nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tests.server.attacks.joins import WITH_LOG
from tests.support.attacker import Attack, Attacker, address
from tests.support.websocket_frames import CONTINUATION, TEXT, frame

MIB = 1 << 20
LONGEST = 65_500  # bytes of a message of a bot that plays
LONGEST_UNJOINED = 4_000  # of one that has not joined
HALVES = {
    "1 MiB frames": frame(TEXT, bytes(MIB - 1), length=MIB),
    "64 KiB frames": frame(TEXT, b"x" * 65_535, length=65_536),
    "frames of 2^60 bytes": frame(TEXT, bytes(MIB), length=1 << 60),
    "8 KB frames": frame(TEXT, b"x" * 2 * LONGEST_UNJOINED, length=65_536),  # refused from there on
    "1 MiB in fragments": frame(TEXT, final=False) + frame(CONTINUATION, b"x" * 16_384, final=False) * 63,
}
CONNECTIONS = 600
LOOPS = 6


def one_address(number: int) -> str:
    """All connections come from one address."""
    return "127.0.0.2"


def park(opened: socket.socket, data: bytes) -> socket.socket:
    """Send as much as the server takes."""
    opened.settimeout(0.5)
    with suppress(TimeoutError):
        opened.sendall(data)
    return opened


def frames(what: str, from_where: Callable[[int], str], attacker: Attacker) -> None:
    """Keep WebSockets open that wait for the rest."""
    attacker.keep_open(
        CONNECTIONS // LOOPS, lambda number: park(attacker.websocket(address=from_where(number)), HALVES[what])
    )


def lines(from_where: Callable[[int], str], attacker: Attacker) -> None:
    """Keep TCP connections open that wait for the rest of a line."""
    attacker.keep_open(
        CONNECTIONS // LOOPS, lambda number: park(attacker.tcp(from_where(number)), b"x" * LONGEST_UNJOINED)
    )


def lines_in_games(attacker: Attacker) -> None:
    """Keep games open whose bots never end their lines."""
    attacker.keep_open(CONNECTIONS // LOOPS, lambda _: park(attacker.joined("parked+rule+rule"), b"x" * LONGEST))


def frames_while_closing(attacker: Attacker) -> None:
    """Be closed for a message that is too long, and send another one meanwhile."""
    data = frame(TEXT, b"x" * 65_000) + frame(TEXT, b"x" * 2 * LONGEST, length=2 * 65_536)
    attacker.keep_open(CONNECTIONS // LOOPS, lambda _: park(attacker.websocket(), data))


def bodies(attacker: Attacker) -> None:
    """Keep requests open that wait for the rest of their bodies."""
    head = b"POST /api/rooms HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n"
    attacker.keep_open(CONNECTIONS // LOOPS, lambda _: park(attacker.http(), head + b" " * 65_535))


def heads(attacker: Attacker) -> None:
    """Keep requests open that wait for the rest of their heads."""
    head = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Header: " + b"x" * 60_000
    attacker.keep_open(CONNECTIONS // LOOPS, lambda _: park(attacker.http(), head))


ATTACKS = (
    *(
        Attack(f"unfinished {what}", partial(frames, what, one_address), LOOPS, short=what == "1 MiB frames")
        for what in HALVES
    ),
    Attack("unfinished lines", partial(lines, one_address), LOOPS),
    Attack("unfinished lines in games", lines_in_games, LOOPS, log_lines=WITH_LOG, aftermath=5.0),
    Attack("unfinished frames of WebSockets that are closed", frames_while_closing, LOOPS),
    Attack("unfinished bodies", bodies, LOOPS),
    Attack("unfinished heads", heads, LOOPS),
    Attack("unfinished 1 MiB frames of 100 addresses", partial(frames, "1 MiB frames", address), LOOPS, full=True),
    Attack("unfinished lines of 100 addresses", partial(lines, address), LOOPS, full=True),
)
