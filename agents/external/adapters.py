"""A foreign bot at a table of the arena: an agent that asks a player by mjai messages."""

from __future__ import annotations

import numpy as np

from agents.external.mjai_bot import BotError, MjaiBot
from engine.actions import actions_of
from engine.mjai.messages import Message, for_seat
from engine.mjai.possible_actions import legal_action, possible_actions, safe_default
from engine.mjai.round_events import round_messages


class ExternalAgent:
    """A foreign bot as an `agents.base.Agent`, for one game at a time, each begun and finished here.

    A bot that fails is asked no more in that game: the seat discards what it draws. `fault` then says how it failed.
    Where there is but one legal action it is played without asking.
    """

    def __init__(self, player: MjaiBot) -> None:
        self.name = player.name
        self.player = player
        self.fault = ""
        self._seat = -1
        self._untold: list[Message] = []
        self._n_read = 0  # events of the round already among the messages

    def begin(self, seat: int, start: Message) -> None:
        """A game begins, whose record begins with `start`; the bot has `seat`."""
        self.fault = ""
        self._seat = seat
        self._untold = [for_seat(start, seat)]
        self._n_read = 0

    def act(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent`; `views` is one view of the seat."""
        (view,) = views
        legal = actions_of(*view.legal[self._seat].tolist())
        if len(legal) == 1 or self.fault:
            return np.array([safe_default(legal)])
        self._read(view, legal)
        try:
            return np.array([legal_action(view, self._seat, self._tell(), legal)])
        except BotError as error:
            self.fault = str(error)
        except ValueError as error:
            self.fault = str(error)
            self.player.refuse(self.fault)
        return np.array([safe_default(legal)])

    def hear_round(self, table: np.record) -> None:
        """A round has ended at the table."""
        self._read(table, [])
        self._n_read = 0

    def finish(self, end: Message) -> None:
        """The game has ended with that message."""
        if self.fault:
            return
        self._untold.append(end)
        try:
            self._tell()
        except BotError as error:
            self.fault = f"at the end of the game: {error}"

    def _read(self, t: np.record, legal: list[int]) -> None:
        """Note what has happened at a table, or view, since last time; the seat has `legal` to choose from, or []."""
        fresh = round_messages(t)[self._n_read :]
        self._n_read += len(fresh)
        for place, message in enumerate(fresh, 1):
            asked = legal if place == len(fresh) else []
            self._untold.append(for_seat(message, self._seat) | possible_actions(t, self._seat, message, asked))

    def _tell(self) -> Message:
        untold, self._untold = self._untold, []
        return self.player.react(untold)
