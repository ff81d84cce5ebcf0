"""A `none` that only lets the next message go takes a shorter way; what is sent is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from server.access import Admission
from server.connection.bot_connection import BotConnection
from server.connection.outbox import ExpectedReply, Outbox
from server.connection.tcp import TcpTransport
from server.fairness import FairQueue
from server.limits import LIMITS
from server.ports import Transport
from tests.server.test_inlet import Handler, OneParty, Written, busy_queue
from tests.server.test_short_frames import deliver, opened
from tests.support.websocket_frames import TEXT, frame

NONE = b'{"type":"none"}'
ADDED = (ExpectedReply.NONE, ExpectedReply.DECISION, ExpectedReply.ANY)


class Sent:
    """A transport that notes what is sent."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.data_waits = False

    def send(self, messages: Sequence[bytes]) -> None:
        self.messages += messages

    def close(self) -> None:
        self.messages.append(b"closed")


class Bot:
    """An outbox, and what it sends to a bot that replies `none` to everything."""

    def __init__(self, short_way: bool, only_when_asked: bool) -> None:
        self.sent = Sent()
        self.replies: list[ExpectedReply | None] = []
        self._outbox = Outbox(cast(Transport, self.sent), 1.0)
        self._outbox.only_when_asked = only_when_asked
        self._short_way = short_way

    def do(self, step: str | ExpectedReply, data: bytes) -> None:
        if isinstance(step, ExpectedReply):
            self._outbox.add(data, step)
            self._outbox.flush()
        elif step == "events":
            self._outbox.add_events([data, data + b"2"])
            self._outbox.flush()
        elif step == "error":
            self._outbox.send_error(data)
        elif step == "late":
            self._outbox.decision_timed_out()
        elif step == "close":
            self._outbox.close_when_sent()
        elif self._short_way and self._outbox.none_received():
            self.replies.append(ExpectedReply.NONE)
        else:
            self.replies.append(self._outbox.reply_received())
            self._outbox.flush()


OFTEN = ["events", "none", "none"]
STEPS = st.lists(st.sampled_from([*OFTEN, *ADDED, "error", "late", "close"]), min_size=20, max_size=40)


@given(STEPS, st.booleans())
def test_the_short_way_sends_what_the_long_one_does(steps: list[str | ExpectedReply], only_when_asked: bool) -> None:
    async def run() -> None:
        short, long = Bot(True, only_when_asked), Bot(False, only_when_asked)
        for number, step in enumerate(steps):
            for bot in (short, long):
                bot.do(step, b"%d" % number)
            assert (short.sent.messages, short.replies) == (long.sent.messages, long.replies)

    asyncio.run(run())


async def test_a_reply_to_an_error_that_waits_to_be_parsed_is_not_missing() -> None:
    sent = Sent()
    outbox = Outbox(cast(Transport, sent), 1.0)
    outbox.error_reply_timeout = 0.01
    sent.data_waits = True
    outbox.send_error(b"error")
    await asyncio.sleep(0.1)  # a timer fires 0.01 s after its time, unless data waits
    assert outbox.reply_received() is ExpectedReply.ERROR


class ShortWayHandler(Handler):
    """Takes every `none` the short way."""

    def none_received(self) -> bool:
        self.told.append(b"short")
        return True

    def message_too_long(self) -> None:
        self.told.append(b"too long")


def connect(handler: Handler, queue: FairQueue) -> TcpTransport:
    """A connection that may send as much as it likes."""
    connection = TcpTransport(
        cast(Admission, OneParty()), queue, 1e6, LIMITS, lambda transport: cast(BotConnection, handler)
    )
    connection.connection_made(cast(asyncio.Transport, Written()))
    return connection


async def parsed(*pieces: bytes) -> list[bytes]:
    """What the handler of a TCP connection is told of pieces that arrive one after the other."""
    handler = ShortWayHandler()
    connection = connect(handler, FairQueue(lambda: 0.0))  # which always has time
    await deliver(connection, pieces)
    return handler.told


async def test_only_a_whole_line_takes_the_short_way() -> None:
    line = NONE + b"\n"
    assert await parsed(line, line) == [b"short", b"short"]
    assert await parsed(line + line) == [NONE, NONE]
    assert await parsed(b'{"type":"hint"', line) == [b'{"type":"hint"' + NONE]
    assert await parsed(b"x" * 1024, line, line) == [b"too long", b"short"]  # the first line is the end of the long one


async def test_what_waits_is_parsed_before_a_none_that_comes_after_it() -> None:
    handler = ShortWayHandler()
    connection = connect(handler, busy_queue())
    connection.data_received(b'{"type":"hint"}\n')
    connection.data_received(NONE + b"\n")
    await asyncio.sleep(0.01)
    assert handler.told == [b'{"type":"hint"}', NONE]


async def told(*chunks: bytes) -> list[bytes]:
    """What the handler of a WebSocket is told of chunks that arrive one after the other."""
    handler = ShortWayHandler()
    connection = opened(handler, Written())
    await deliver(connection, chunks)
    return handler.told


async def test_only_a_whole_frame_takes_the_short_way() -> None:
    reply, other = frame(TEXT, NONE), frame(TEXT, NONE.replace(b"none", b"nope"))
    assert await told(reply, reply, other) == [b"short", b"short", NONE.replace(b"none", b"nope")]
    assert await told(reply + reply) == [NONE, NONE]
    assert await told(reply[:10], reply[10:], reply) == [NONE, b"short"]
    assert await told(frame(TEXT, b"a", final=False), reply) == []  # an error, as between all fragments
    assert await told(frame(TEXT, reply)[:6], reply, reply) == [reply, b"short"]  # the first is the payload of another


async def test_a_none_after_a_closing_handshake_is_not_taken() -> None:
    handler = ShortWayHandler()
    connection = opened(handler, Written())
    connection.close()
    connection.data_received(frame(TEXT, NONE))
    assert handler.told == []


async def test_a_closed_connection_takes_no_more_replies() -> None:
    handler = ShortWayHandler()
    connection = connect(handler, FairQueue())
    connection.close()
    connection.data_received(NONE + b"\n")
    assert handler.told == []
