"""Work of bots that is asked for in a few bytes: the puzzles of all days, and reviews of players."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from tests.server.attacks.requests import ask, posted, request
from tests.support.attacker import Attack, Attacker, address

LOOPS = 6
DAYS = 32  # more than there are puzzles of
REVIEWED = "/api/players/rule%20(house)/reviews?bot=bert&bot=cnn"


def all_days(attacker: Attacker) -> None:
    """Ask for the puzzle of each day, again and again."""
    today = datetime.now(UTC).date()
    for day in range(DAYS):
        if not attacker.over:
            attacker.get(f"/api/puzzle?date={today - timedelta(days=day)}")


def reviews_of_many(attacker: Attacker) -> None:
    """Ask for reviews of a player's latest games, from ever new addresses."""
    for number in range(100):
        if not attacker.over:
            with attacker.http(address(number)) as opened:
                opened.sendall(posted(REVIEWED, b"", headers="Connection: close\r\n"))
                opened.recv(65_536)


ATTACKS = (
    Attack("puzzles of all days, 6 loops", all_days, LOOPS, short=True),
    Attack("the puzzle of today, 6 loops", partial(ask, request("/api/puzzle")), LOOPS),
    Attack("reviews of a player, 6 loops", partial(ask, posted(REVIEWED, b"")), LOOPS),
    Attack("reviews of a player for 100 addresses", reviews_of_many),
)
