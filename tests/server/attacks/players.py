"""Bots that play: as fast as possible, with long replies, with faults, without reading."""

from __future__ import annotations

import json
import secrets
from functools import partial
from typing import Any

from tests.server.attacks.requests import posted
from tests.support.attacker import Attack, Attacker, join

ROOM = "fast+rule+rule"
LONGEST = 65_000  # bytes
NONE = b'{"type":"none"}'
LARGE = b'{"type":"none","ext_bot":{"x":"' + b"y" * 4_000 + b'"}}'
PADDED = b'{"type":"none","x":[' + b"[]," * (LONGEST // 3) + b"0]}"
SPACES = b'{"type":"none"' + b" " * LONGEST + b"}"
DEEP = b"[" * 30_000 + b"]" * 30_000
DEEP_OBJECTS = b'{"a":' * 10_000 + b"0" + b"}" * 10_000
HUGE_NUMBER = b'{"type":"none","x":' + b"9" * LONGEST + b"}"
LOG_LINES = 300  # games are finished
HINT, LEAVE = b'{"type":"hint"}\n', b'{"type":"leave"}\n'
N_DRAWS = 15  # some hundred messages


def play(reply: bytes, attacker: Attacker, n_draws: float = float("inf"), **keys: Any) -> str | None:
    """Discard what is drawn and reply this to everything else, at once; `keys`: more of the join message.

    Returns after so many draws, with the secret to resume the game with.
    """
    opened = attacker.tcp()
    opened.sendall(join(ROOM, "fast", **keys) + b"\n")
    own_draw, rest, secret = b"-", b"", None
    while not attacker.over and n_draws > 0:
        if not (data := opened.recv(65_536)):
            attacker.sent.closed += 1
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            said = reply
            if line.startswith(b'{"type":"start_game"'):
                start = json.loads(line)
                own_draw, secret = b'{"type":"tsumo","actor":%d,' % start["id"], start.get("resume")
            elif line.startswith(own_draw):
                said = b'{"type":"dahai","pai":"%b"}' % line.split(b'"', 10)[9]
                n_draws -= 1
            elif line.startswith((b'{"type":"hello"', b'{"type":"joined"')):
                continue
            opened.sendall(said + b"\n")
            attacker.pace(len(said))
    return secret


def resume(attacker: Attacker, reply: bytes = NONE) -> None:
    """Play for a while, then resume again and again, so that the server sends all of the game again."""
    secret = play(reply, attacker, N_DRAWS, resume=True)
    while not attacker.over and secret:
        opened, said = attacker.tcp(), b""
        opened.sendall(join(ROOM, resume=secret, seen=0) + b"\n")
        while b'"resumed"' not in said:
            if not (data := opened.recv(65_536)):
                raise ConnectionResetError
            said += data
        attacker.close_all()


def leave(attacker: Attacker) -> None:
    """Start a game and leave it by request."""
    attacker.joined("left+rule+rule").sendall(LEAVE)


def ask_for_hints(attacker: Attacker) -> None:
    """Ask for hints without end, in a room that gives them."""
    name = f"hints{secrets.token_hex(4)}"
    settings = {"hints": True, "rated": False, "fill": ["rule", "rule"], "fill_delay": 0.0}
    body = json.dumps({"name": name, "permanent": False, "settings": settings}).encode()
    with attacker.http() as opened:
        opened.sendall(posted("/api/rooms", body, headers="Connection: close\r\n"))
        opened.recv(65_536)
    opened, said = attacker.joined(name), b""
    while b'"start_game"' not in said:
        if not (data := opened.recv(65_536)):
            raise ConnectionResetError
        said += data
    attacker.flood(opened, HINT * 1_000)


def flood(reply: bytes, attacker: Attacker) -> None:
    """Reply without being asked."""
    attacker.flood(attacker.joined(ROOM), (reply + b"\n") * (1 + 100_000 // len(reply)))


def flood_unread(attacker: Attacker) -> None:
    """Reply as asked, more or less, and never read."""
    attacker.flood(attacker.joined(ROOM), (NONE + b"\n") * 4_000, read=False)


REPLIES = {
    "long annotations": LARGE, "64 KB of empty lists": PADDED, "64 KB of spaces": SPACES, "deep lists": DEEP,
    "deep objects": DEEP_OBJECTS, "huge integers": HUGE_NUMBER,
}  # fmt: skip
ATTACKS = (
    Attack("a bot that replies at once", partial(play, NONE), log_lines=LOG_LINES, short=True),
    Attack("20 bots that reply at once", partial(play, NONE), 20, log_lines=LOG_LINES),
    *(
        Attack(f"replies with {what}", partial(play, reply), log_lines=LOG_LINES, short=what == "64 KB of empty lists")
        for what, reply in REPLIES.items()
    ),
    *(Attack(f"{what}, unasked", partial(flood, reply), log_lines=LOG_LINES) for what, reply in REPLIES.items()),
    Attack("games resumed again and again", resume, 10, log_lines=LOG_LINES, connections=100),
    Attack("annotated games resumed", partial(resume, reply=LARGE), 10, log_lines=LOG_LINES, connections=10),
    Attack("games left by request", leave, 4, log_lines=3_000),
    Attack("hints without end", ask_for_hints, 4, log_lines=LOG_LINES, short=True),
    Attack("replies unasked", partial(flood, NONE), log_lines=LOG_LINES),
    Attack("replies unasked, never reading", flood_unread, 4, log_lines=LOG_LINES),
)
