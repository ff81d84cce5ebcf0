"""The strength dial: any bot, weaker by a number of points (``rule@-300``).

400 points are a factor of 10 in the odds of finishing ahead (see `arena.ratings`).

* `spec`: the strength in the text of a bot;
* `dial`: a bot that plays another one's actions less and less well;
* `scale`: how far the dial must be turned for so many points, as ``python -m arena calibrate BOT`` has measured it.
"""

from __future__ import annotations

from agents.base import Agent
from agents.strength.dial import Dialled
from agents.strength.scale import read_scale
from agents.strength.spec import split_strength

__all__ = ["at_strength", "split_strength"]


def at_strength(agent: Agent, bot: str, strength: int, seed: int) -> Dialled:
    """`agent`, which the text `bot` names, weaker by `strength` points, such as -300.

    Raises ValueError, in one line, if the bot has no scale, or one that does not reach so far.
    """
    setting = read_scale(bot).setting(strength)
    return Dialled(agent, setting, f"{agent.name}@{strength}", seed)
