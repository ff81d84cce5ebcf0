"""A bot's connection, from hello until it leaves: what it is sent, and which of its replies answers what."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from pydantic_core import to_json

from engine.actions import PASS
from engine.game import Game
from engine.mjai import connection, dialects
from engine.mjai.bot_messages import BadMessage, parse_join, parse_reply
from engine.mjai.connection import DEFAULT_DIALECT, MAX_MESSAGE, NOT_JOINED, WHEN_ASKED, Join
from engine.mjai.messages import Message, for_seat
from engine.mjai.possible_actions import possible_actions
from server.access import RateLimiter
from server.line import LINGER, Line

if TYPE_CHECKING:
    from server.lobby import Lobby
    from server.rooms import Room
    from server.seat import Seat

HELLO = to_json(connection.HELLO)
MAX_WAITING_FAULTS = 10  # of a bot that is in no game
ERROR_PATIENCE = 2.0  # seconds an error is waited for to be answered, at most: what comes after it waits as long


class Owed(Enum):
    """What the reply to a message may be."""

    NONE = 0  # nothing but ``none``
    DECISION = 1
    ANYTHING = 2  # it no longer matters: the decision was taken without the bot, or the message was sent again
    ERROR = 3  # ``none``; bots that do not answer errors are waited for once, and never again


@dataclass(slots=True)
class Outgoing:
    """A message on its way, and what is expected in return (None: nothing)."""

    data: bytes
    owed: Owed | None


class Guest:
    """One connected bot; a `server.line.Listener`. It sits on `seat`, or waits in `room`, or has yet to join."""

    def __init__(self, line: Line, lobby: Lobby, given: Message) -> None:
        """Say hello. `given` holds what the URL says of the join message; that counts."""
        self.line = line
        self.seat: Seat | None = None
        self.room: Room | None = None
        self.join = NOT_JOINED
        self.games_left = 1  # to stay for; 0: no end
        self.counted = False  # among the connections of its address
        self._lobby = lobby
        self._given = given
        self._joining = False
        self._faults = 0
        self._unsent: deque[Outgoing] = deque()
        self._unanswered: deque[Outgoing] = deque()
        self._answers_errors = True
        self._errors_given_up = 0  # whose answers may still come
        self._leaving = False
        self._left = False
        settings, loop = lobby.settings, asyncio.get_running_loop()
        self._allowance = RateLimiter(settings.messages_per_second, burst=settings.messages_per_second)
        self._patience: asyncio.TimerHandle | None = loop.call_later(settings.join_timeout, self._join_late)
        line.send([HELLO])

    @property
    def when_asked(self) -> bool:
        """Whether the bot is asked only where it has a choice, and answers only then."""
        return self.join.reply == WHEN_ASKED

    def received(self, data: bytes | str) -> None:
        """See `server.line.Listener`."""
        if not self._allowance.take():
            self.refuse(f"more than {self._lobby.settings.messages_per_second} messages a second")
        elif self._patience is None:
            self._reply(data)
        elif not self._joining:
            self._first(data)
        else:
            self._fault(None, "a message before start_game: wait for it after join", "unasked")

    def oversized(self) -> None:
        """See `server.line.Listener`."""
        text = f"a message longer than {MAX_MESSAGE:,} bytes; it was not read"
        if self._patience is not None:
            self.refuse(text)
        else:
            self._fault(self._next_owed(), text, "oversized")
            self._flush()

    def lost(self) -> None:
        """See `server.line.Listener`."""
        self._leave_all()
        self._lobby.gone(self)

    def refuse(self, why: str, retry: bool = False) -> None:
        """Say why, and whether it may go better later, and close the connection; the bot is nowhere from now on."""
        self.line.send([to_json(connection.error(why, retry=retry))])
        self.line.close()
        self._leave_all()

    def _leave_all(self) -> None:
        if not self._left:
            self._left = True
            self._stop_waiting()
            self._lobby.left(self)

    def _join_late(self) -> None:
        self.refuse(f"no join within {self._lobby.settings.join_timeout:g} seconds", retry=True)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _first(self, data: bytes | str) -> None:
        """The join message."""
        try:
            join = parse_join(data, self._given)
        except BadMessage as error:
            self.refuse(str(error))
            return
        self._joining = True
        self._lobby.start_task(self._lobby.join(self, join))

    def joined(self, join: Join) -> None:
        """The lobby has let the bot in."""
        self._stop_waiting()
        self.join = join
        self.games_left = join.games

    def resumed(self, first: int) -> None:
        """Say from which message of the game on all is sent again."""
        self._post(connection.resumed(first), Owed.NONE)
        self._flush()

    def tell(self, messages: list[Message], game: Game, menu: list[int], resent: bool = False) -> None:
        """Send messages of the game as the seat may see them; asked, with legal actions `menu`, by the last of them.

        `resent` messages were sent before, so whatever the bot answers to all but the last no longer matters.
        """
        assert self.seat is not None
        for place, message in enumerate(messages, 1):
            asked = menu if place == len(messages) else []
            shown = for_seat(message, self.seat.index)
            if self.join.dialect == DEFAULT_DIALECT and (asked or not resent):
                shown = shown | possible_actions(game.table, self.seat.index, message, asked)
            if message["type"] == "start_game" and self.join.resume is True and self.seat.secret:
                shown = shown | {"resume": self.seat.secret}
            if asked and self.when_asked:
                shown = shown | {"can_act": True}
            self._post(shown, Owed.DECISION if asked else Owed.ANYTHING if resent else Owed.NONE)
        self._flush()

    def complain(self, text: str) -> None:
        """Send an error, before anything that waits to be sent."""
        self.line.send([to_json(connection.error(text))])
        if self._answers_errors and not self.when_asked:
            self._unanswered.append(Outgoing(b"", Owed.ERROR))
            self._watch_error()

    def leave(self) -> None:
        """Close the connection once everything is sent."""
        self._leaving = True
        self._flush()
        self._hurry()

    def _hurry(self, before: int | None = None) -> None:
        """Of a bot that leaves: the last messages go out at once when it has answered none for LINGER seconds."""
        waiting = len(self._unsent)
        if waiting and waiting == before:
            self.line.send([message.data for message in self._unsent])
            self.line.close()
        elif waiting:
            asyncio.get_running_loop().call_later(LINGER, self._hurry, waiting)

    def decision_taken(self) -> None:
        """A decision was taken without the bot: its reply, if it still comes, no longer matters."""
        for message in (*self._unanswered, *self._unsent):
            if message.owed is Owed.DECISION:
                message.owed = Owed.ANYTHING

    def _post(self, message: Message, owed: Owed) -> None:
        """Put a message behind those that are not sent yet."""
        expected = None if self.when_asked and owed is not Owed.DECISION else owed
        self._unsent.append(Outgoing(to_json(dialects.write(message, self.join.dialect)), expected))

    def _flush(self) -> None:
        """Send what can be sent: to a bot that answers every message, one at a time, as mjai servers do."""
        ready = []
        while self._unsent and (self.when_asked or not self._unanswered):
            message = self._unsent.popleft()
            ready.append(message.data)
            if message.owed is not None:
                self._unanswered.append(message)
        if ready:
            self.line.send(ready)
        if self._leaving and not self._unsent:
            self.line.close()

    def _next_owed(self) -> Owed | None:
        """What the message that has just come in answers."""
        if not self._unanswered:
            return None
        owed = self._unanswered.popleft().owed
        self._watch_error()
        return owed

    def _watch_error(self) -> None:
        """An error is the next message to be answered: find out whether this bot answers errors."""
        if self._unanswered and self._unanswered[0].owed is Owed.ERROR:
            patience = ERROR_PATIENCE
            if self.seat is not None:  # a question may be what waits, and its time is running
                patience = min(patience, self.seat.sitting.start.settings.decision_time / 2)
            loop = asyncio.get_running_loop()
            loop.call_later(patience, self._error_unanswered, self._unanswered[0])

    def _error_unanswered(self, error: Outgoing) -> None:
        if self._unanswered and self._unanswered[0] is error:
            self._answers_errors = False
            self._errors_given_up += 1
            self._next_owed()
            self._flush()

    def _reply(self, data: bytes | str) -> None:
        owed = self._next_owed()
        try:
            reply = parse_reply(data)
        except BadMessage as error:
            self._fault(owed, str(error), "malformed")
        else:
            self._take(reply, owed)
        self._flush()

    def _take(self, reply: Message, owed: Owed | None) -> None:
        """A reply, and what it was expected to be."""
        if owed is Owed.DECISION and self.seat is not None:
            if reply["type"] == "none" and self._errors_given_up and PASS not in self.seat.menu:
                self._errors_given_up -= 1  # this is the answer to an error, after all
                self._unanswered.appendleft(Outgoing(b"", Owed.DECISION))
                return
            self.seat.sitting.decide(self.seat, reply)
        elif owed is None:
            self._fault(owed, f"{reply['type']}: every message gets one reply, and there was none to answer", "unasked")
        elif owed is not Owed.ANYTHING and reply["type"] != "none":
            self._fault(owed, f"{reply['type']}: you are not asked now; answer none", "unasked")

    def _fault(self, owed: Owed | None, text: str, kind: str) -> None:
        """Something was wrong with a message that answered `owed`."""
        if self.seat is not None:
            self.seat.sitting.fault(self.seat, text, kind, decides=owed is Owed.DECISION)
            return
        self._faults += 1
        if self._faults >= MAX_WAITING_FAULTS:
            self.refuse(text)
        else:
            self.complain(text)
