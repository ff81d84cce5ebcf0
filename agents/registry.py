"""From a name to a bot that runs in this process: the built-in bots and those of other packages.

Other packages register theirs as entry points of the group ``nukidora.agents``: a factory ``(argument, seed) -> Agent``
(see `agents.base.Factory`). Bots that are programs or connections: see `agents.external.specs`.
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
    """The entry point of a bot, without importing it. Other packages cannot replace a built-in bot."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP)
    return next((found for found in entry_points(group=GROUP) if found.name == name), None)


def names() -> list[str]:
    """The names `make` accepts: the built-in ones, then those of other packages."""
    return [*BUILT_IN, *sorted({found.name for found in entry_points(group=GROUP)} - BUILT_IN.keys())]


def make(spec: str, seed: int = 0) -> Agent:
    """The bot that `spec` names, ``name`` or ``name:argument``.

    Raises ValueError for an unknown name (the message lists the known ones), for a seed beyond 64 bits, and where the
    bot rejects its argument.
    """
    name, colon, argument = spec.partition(":")
    found = _find(name)
    if found is None:
        raise ValueError(f"unknown bot {name!r}: choose one of {', '.join(names())}")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed {seed} is not in 0 … 2^64 - 1")
    agent: Agent = found.load()(argument if colon else None, seed)
    return agent
