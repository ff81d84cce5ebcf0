"""An agent, which reads views, as a mjai bot, which reads messages.

The other way round: `agents.external.external_agent`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.base import Agent, Annotating
from agents.external.mjai_bot import NONE, OPENING, BotError, one_line
from engine.actions import action_name
from engine.mjai.actions import action_message
from engine.mjai.kinds import MAX_EXT_BOT, check_ext_bot
from engine.mjai.messages import Message
from engine.mjai.player_state import PlayerState
from engine.table import TABLE
from engine.tables import BadAnswer, check_answer


class AgentBot:
    """An agent as a mjai bot: a player state rebuilds its view from the messages."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent
        self._state = PlayerState()

    def prepare(self) -> None:
        """Take the first decision of a game, so that everything is compiled; see `MjaiBot`."""
        self.react(list(OPENING))

    def react(self, messages: list[Message]) -> Message:
        """Let the agent choose in the view that the messages lead to. Its annotation is sent along as ``ext_bot``."""
        for message in messages:
            if message["type"] == "start_game":
                self._state = PlayerState()
            try:
                self._state.update(message)
            except ValueError as error:
                raise BotError(f"does not understand the game: {error}") from error
        legal = self._state.legal
        if not legal:
            return NONE
        view = self._state.view
        try:
            action = int(check_answer(self._agent.act(np.array([view], dtype=TABLE)), 1)[0])
            annotation = self._agent.annotate() if isinstance(self._agent, Annotating) else {}
        except BadAnswer as error:
            raise BotError(str(error)) from error
        except Exception as error:
            raise BotError(f"raised {type(error).__name__}: {one_line(str(error))}") from error
        if action not in legal:
            raise BotError(f"may not {action_name(action)}; legal: {', '.join(map(action_name, legal))}")
        reply = action_message(view, self._state.seat, action)
        return reply | {"ext_bot": checked_annotation(annotation)} if annotation else reply

    def reject(self, reason: str) -> BotError:
        """Return the reason as it is; an agent has no use for it."""
        return BotError(reason)

    def close(self) -> None:
        """Do nothing: an agent has no resources to release."""


def checked_annotation(annotation: object) -> dict[str, Any]:
    """An annotation that a server accepts as ``ext_bot``. Raises BotError for any other."""
    try:
        return check_ext_bot(annotation)
    except (TypeError, ValueError) as error:  # what json raises for objects and texts that JSON does not have, too
        what = one_line(str(error))
    raise BotError(f"annotate() returned {what}, not an object without NaN of at most {MAX_EXT_BOT:,} bytes of JSON")
