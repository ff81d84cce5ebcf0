"""Bots by name.

Other packages offer theirs as entry points of the group ``nukidora.agents``: a factory ``(argument, seed) -> Agent``,
where `argument` is what follows the colon of ``name:argument`` (None without one) and `seed` a 64-bit number.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from agents.base import Agent
from engine.seeds import MAX_SEED

GROUP = "nukidora.agents"
BUILT_IN = {name: f"agents.bots.{name}:make" for name in ("random", "tsumogiri", "efficiency", "rule")} | {
    "bert": "agents.bert:make"
}


def _find(name: str) -> EntryPoint | None:
    """Where a bot is to be found; nothing is imported yet. A built-in name stays what it is."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP)
    return next((found for found in entry_points(group=GROUP) if found.name == name), None)


def names() -> list[str]:
    """The names `make` knows: the built-in ones, then those of other packages."""
    return [*BUILT_IN, *sorted({found.name for found in entry_points(group=GROUP)} - BUILT_IN.keys())]


def make(spec: str, seed: int = 0) -> Agent:
    """The bot that `spec` names, ``name`` or ``name:argument``.

    Raises ValueError for an unknown name, naming those there are, for a seed beyond 64 bits, and where the bot itself
    does not understand its argument.
    """
    name, colon, argument = spec.partition(":")
    found = _find(name)
    if found is None:
        raise ValueError(f"unknown bot {name!r}: choose one of {', '.join(names())}")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed {seed} is not in 0 … 2^64 - 1")
    agent: Agent = found.load()(argument if colon else None, seed)
    return agent
