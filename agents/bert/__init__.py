"""The BERT bot: a transformer that reads a seat's view as tokens and chooses among 46 labels.

`vocabulary`, `labels` and `encoding` say what it reads and chooses; `folder`, `graph` and `runtime` run a network, and
`bot` plays it. `data`, `augment`, `model` and `learning` make networks; they alone need torch and transformers.
"""

from __future__ import annotations

from agents.base import Agent


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``bert`` or ``bert:argument``, see `agents.bert.bot.make`."""
    from agents.bert import bot  # what trains a network does not load what plays one

    return bot.make(argument, seed)
