"""Tournaments: their pages, in loops, and such as are created and deleted; where tokens are needed, this is refused."""

from __future__ import annotations

import json
import secrets
from functools import partial
from typing import Any

from tests.server.attacks.requests import LOOPS, ask, posted, request
from tests.support.attacker import PIECE, Attack, Attacker

CUP = "/api/tournaments/siege"
PATHS = (CUP, f"{CUP}/games?limit=200", f"{CUP}/games?status=due&limit=200", f"{CUP}/result", "/api/tournaments")
OF_HOUSE_BOTS = {"name": "siege", "house_bots": ["rule", "efficiency", "tsumogiri"], "walls": 10}
LARGEST: dict[str, Any] = {"entrants": [f"entrant{number}" for number in range(24)], "games": 3_000}


def send(attacker: Attacker, method: str, path: str, value: Any = None) -> bytes:
    """Send a request and return the beginning of the response."""
    body = b"" if value is None else json.dumps(value).encode()
    with attacker.http() as opened:
        opened.sendall(posted(path, body, method, "Connection: close\r\n"))
        return opened.recv(PIECE)


def read(path: str, attacker: Attacker) -> None:
    """Create one of house bots, if it is not there yet, and read a page of it, again and again."""
    send(attacker, "POST", "/api/tournaments", OF_HOUSE_BOTS)
    ask(request(path), attacker)


def create_and_delete(attacker: Attacker) -> None:
    """Create one that is as large as it may be, cancel it, and delete it."""
    name = f"x{secrets.token_hex(8)}"
    send(attacker, "POST", "/api/tournaments", LARGEST | {"name": name})
    for _ in range(2):
        send(attacker, "DELETE", f"/api/tournaments/{name}")


ATTACKS = (
    *(
        Attack(f"GET {path}, {LOOPS} loops", partial(read, path), LOOPS, log_lines=500, short=path == CUP)
        for path in PATHS
    ),
    Attack("tournaments created and deleted, 4 loops", create_and_delete, 4, log_lines=3_000),
)
