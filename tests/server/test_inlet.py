"""Received data on its way to the parser."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from server.access import Admission
from server.connection.bot_connection import BotConnection
from server.connection.inlet import SLICE, Inlet
from server.connection.tcp import TcpTransport
from server.fairness import FairQueue
from server.limits import LIMITS, Limits


class Transport:
    """Notes whether it is read."""

    def __init__(self) -> None:
        self.reading, self.pauses = True, 0

    def get_extra_info(self, name: str) -> Transport:
        return self

    def setsockopt(self, *option: int) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def is_reading(self) -> bool:
        return self.reading

    def abort(self) -> None:
        pass

    def pause_reading(self) -> None:
        self.reading = False
        self.pauses += 1

    def resume_reading(self) -> None:
        self.reading = True


class Written(Transport):
    """Takes what the connection writes."""

    def write(self, data: bytes) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def write_eof(self) -> None:
        pass


class OneParty:
    """The admission of an inlet: all of them belong to one party."""

    address = party = "127.0.0.1"

    def release(self) -> None:
        pass


class Handler:
    """Notes what it is told."""

    max_message = 1000

    def __init__(self) -> None:
        self.told: list[bytes] = []

    def message_received(self, data: bytes) -> bool:
        self.told.append(data)
        return True

    def close_with_error(self, text: str) -> None:
        self.told.append(text.encode())

    def disconnected(self) -> None:
        self.told.append(b"gone")


class Received:
    """An inlet, its transport and what was parsed."""

    def __init__(self, fair_queue: FairQueue) -> None:
        self.transport = Transport()
        self.parsed: list[bytes] = []
        self.inlet = Inlet(
            fair_queue, cast(Admission, OneParty()), cast(asyncio.Transport, self.transport), self.parsed.append
        )


def busy_queue() -> FairQueue:
    """A queue whose time is used up in this iteration of the loop."""
    queue = FairQueue()
    queue.add("another", lambda: False)
    queue.has_time()  # the first work of an iteration is always done
    return queue


async def test_a_short_message_waits_without_a_pause_and_what_comes_behind_it_pauses_the_transport() -> None:
    received = Received(busy_queue())
    received.inlet.receive(b"a")
    assert (received.parsed, received.inlet.queued, received.transport.pauses) == ([], True, 0)
    received.inlet.receive(b"b")
    assert (received.parsed, received.transport.reading) == ([], False)
    await asyncio.sleep(0.01)
    assert (received.parsed, received.transport.reading, received.inlet.queued) == ([b"ab"], True, False)


@pytest.mark.parametrize("busy", [False, True])
async def test_a_transport_is_not_read_while_more_than_a_slice_waits(busy: bool) -> None:
    received = Received(busy_queue() if busy else FairQueue())
    data = bytes(range(256)) * (SLICE // 256) + b"rest"
    received.inlet.receive(data)
    assert (received.parsed, received.transport.reading) == ([], False)
    await asyncio.sleep(0.01)
    assert received.parsed == [data[:SLICE], b"rest"]
    assert received.transport.reading


async def test_what_waits_at_the_end_of_the_stream_is_parsed_once() -> None:
    received = Received(busy_queue())
    received.inlet.receive(b"last")
    received.inlet.finish()
    assert received.parsed == [b"last"]
    await asyncio.sleep(0.01)
    received.inlet.finish()
    assert received.parsed == [b"last"]


def connected(handler: Handler, queue: FairQueue | None = None, limits: Limits = LIMITS) -> TcpTransport:
    """A connection to a busy server."""
    connection = TcpTransport(
        cast(Admission, OneParty()),
        queue or busy_queue(),
        100.0,
        limits,
        lambda transport: cast(BotConnection, handler),
    )
    connection.connection_made(cast(asyncio.Transport, Written()))
    return connection


async def test_what_came_before_the_connection_was_reset_is_handled() -> None:
    handler = Handler()
    connection = connected(handler)
    connection.data_received(b'{"type":"leave"}\n')
    assert handler.told == []
    connection.connection_lost(ConnectionResetError())
    assert handler.told == [b'{"type":"leave"}', b"gone"]


async def test_a_connection_is_cleaned_up_although_what_waited_failed() -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context["exception"]))
    handler, error = Handler(), ValueError("oops")

    def fail(data: bytes) -> None:
        raise error

    handler.message_received = fail  # type: ignore[method-assign]
    connection = connected(handler)
    connection.data_received(b"{}\n")
    connection.connection_lost(ConnectionResetError())
    assert (reported, handler.told) == ([error], [b"gone"])


async def test_a_message_whose_end_waits_to_be_parsed_is_not_slow() -> None:
    """However long the work of others takes."""
    queue, handler = FairQueue(), Handler()
    connection = connected(handler, queue, Limits(message_timeout=0.01))
    connection.data_received(b'{"type":')
    queue.has_time = lambda: False  # type: ignore[method-assign]
    queue.add = lambda party, work: None  # type: ignore[method-assign]
    connection.data_received(b'"none"}\n')
    await asyncio.sleep(0.1)  # a timer fires 0.01 s after its time, unless data waits
    assert handler.told == []
    connection._inlet.finish()
    assert handler.told == [b'{"type":"none"}']


async def test_a_peer_that_sends_too_much_is_not_read_any_more() -> None:
    handler = Handler()
    connection = connected(handler, limits=Limits(clock=lambda: 0.0))
    handler.message_received = lambda data: False  # type: ignore[method-assign]  # it was not asked for
    handler.close_with_error = lambda text: connection.close()  # type: ignore[method-assign]
    connection.data_received(b"{}\n" * 2001)
    while connection.data_waits:
        await asyncio.sleep(0)
    assert connection._closing
    assert not cast(Written, connection._transport).reading
