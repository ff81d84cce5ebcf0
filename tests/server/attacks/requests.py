"""HTTP requests, one after another or many at once, on everything that costs something."""

from __future__ import annotations

from functools import partial

from tests.support.attacker import Attack, Attacker

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


def request(path: str, more: str = "") -> bytes:
    """A request that keeps the connection open."""
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode()


def ask(path: str, attacker: Attacker) -> None:
    """Ask, read the response, ask again."""
    opened = attacker.http()
    while not attacker.over:
        data = request(path)
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
    ask(f"/api/games/{game}/record?format={format}", attacker)


def pipelined(path: str, attacker: Attacker) -> None:
    """Requests without waiting for the responses."""
    attacker.flood(attacker.http(), request(path) * 1000)


def unread(path: str, attacker: Attacker) -> None:
    """Requests whose responses are not read."""
    attacker.flood(attacker.http(), request(path) * 1000, read=False)


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
    *(Attack(f"GET {path}, {LOOPS} loops", partial(ask, path), LOOPS, short=path == SHORT) for path in PATHS),
    Attack("GET /api/games on new connections, 20 loops", partial(ask_once, "/api/games"), LOOPS),
    *(
        Attack(f"records as {name}, {LOOPS} loops", partial(download, name), LOOPS)
        for name in ("mjson", "tenhou", "kita")
    ),
    Attack("pipelined requests", partial(pipelined, "/healthz"), short=True),
    Attack("pipelined requests, 20 loops", partial(pipelined, "/api/games"), LOOPS),
    Attack("responses never read", partial(unread, "/openapi.json"), LOOPS),
    Attack("a head without end", long_head),
    Attack("an address without end", long_url),
)
