"""The names of the bots that come along."""

from agents.built_in import BUILT_IN

BOTS = tuple(BUILT_IN)
HOUSE_BOTS = tuple(name for name, bot in BUILT_IN.items() if not bot.slow)  # those that rooms may name


def quick(name: str) -> str:
    """A bot, or one like it that decides in less time."""
    return "search:n=4" if name == "search" else name
