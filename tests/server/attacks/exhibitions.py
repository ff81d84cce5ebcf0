"""Games of house bots alone: as many as there may be, with the costliest bots, as fast as they may play."""

from __future__ import annotations

import json
import re
from functools import partial

from tests.server.attacks.requests import ask, posted
from tests.server.attacks.spectators import watch
from tests.support.attacker import PIECE, Attack, Attacker, address

LOOPS = 6
ADDRESSES = 20  # more than there may be exhibitions
COSTLY = posted("/api/games", json.dumps({"bots": ["bert", "cnn", "residual"], "pause": 0.3}).encode())
GAME = re.compile(rb"location: /api/games/(\w+)", re.IGNORECASE)


def start_and_watch(attacker: Attacker) -> None:
    """Start one from each address, and watch all of them."""
    for number in range(ADDRESSES):
        opened = attacker.http(address(number))
        opened.sendall(COSTLY)
        if found := GAME.search(opened.recv(PIECE)):
            watch(attacker, found[1].decode(), number)
    attacker.stop.wait(5)


ATTACKS = (
    Attack("exhibitions that are watched, of 20 addresses", start_and_watch, log_lines=300, short=True),
    Attack("POST of exhibitions, 6 loops", partial(ask, COSTLY), LOOPS, log_lines=300),
)
