"""The connection of one bot, from hello until it is closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic_core import to_json

from engine.actions import PASS
from engine.common.complete import require_rows
from engine.common.error_text import ErrorText, coded, error_text, line_of
from engine.mjai import connection, dialects
from engine.mjai.bot_checks import BadMessage
from engine.mjai.bot_messages import NONE, parse_join, parse_reply, request_in
from engine.mjai.connection import DEFAULT_DIALECT, MAX_JOIN, MAX_MESSAGE, NOT_JOINED, WHEN_ASKED, Join
from engine.mjai.messages import NOBODY, OF_EACH_SEAT, Message, for_seat
from engine.mjai.possible_actions import possible_actions
from engine.mjai.schema import REQUESTS
from engine.table import TABLE
from server.connection.outbox import ERROR_REPLY_TIMEOUT, ExpectedReply, Outbox
from server.limits import Limits
from server.loop_clock import Timer, loop_clock
from server.ports import GamePort, Transport
from server.settings import Settings

EARLY = error_text("early", "a message before start_game: wait for it after join")
NO_HINTS = error_text("no_hints", "hint: there are none here, but in rooms with the setting hints that are not rated")
HELLO = to_json(connection.HELLO)
MAX_FAULTS_OUTSIDE_GAMES = 10
COMMON = frozenset({"tsumo", "dahai"})  # types of most messages, whose values are hashable
NO_TABLE = np.zeros(1, dtype=TABLE)[0]  # for `possible_actions` without legal actions, which reads no table
# Encoded messages of one step of a game, shared by seats for which they are equal; keyed by their number in the step,
# whether the seat is the actor, and the dialect.
Encoded = dict[tuple[int, bool, str], bytes]


@lru_cache(4096)  # there are fewer, of all dialects together
def encode_common(message: tuple[tuple[str, Any], ...], own: bool, dialect: str) -> bytes:
    """Return a message of COMMON, given by its items, for its actor (`own`) or another seat, which it does not ask."""
    event = dict(message)
    seat = event["actor"] if own else NOBODY
    shown = for_seat(event, seat)
    if dialect == DEFAULT_DIALECT:
        shown = shown | possible_actions(NO_TABLE, seat, event, ())
    return to_json(dialects.write(shown, dialect))


class BotConnection:
    """A connected bot, as rooms and games see it; the `ConnectionHandler` of its transport."""

    def __init__(
        self,
        transport: Transport,
        settings: Settings,
        limits: Limits,
        on_join: Callable[[BotConnection, Join], None],
        on_left: Callable[[BotConnection], None],
        url_keys: Message | None = None,
    ) -> None:
        """Send hello and wait for the join message, whose keys are overridden by `url_keys`.

        `on_join` is called with the join message; `on_left` once, when the bot has disconnected or is being
        disconnected.
        """
        self.transport = transport
        self.max_message = MAX_JOIN
        self.join = NOT_JOINED
        self.games_left = 1  # games the bot stays for, the one in play included; 0: no limit
        self._settings = settings
        self._on_join, self._on_left = on_join, on_left
        self._url_keys = url_keys or {}
        self._outbox = Outbox(transport, limits.last_reply_timeout)
        self._game: GamePort | None = None
        self._seat = 0
        self._secret = ""
        self._taken_over = False  # whether a house bot had the seat when the connection entered the game
        self._join_sent = False
        self._join_timer: Timer | None = loop_clock().call_later(
            settings.join_timeout, self._join_timed_out, data_waits=lambda: transport.data_waits
        )  # None after the join is accepted or the connection closed
        self.finished = False  # the peer has closed its sending side, and waits for the answer to its join message
        self._left = False
        self._faults = 0  # outside of games
        transport.send([HELLO])

    # From the transport -----------------------------------------------------------------------------------------------

    def message_received(self, data: bytes) -> bool:
        """Handle a join message, a request, or a reply. Returns whether it is a reply to a message of the game."""
        if self._join_timer is not None:
            self._message_before_game(data)
        elif data not in NONE and (request := request_in(data)):
            HANDLERS[request](self)
        else:
            expected = self._outbox.reply_received()
            if data not in NONE or expected is not ExpectedReply.NONE:  # else nothing follows, as from most replies
                self._handle_reply(data, expected)
            self._outbox.flush()
            return expected is not None and expected is not ExpectedReply.ERROR
        return False

    def none_received(self) -> bool:
        """Handle `none` as the reply to a message that asks nothing. If it is not, do nothing and return False."""
        return self._outbox.none_received()

    def _message_before_game(self, data: bytes) -> None:
        """Handle a message that comes before the join is accepted."""
        if not self._join_sent:
            self._join_received(data)
        elif request_in(data) == "leave":
            self._leave_for_good()
        else:
            self._fault(None, EARLY, "unasked")

    def message_too_long(self) -> None:
        """Count a fault; before the join is accepted, close."""
        text = error_text("too_long", "a message longer than {n:,} bytes; it was discarded", n=self.max_message)
        if self._join_timer is not None:
            self.close_with_error(text)
        else:
            self._fault(self._outbox.reply_received(), text, "oversized")
            self._outbox.flush()

    def eof_received(self) -> bool:
        """Handle the end of the peer's messages. Returns whether it still gets an answer to its join message."""
        self.finished = self._join_sent and self._join_timer is not None
        return self.finished

    def disconnected(self) -> None:
        """Leave the game or the room."""
        self._leave()

    # Joining and leaving ----------------------------------------------------------------------------------------------

    def _join_received(self, data: bytes) -> None:
        try:
            join = parse_join(data, self._url_keys)
        except BadMessage as error:
            self.close_with_error(error_text("join_invalid", "{problem}", problem=line_of(error)))
            return
        self._join_sent = True
        self._on_join(self, join)

    def _join_timed_out(self) -> None:
        seconds = self._settings.join_timeout
        if self._join_sent:
            late = "its database does not answer, or it is too busy; try again later"
            text = f"the server could not answer the join within {{seconds:g}} seconds: {late}"
            line = error_text("join_unanswered", text, seconds=seconds)
        else:
            line = error_text("no_join", "no join within {seconds:g} seconds", seconds=seconds)
        self.close_with_error(line, retry=True)

    def _cancel_join_timer(self) -> None:
        if self._join_timer is not None:
            self._join_timer.cancel()
            self._join_timer = None

    def accept(self, join: Join) -> None:
        """Note that the lobby has accepted the join message."""
        self._cancel_join_timer()
        self.max_message = MAX_MESSAGE
        self.join = join
        self.games_left = join.games
        self._outbox.only_when_asked = self.only_when_asked

    def enter_game(self, game: GamePort, seat: int, secret: str, taken_over: bool) -> None:
        """Let the bot play this seat from now on; it may resume the game with `secret`.

        A house bot that has `taken_over` the seat meanwhile keeps it.
        """
        self._game, self._seat, self._secret = game, seat, secret
        self._taken_over = taken_over
        # The message after the error may ask for a decision whose time is running.
        self._outbox.error_reply_timeout = min(ERROR_REPLY_TIMEOUT, game.decision_time / 2)

    def leave_game(self) -> None:
        """Detach the bot from its seat."""
        self._game = None
        self._outbox.error_reply_timeout = ERROR_REPLY_TIMEOUT

    def close_with_error(self, text: ErrorText, retry: bool = False) -> None:
        """Send an error and close the connection; `retry`: the same may succeed later."""
        self.transport.send([to_json(connection.error(text, retry=retry, **coded(text)))])
        self.transport.close()
        self._leave()

    def close_when_sent(self) -> None:
        """Close the connection once all messages are sent."""
        self._outbox.close_when_sent()

    def _leave(self) -> None:
        if self._left:
            return
        self._left = True
        self._cancel_join_timer()
        if self._game is not None:
            self._game.connection_lost(self._seat)
        self._on_left(self)

    # To the bot -------------------------------------------------------------------------------------------------------

    @property
    def only_when_asked(self) -> bool:
        """Whether the bot is asked, and replies, only when it has a choice."""
        return self.join.reply == WHEN_ASKED

    def send_joined(self, room: str, waiting: int, needed: int) -> None:
        """Send `joined` to a waiting bot that has asked for it; see `engine.mjai.connection.joined`."""
        if self.join.joined:
            self._outbox.add(to_json(connection.joined(room, waiting, needed)), ExpectedReply.NONE)
            self._outbox.flush()

    def send_resumed(self, first: int) -> None:
        """Tell a reconnected bot from which message of the game on messages are resent."""
        self._outbox.add(to_json(connection.resumed(first, self._taken_over)), ExpectedReply.NONE)
        self._outbox.flush()

    def send_messages(
        self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int], encoded: Encoded
    ) -> None:
        """Send messages of the game, hidden information removed.

        The last message asks for a decision if there are `legal_actions`. `encoded` is a cache for calls with the same
        messages and table, empty at first.
        """
        events: list[bytes] = []
        for number, message in enumerate(messages[:-1] if legal_actions else messages):
            if message["type"] in OF_EACH_SEAT:
                events.append(self._encode(message, table, ()))
                continue
            own = message.get("actor") == self._seat
            key = number, own, self.join.dialect
            data = encoded.get(key)
            if data is None and message["type"] in COMMON:
                data = encoded[key] = encode_common(tuple(message.items()), own, self.join.dialect)
            elif data is None:
                data = encoded[key] = self._encode(message, table, ())
            events.append(data)
        self._outbox.add_events(events)
        if legal_actions:
            self._outbox.add(self._encode(messages[-1], table, legal_actions), ExpectedReply.DECISION)
        self._outbox.flush()

    def resend_messages(self, messages: Sequence[Message], table: np.record, legal_actions: Sequence[int]) -> None:
        """Send messages again that were sent before."""
        for number, message in enumerate(messages, 1):
            if legal_actions and number == len(messages):
                self._outbox.add(self._encode(message, table, legal_actions), ExpectedReply.DECISION)
            else:
                self._outbox.add(self._encode(message, None, ()), ExpectedReply.ANY)
        self._outbox.flush()

    def _encode(self, message: Message, table: np.record | None, legal_actions: Sequence[int]) -> bytes:
        """Return a message in the form for this seat; without a table, possible actions are omitted."""
        shown = for_seat(message, self._seat)
        if table is not None and self.join.dialect == DEFAULT_DIALECT:
            shown = shown | possible_actions(table, self._seat, message, legal_actions)
        if message["type"] == "start_game" and self.join.resume is True and self._secret:
            shown = shown | {"resume": self._secret} | self._where(self._game)
        if (legal_actions or message["type"] == "start_game") and self.only_when_asked:
            shown = shown | {"can_act": bool(legal_actions)}
        return to_json(dialects.write(shown, self.join.dialect))

    def _where(self, game: GamePort | None) -> Message:
        """Return where the game can be watched, and its record downloaded later."""
        if game is None:
            return {}
        return {"game": game.id, "http_port": self._settings.public_port or self._settings.port}

    def send_error(self, text: ErrorText) -> None:
        """Send an error, ahead of messages not sent yet."""
        self._outbox.send_error(to_json(connection.error(text, **coded(text))))

    def decision_timed_out(self) -> None:
        """Note that the open decision was made without the bot; its reply may still come."""
        self._outbox.decision_timed_out()

    # From the bot -----------------------------------------------------------------------------------------------------

    def _give_hint(self) -> None:
        """The bot asks for a hint."""
        if self._game is None or not self._game.gives_hints:
            self._fault(None, NO_HINTS, "unasked")
        else:
            self.transport.send([to_json(connection.hinted(*self._game.hint(self._seat)))])

    def _leave_for_good(self) -> None:
        """The bot asks to leave its game, or the room where it waits."""
        if self._game is not None:
            self._game.leave(self._seat)
        if not self._left:
            self.transport.close()
            self._leave()

    def _handle_reply(self, data: bytes, expected: ExpectedReply | None) -> None:
        try:
            reply = parse_reply(data)
        except BadMessage as error:
            self._fault(expected, error_text("reply_invalid", "{problem}", problem=line_of(error)), "malformed")
            return
        if expected is ExpectedReply.DECISION and self._game is not None:
            passes = reply["type"] == "none"
            if passes and self._outbox.unanswered_errors and PASS not in self._game.legal_actions(self._seat):
                self._outbox.late_error_reply()
            else:
                self._game.decide(self._seat, reply)
        elif expected is None and reply["type"] == "none" and self._outbox.unanswered_errors:
            self._outbox.unanswered_errors -= 1
        elif expected is None:
            text = "{reply}: no message waits for a reply; send one reply to each message"
            self._fault(None, error_text("reply_unasked", text, reply=reply["type"]), "unasked")
        elif expected is not ExpectedReply.ANY and reply["type"] != "none":
            text = "{reply}: you are not asked for an action now; reply with none"
            self._fault(expected, error_text("action_unasked", text, reply=reply["type"]), "unasked")

    def _fault(self, expected: ExpectedReply | None, text: ErrorText, kind: str) -> None:
        """Handle a fault in a message that came as the `expected` reply."""
        if self._game is not None:
            self._game.fault(self._seat, text, kind, is_decision=expected is ExpectedReply.DECISION)
            return
        self._faults += 1
        if self._faults >= MAX_FAULTS_OUTSIDE_GAMES:
            self.close_with_error(text)
        else:
            self.send_error(text)


# What a bot may send although no message waits for a reply (docs/protocol.md).
HANDLERS: dict[str, Callable[[BotConnection], None]] = {
    "hint": BotConnection._give_hint,
    "leave": BotConnection._leave_for_good,
}
require_rows("HANDLERS of bot_connection.py", HANDLERS, REQUESTS, "REQUESTS of engine/mjai/schema.py")
