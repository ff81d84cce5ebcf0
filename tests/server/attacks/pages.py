"""The web pages and their files, in loops, and rooms for one sitting."""

from __future__ import annotations

import json
import secrets
from functools import partial

from tests.server.attacks.requests import LOOPS, ask, pipelined, posted, request, unread
from tests.support.attacker import Attack, Attacker, address

PATHS = ("/", "/games/x", "/web/style.css", "/web/mjai.js", "/web/no-such-file.js")
GZIP = "Accept-Encoding: gzip\r\n"
ADDRESSES = 50
# Settings of rooms: house bots, also weaker ones; handicaps; and what is refused.
SETTINGS = (
    {"fill": ["rule", "rule"]},
    {"fill": ["rule@-1", "efficiency@-300"], "scores": [0, 0, 105_000]},
    {"fill": ["rule@-99999999999", "rule@-0"]},
    {"scores": [10**18, -(10**18), 105_000]},
    {"scores": [1e308, "35000", None]},
    {"scores": [35_000] * 1_000},
)


def open_rooms(attacker: Attacker, of: str = "") -> None:
    """Open rooms for one sitting, each with another name."""
    settings = secrets.choice(SETTINGS)
    body = json.dumps({"name": secrets.token_hex(8), "permanent": False, "settings": settings})
    opened = attacker.http(of) if of else attacker.http()
    opened.sendall(posted("/api/rooms", body.encode(), headers="Connection: close\r\n"))
    opened.recv(65_536)


def open_rooms_of_many_addresses(attacker: Attacker) -> None:
    """The same of many addresses, each of which opens as many as it may."""
    for number in range(ADDRESSES):
        if not attacker.over:
            open_rooms(attacker, address(number))


ATTACKS = (
    *(
        Attack(f"GET {path}, {LOOPS} loops", partial(ask, request(path, GZIP)), LOOPS, short=path == "/web/mjai.js")
        for path in PATHS
    ),
    Attack("files of the pages, pipelined", partial(pipelined, "/web/style.css")),
    Attack("pages never read", partial(unread, "/"), LOOPS),
    Attack(f"POST of rooms for one sitting, {LOOPS} loops", open_rooms, LOOPS, log_lines=500),
    Attack("POST of rooms for one sitting of many addresses", open_rooms_of_many_addresses, 4, log_lines=3_000),
)
