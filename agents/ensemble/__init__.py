"""The bot `ensemble`: a network of `residual` and `human` decide together, see `agents.ensemble.bot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes long enough to press Ctrl-C before the program has started
    from agents.base import Agent


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``ensemble``. Raises ValueError for an argument."""
    from agents.ensemble import bot

    return bot.make(argument, seed)
