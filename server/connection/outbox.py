"""Messages to one bot, in order, and the reply expected to each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum

from server.loop_clock import loop_clock
from server.ports import Transport

ERROR_REPLY_TIMEOUT = 2.0  # seconds to wait for the reply to an error; messages behind the error wait as long


class ExpectedReply(Enum):
    """The replies allowed to a message."""

    NONE = 0  # only ``none``
    DECISION = 1
    ANY = 2  # ignored, as the decision was made without the bot or the message was resent
    ERROR = 3  # ``none``; a bot that does not reply to errors is waited for only once


# A message and the reply expected to it (None: no reply). A plain tuple: one is made for each message to each bot.
Outgoing = tuple[bytes, ExpectedReply | None]


class Outbox:
    """Sends messages one at a time to a bot that replies to each, or at once to a bot that replies only when asked."""

    def __init__(self, transport: Transport, last_reply_timeout: float) -> None:
        """`last_reply_timeout`: see `Limits`."""
        self.only_when_asked = False
        self.error_reply_timeout = ERROR_REPLY_TIMEOUT  # seconds
        self.unanswered_errors = 0  # not, or no longer, waited for; replies to them may still come
        self._transport = transport
        self._last_reply_timeout = last_reply_timeout
        self._unsent: deque[Outgoing] = deque()
        self._unanswered: deque[Outgoing] = deque()
        self._answers_errors = True
        self._closing = False

    def add(self, data: bytes, expected: ExpectedReply) -> None:
        """Queue a message; `flush` sends it."""
        replies = expected is ExpectedReply.DECISION or not self.only_when_asked
        self._unsent.append((data, expected if replies else None))

    def add_events(self, messages: Iterable[bytes]) -> None:
        """Queue messages that ask nothing, as `add` does with ExpectedReply.NONE."""
        expected = None if self.only_when_asked else ExpectedReply.NONE
        for data in messages:
            self._unsent.append((data, expected))

    def flush(self) -> None:
        """Send what can be sent now."""
        if not self._unsent and not self._closing:
            return
        ready = []
        while self._unsent and (self.only_when_asked or not self._unanswered):
            message = self._unsent.popleft()
            data, expected = message
            ready.append(data)
            if expected is not None:
                self._unanswered.append(message)
        if ready:
            self._transport.send(ready)
        if self._closing and not self._unsent:
            self._transport.close()

    def send_error(self, data: bytes) -> None:
        """Send an error immediately, ahead of queued messages."""
        self._transport.send([data])
        if self.only_when_asked:
            return
        if self._answers_errors:
            self._unanswered.append((b"", ExpectedReply.ERROR))
            self._start_error_timer()
        else:
            self.unanswered_errors += 1

    def reply_received(self) -> ExpectedReply | None:
        """Return the kind of reply expected from the message just received; None if no message waits for a reply."""
        if not self._unanswered:
            return None
        _, expected = self._unanswered.popleft()
        if self._unanswered:
            self._start_error_timer()
        return expected

    def none_received(self) -> bool:
        """Take `none` as the reply to the one message on its way, if that asks nothing, and send the next.

        That is the usual case, and cheaper than `reply_received` and `flush`. Returns False, having done nothing, in
        any other.
        """
        unanswered, unsent = self._unanswered, self._unsent
        if len(unanswered) != 1 or unanswered[0][1] is not ExpectedReply.NONE or self._closing:
            return False
        if unsent:
            unanswered[0] = message = unsent.popleft()
            self._transport.send([message[0]])
        else:
            unanswered.clear()
        return True

    def decision_timed_out(self) -> None:
        """Ignore the reply to the open decision."""
        for queue in (self._unanswered, self._unsent):
            for index, (data, expected) in enumerate(queue):
                if expected is ExpectedReply.DECISION:
                    queue[index] = data, ExpectedReply.ANY

    def late_error_reply(self) -> None:
        """Note that the reply taken for the decision was to an earlier error: the decision is still to come."""
        self.unanswered_errors -= 1
        self._unanswered.appendleft((b"", ExpectedReply.DECISION))

    def close_when_sent(self) -> None:
        """Close the connection once all messages are sent."""
        self._closing = True
        self.flush()
        self._close_if_stalled()

    def _close_if_stalled(self, n_unsent_before: int | None = None) -> None:
        """While closing: if the bot has stopped replying, send the rest without waiting."""
        n_unsent = len(self._unsent)
        if n_unsent and n_unsent == n_unsent_before:
            self._transport.send([data for data, _ in self._unsent])
            self._transport.close()
        elif n_unsent:
            loop_clock().call_later(self._last_reply_timeout, self._close_if_stalled, n_unsent)

    def _start_error_timer(self) -> None:
        """If the next expected reply is to an error, limit the wait for it."""
        _, expected = self._unanswered[0]
        if expected is ExpectedReply.ERROR:
            loop_clock().call_later(
                self.error_reply_timeout,
                self._error_timed_out,
                self._unanswered[0],
                data_waits=lambda: self._transport.data_waits,
            )

    def _error_timed_out(self, error: Outgoing) -> None:
        if self._unanswered and self._unanswered[0] is error:
            self._answers_errors = False
            self.unanswered_errors += 1
            self.reply_received()
            self.flush()
