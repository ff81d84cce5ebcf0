"""The bot `human`: the network of `bert` with weights that imitate the players of Tenhou's phoenix room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes long enough to press Ctrl-C before the program has started
    from agents.base import Agent

BUNDLED = Path(__file__).parent / "weights"


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``human``, or ``human:?NAME=VALUE`` with the options of `agents.bert.bot.OPTIONS`. Raises ValueError."""
    from agents.bert import bot  # training does not import onnxruntime, which playing needs

    if argument and not argument.startswith("?"):
        raise ValueError(f"human is one network; bert:{argument.partition('?')[0]} plays another")
    return bot.make_named("human", BUNDLED, argument, seed, family="bert")
