"""Hints: what a house bot thinks of the decision of a player who asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import ActionValues, Agent
from engine.mjai.actions import action_message
from engine.mjai.messages import Message

BEST = 3  # actions that a hint names


def best_actions(bot: Agent, view: np.record, seat: int, legal: Sequence[int]) -> list[Message]:
    """The actions of `legal` that `bot` values most, best first: ``action``, an mjai reply, and ``value``.

    Values are in placements; of equal ones, that of the action that the bot would play comes first. Actions that the
    bot does not evaluate are left out; so are discards that differ only in whether the tile was just drawn, but for the
    better one.
    """
    assert isinstance(bot, ActionValues)  # as `HouseBots.adviser` sees to
    views = np.array([view])
    values, chosen = bot.action_values(views)[0], bot.act(views)[0]
    found: dict[tuple[str, str, str], Message] = {}
    for action in sorted(legal, key=lambda each: (-values[each], each != chosen)):
        if np.isfinite(values[action]):
            reply = action_message(view, seat, action)
            key = reply["type"], reply.get("pai", ""), str(reply.get("consumed"))
            found.setdefault(key, {"action": reply, "value": round(float(values[action]), 4)})
    return list(found.values())[:BEST]
