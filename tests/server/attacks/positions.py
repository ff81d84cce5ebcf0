"""Positions that are sent to be analysed: as costly as they can be, and such as no game has."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.server.attacks.requests import ask, posted
from tests.support.attacker import Attack

PATH = "/api/positions"
LOOPS = 6
BOTS = ["bert", "cnn", "human", "residual"]
LONG = ["9m_ 1z_ 2z_ 3z_ 5z_ 6z_ 7z_ 1m_ 1p_ 9p_ 1s_", "9m_ 1z_ 2z_ 3z_ 5z_ 6z_ 7z_ 1m_ 1p_ 9p_ 1s_"] * 2
# Bodies: tenpai after many discards late in a round; rivers of many steps that are refused; nesting without end.
COSTLY: dict[str, Any] = {
    "late": {"position": {"hand": "23344556677888p", "rivers": LONG[:3]}, "bots": BOTS},
    "many steps": {"position": {"hand": "23344556677888p", "rivers": ["A1111111z" * 40] * 3}, "bots": []},
    "ever the same kan": {"position": {"hand": "23344556677888p", "rivers": ["K5s" * 130] * 3}, "bots": BOTS},
}
NESTED = b'{"position":' + b'{"hand":[' * 800


def sent(what: str) -> bytes:
    """The request with one of the bodies."""
    return posted(PATH, json.dumps(COSTLY[what]).encode())


ATTACKS = (
    Attack("late positions, 6 loops", partial(ask, sent("late")), LOOPS, short=True),
    Attack("positions of many steps, 6 loops", partial(ask, sent("many steps")), LOOPS),
    Attack("positions that no game has, 6 loops", partial(ask, sent("ever the same kan")), LOOPS),
    Attack("nested positions, 6 loops", partial(ask, posted(PATH, NESTED)), LOOPS),
)
