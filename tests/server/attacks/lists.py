"""Lists and statistics for which the database reads thousands of rows, in loops."""

from __future__ import annotations

from functools import partial

from tests.server.attacks.requests import LOOPS, ask, request
from tests.support.attacker import Attack

PLAYER = "/api/players/rule%20(house)"  # who has most games
PATHS = (
    f"{PLAYER}/statistics",
    f"{PLAYER}/statistics?room=nowhere&rules=majsoul",
    f"{PLAYER}/opponents?limit=200",
    f"{PLAYER}/ratings?limit=200",
    "/api/games?player=rule%20(house)&room=nowhere&limit=200",
    "/api/games?rules=majsoul&limit=200",
    "/api/games?status=playing&limit=200",
    "/api/players?limit=200&order=games",
    "/api/rooms?limit=200",
)

ATTACKS = tuple(
    Attack(f"GET {path}, {LOOPS} loops", partial(ask, request(path)), LOOPS, short="statistics?" in path)
    for path in PATHS
)
