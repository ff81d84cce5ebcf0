"""``python -m tests.support.engine_digest FIRST LAST``: a line with the digest of all that happens, for each seed."""

from __future__ import annotations

import hashlib
import json
import random
import sys

from engine.game import Game
from tests.support.players import ALL_HABITS, efficient_driver, play, random_driver


def digest(seed: int) -> str:
    """Digest of the messages, the last table and the final points of a hanchan; even seeds are played at random."""
    rng = random.Random(seed)
    driver = efficient_driver(rng, ALL_HABITS[seed // 2 % len(ALL_HABITS)]) if seed % 2 else random_driver(rng)
    game = play(Game(seed=seed), driver)
    told = json.dumps(game.messages, ensure_ascii=True).encode()
    return hashlib.sha256(told + game.table.tobytes() + repr(game.final_points).encode()).hexdigest()


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print(number, digest(number))
