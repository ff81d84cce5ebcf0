"""The yaku bot: it searches for the hand to go for, among some sixteen hand types.

* `targets`: the library of hand types, their target tiles, and what may complete them;
* `search`: the cost of each hand type, by a depth-first search for the sets and the pair still missing;
* `frequencies`: how often each hand type is won;
* `bot`: the choice. Start with `bot.choose`.
"""

from __future__ import annotations

from agents.base import Agent
from agents.bots.yaku.bot import Yaku, action_values, decide


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``yaku``; it takes no argument. Raises ValueError."""
    if argument is not None:
        raise ValueError(f"the bot yaku takes no argument, but got {argument!r}")
    return Yaku("yaku", decide, action_values, seed)
