"""HTTP requests, one after another or many at once, on everything that costs something."""

from __future__ import annotations

import json
from functools import partial

from tests.support.attacker import ADDRESS, Attack, Attacker

LOOPS = 20
PATHS = (
    "/api/games",
    "/api/games?limit=100",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/healthz",
    "/api/players",
    "/api/games/unknown",
    "/no/such/page",
)
SHORT = "/api/games"
N_KEYS = 1_050  # a body as long as it may be
KEYS = json.dumps({f"{number:x}": 0 for number in range(N_KEYS)}, separators=(",", ":")).encode()


def request(path: str, headers: str = "") -> bytes:
    """A request that keeps the connection open; `headers`: more of them, each with its line end."""
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode()


def posted(path: str, body: bytes, method: str = "POST", headers: str = "") -> bytes:
    """A request with a JSON body; `headers`: more of them, each with its line end."""
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def ask(data: bytes, attacker: Attacker, address: str = ADDRESS) -> None:
    """Send a request, read the response, send it again."""
    opened = attacker.http(address)
    while not attacker.over:
        opened.sendall(data)
        attacker.sent.bytes += len(data)
        head, _, body = opened.recv(65_536).partition(b"\r\n\r\n")
        length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
        left = int(length.partition(b":")[2]) - len(body)
        while left > 0:
            if not (data := opened.recv(65_536)):
                return
            left -= len(data)
        if not head or b"connection: close" in head.lower():
            attacker.sent.closed += 1
            return


def ask_once(path: str, attacker: Attacker) -> None:
    """Ask on a new connection."""
    attacker.get(path)


def download(format: str, attacker: Attacker) -> None:
    """Download the last finished game's record."""
    game = attacker.first("/api/games?limit=1")
    ask(request(f"/api/games/{game}/record?format={format}"), attacker)


def pipelined(path: str, attacker: Attacker) -> None:
    """Requests without waiting for the responses."""
    attacker.flood(attacker.http(), request(path) * 1000)


def unread(path: str, attacker: Attacker) -> None:
    """Requests whose responses are not read."""
    attacker.flood(attacker.http(), request(path) * 1000, read=False)


def records_unread(attacker: Attacker) -> None:
    """Records that are not read."""
    game = attacker.first("/api/games?limit=1")
    attacker.flood(attacker.http(), request(f"/api/games/{game}/record?format=mjson"), read=False)


def long_head(attacker: Attacker) -> None:
    """A head without end."""
    opened = attacker.http()
    opened.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
    attacker.flood(opened, b"X: y\r\n" * 10_000)


def long_url(attacker: Attacker) -> None:
    """An address without end."""
    opened = attacker.http()
    opened.sendall(b"GET /")
    attacker.flood(opened, b"x" * 65_536)


ATTACKS = (
    *(Attack(f"GET {path}, {LOOPS} loops", partial(ask, request(path)), LOOPS, short=path == SHORT) for path in PATHS),
    Attack("GET /api/games on new connections, 20 loops", partial(ask_once, "/api/games"), LOOPS),
    *(
        Attack(f"records as {name}, {LOOPS} loops", partial(download, name), LOOPS)
        for name in ("mjson", "tenhou", "kita")
    ),
    Attack("pipelined requests", partial(pipelined, "/healthz"), short=True),
    Attack("pipelined requests, 20 loops", partial(pipelined, "/api/games"), LOOPS),
    Attack("responses never read", partial(unread, "/openapi.json"), LOOPS),
    Attack("records never read", records_unread, LOOPS),
    Attack(f"POST of {N_KEYS:,} unknown keys, {LOOPS} loops", partial(ask, posted("/api/rooms", KEYS)), LOOPS),
    Attack("a head without end", long_head),
    Attack("an address without end", long_url),
)
