"""Games with every house bot there is."""

from __future__ import annotations

from tests.support.attacker import Attack, Attacker
from tests.support.built_in_bots import HOUSE_BOTS


def join_with_each(attacker: Attacker) -> None:
    """Start a game with two of each."""
    for bot in HOUSE_BOTS:
        attacker.joined(f"house+{bot}+{bot}")
    attacker.stop.wait(1)


ATTACKS = (Attack("a game with each house bot", join_with_each, log_lines=300),)
