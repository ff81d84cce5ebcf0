"""The names of the bots that come along, in the order of `agents.registry` (which takes seconds to import)."""

COMPILED = ("random", "tsumogiri", "efficiency", "rule", "yaku", "linear", "softmax")
BOTS = (*COMPILED, "bert", "human", "cnn", "selfplay", "residual", "ensemble", "search")
HOUSE_BOTS = tuple(name for name in BOTS if name != "search")  # those that rooms may name


def quick(name: str) -> str:
    """A bot, or one like it that decides in less time."""
    return "search:n=4" if name == "search" else name
