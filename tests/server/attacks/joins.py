"""Joins: as many as possible, into all rooms there may be, with guessed secrets, to addresses that do not exist."""

from __future__ import annotations

import secrets
import socket
import sys
from functools import partial
from itertools import count

from tests.support.attacker import Attack, Attacker, join

WITH_LOG = 3_000  # lines: two of each room, and 600 joins a minute are allowed
TAKEN_OVER = 35.0  # seconds: after 30, house bots play the games that were left
NUMBERS = count()


def join_new_room(attacker: Attacker) -> None:
    """Join a room that nobody is in, and leave."""
    attacker.tcp().sendall(join(f"room{next(NUMBERS)}") + b"\n")


def join_game(attacker: Attacker) -> None:
    """Start a game and leave."""
    attacker.joined("game+rule+rule")


def take_room(attacker: Attacker, number: int) -> socket.socket:
    """Wait in a room of its own."""
    return attacker.joined(f"taken{number}")


def join_with_any_name(attacker: Attacker) -> None:
    """Join with 64 characters of all that there are, each time others."""
    start = 64 * next(NUMBERS) % sys.maxunicode
    name = "".join(filter(str.isprintable, map(chr, range(start, min(start + 64, sys.maxunicode)))))
    attacker.tcp().sendall(join("names", name or "x") + b"\n")


def guess(attacker: Attacker) -> None:
    """Resume with a guessed secret."""
    opened = attacker.tcp()
    opened.sendall(join("x", resume=secrets.token_urlsafe()) + b"\n")
    attacker.wait_closed(opened)


def try_path(path: str, attacker: Attacker) -> None:
    """Ask for a WebSocket that there is not."""
    attacker.websocket(path)


ATTACKS = (
    Attack("joins of new rooms", join_new_room, 4, pause=0.0, log_lines=WITH_LOG),
    Attack("joins of games, all left", join_game, 4, pause=0.0, log_lines=WITH_LOG, aftermath=TAKEN_OVER),
    Attack(
        "every room name taken", lambda a: a.keep_open(1_000, partial(take_room, a)), log_lines=WITH_LOG, short=True
    ),
    Attack("joins with names of all characters", join_with_any_name, 4, pause=0.0, log_lines=WITH_LOG),
    Attack("guessed secrets", guess, 4, pause=0.0),
    *(
        Attack(f"WebSockets at {path}", partial(try_path, path), 4, pause=0.0)
        for path in ("/no/such/path", "//mjai/x", "/mjai/x/y", "/mjai/%ff")
    ),
    Attack("spectators of a game that is not", partial(try_path, "/api/games/unknown/events"), 4, pause=0.0),
)
