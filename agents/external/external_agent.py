"""A mjai bot, which reads messages, as an agent, which reads views. The other way round: `agents.external.adapters`."""

from __future__ import annotations

import numpy as np

from agents.external.mjai_bot import BotError, MjaiBot
from engine.actions import actions_of
from engine.mjai.messages import Message, for_seat
from engine.mjai.possible_actions import legal_action, possible_actions, safe_default
from engine.mjai.round_events import round_messages


class ExternalAgent:
    """A mjai bot as an `agents.base.Agent`, for one game at a time: `start_game`, `act` and `end_round`, `end_game`.

    If the bot fails, `fault` says how, and the rest of the game is played by safe defaults without asking it. It is
    not asked either where there is only one legal action.
    """

    def __init__(self, bot: MjaiBot) -> None:
        self.name = bot.name
        self.bot = bot
        self.fault = ""
        self.fault_after = 0  # events of the round that the bot knew when it failed
        self._seat = -1
        self._unsent: list[Message] = []
        self._n_events = 0  # messages of this round that are in `_unsent` or have been sent

    def start_game(self, seat: int, message: Message) -> None:
        """Begin a game in which the bot has `seat`; `message` is its ``start_game``."""
        self.fault = ""
        self._seat = seat
        self._unsent = [for_seat(message, seat)]
        self._n_events = 0

    def act(self, views: np.ndarray) -> np.ndarray:
        """Ask the bot, unless it has failed; `views` is one view of its seat, TABLE[1]."""
        (view,) = views
        legal = actions_of(*view.legal[self._seat].tolist())
        if len(legal) == 1 or self.fault:
            return np.array([safe_default(legal)])
        self._add_events(view, legal)
        try:
            return np.array([legal_action(view, self._seat, self._react(), legal)])
        except BotError as error:
            self.fault = str(error)
        except ValueError as error:
            self.fault = str(self.bot.reject(str(error)))
        self.fault_after = self._n_events
        return np.array([safe_default(legal)])

    def end_round(self, table: np.record) -> None:
        """A round has ended at the table."""
        self._add_events(table, [])
        self._n_events = 0

    def end_game(self, message: Message) -> None:
        """The game has ended; `message` is its ``end_game``."""
        if self.fault:
            return
        self._unsent.append(message)
        try:
            self._react()
        except BotError as error:
            self.fault = f"at the end of the game: {error}"

    def _add_events(self, t: np.record, legal: list[int]) -> None:
        """Queue the new messages of the round at a table, or view; `legal` are the actions of the seat, [] for none."""
        new = round_messages(t)[self._n_events :]
        self._n_events += len(new)
        for number, message in enumerate(new, 1):
            actions = legal if number == len(new) else []
            self._unsent.append(for_seat(message, self._seat) | possible_actions(t, self._seat, message, actions))

    def _react(self) -> Message:
        messages, self._unsent = self._unsent, []
        return self.bot.react(messages)
