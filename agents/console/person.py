"""The person at the terminal as a mjai bot."""

from __future__ import annotations

from collections.abc import Callable

from agents.client.connection import FatalConnectionError
from agents.console.screen import Screen
from agents.external.mjai_bot import NONE, BotError
from engine.mjai.actions import action_message
from engine.mjai.messages import Message
from engine.mjai.player_state import PlayerState


class Person:
    """An `agents.external.mjai_bot.MjaiBot` that receives each message at once, and asks the person for replies."""

    def __init__(self, name: str, screen: Screen, withdrawn: Callable[[], bool] = lambda: False) -> None:
        """`withdrawn`: whether an answer comes too late. It raises ConnectionError where the connection is lost."""
        self.name = name
        self._screen = screen
        self._withdrawn = withdrawn
        self._state = PlayerState()

    def prepare(self) -> None:
        """Do nothing: a person is always ready."""

    def watch(self, message: Message) -> None:
        """Show the message on the screen. Raises FatalConnectionError for an impossible one."""
        if message["type"] == "start_game":
            self._state = PlayerState()
        try:
            self._state.update(message)
            self._screen.show(message, self._state.view)
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            raise FatalConnectionError(f"the server's game cannot be followed: {error}") from error

    def react(self, messages: list[Message]) -> Message:
        """Ask the person; `none` where it has not answered in time. The messages have been watched before."""
        action = self.choose(self._state.legal)
        return NONE if action is None else action_message(self._state.view, self._state.seat, action)

    def choose(self, legal: list[int]) -> int | None:
        """Return the action that the person chooses; None if there is none, or it is too late."""
        return self._screen.ask(self._state.view, legal, self._withdrawn) if legal else None

    def reject(self, reason: str) -> BotError:
        """Return the reason as it is: nothing else is known."""
        return BotError(reason)

    def close(self) -> None:
        """Do nothing: the screen is not closed with a game."""
