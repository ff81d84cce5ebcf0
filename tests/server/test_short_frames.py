"""WebSocket messages are the same however their bytes are cut: short whole frames do not pass the library's parser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from uvicorn.config import Config
from uvicorn.server import ServerState

from server.connection import websocket
from server.connection.base import MessageProtocol
from server.connection.websocket import WebSocketConnection
from server.fairness import FairQueue
from server.limits import LIMITS
from tests.server.test_inlet import Handler, OneParty, Written
from tests.support.websocket_frames import CONTINUATION, PING, TEXT, frame, upgrade_request

INNER = frame(TEXT, b"not a message")
# The frame of a message, and its parts if it is fragmented; None: a ping.
MESSAGES = st.lists(st.none() | st.tuples(st.binary(max_size=200), st.integers(1, 3)), max_size=8)


def opened(handler: Handler, transport: Written) -> WebSocketConnection:
    """A connection after its handshake, in an event loop that always has time."""
    door = SimpleNamespace(
        fair_queue=FairQueue(lambda: 0.0),
        messages_per_second=1e6,
        limits=LIMITS,
        open=lambda request, admission: lambda connection: handler,
    )
    config = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(websockets=door)))
    state = cast(ServerState, SimpleNamespace(connections=set()))
    connection = WebSocketConnection(cast(Config, config), state, {"admission": OneParty()})
    connection.connection_made(cast(asyncio.Transport, transport))
    connection.data_received(upgrade_request("/mjai"))
    return connection


def stream(messages: list[tuple[bytes, int] | None]) -> bytes:
    """The frames of messages in so many fragments, with pings between them."""
    frames = []
    for message in messages:
        if message is None:
            frames.append(frame(PING, b"?"))
            continue
        payload, fragments = message
        part = len(payload) // fragments + 1
        for index in range(fragments):
            last = index == fragments - 1
            piece = payload[index * part : (index + 1) * part]
            frames.append(frame(CONTINUATION if index else TEXT, piece, final=last))
    return b"".join(frames)


async def deliver(connection: MessageProtocol, chunks: Iterable[bytes]) -> None:
    """Let chunks arrive one after the other, each once the one before is parsed."""
    for chunk in chunks:
        connection.data_received(chunk)
        while connection.data_waits:
            await asyncio.sleep(0)


async def received(chunks: list[bytes]) -> list[bytes]:
    """The messages that a handler is told when these bytes arrive one after the other."""
    handler = Handler()
    connection = opened(handler, Written())
    await deliver(connection, chunks)
    connection.connection_lost(None)
    return handler.told[:-1]


@given(messages=MESSAGES, cuts=st.lists(st.integers(0, 800), max_size=12))
@example(messages=[(INNER, 1)], cuts=[len(frame(TEXT, INNER)) - len(INNER)])
@example(messages=[(INNER, 2), (b"next", 1)], cuts=[6, 19])
@example(messages=[(b"first", 1), (INNER, 1)], cuts=[13])
def test_messages_are_the_same_however_their_bytes_are_cut(
    messages: list[tuple[bytes, int] | None], cuts: list[int]
) -> None:
    data = stream(messages)
    at = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    chunks = [data[start:end] for start, end in pairwise(at)]
    assert asyncio.run(received(chunks)) == [message[0] for message in messages if message is not None]


def test_a_whole_message_between_the_fragments_of_another_is_an_error() -> None:
    chunks = [frame(TEXT, b"a", final=False), frame(TEXT, b"b"), frame(CONTINUATION, b"c")]
    assert asyncio.run(received(chunks)) == []


def test_a_frame_that_is_short_and_whole_does_not_pass_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser takes most of the time of a message."""
    parsed: list[bytes] = []
    receive_data = websocket.FrameProtocol.receive_data

    def count(self: Any, data: bytes) -> None:
        parsed.append(data)
        receive_data(self, data)

    monkeypatch.setattr(websocket.FrameProtocol, "receive_data", count)
    short, longer = frame(TEXT, b"x" * 125), frame(TEXT, b"x" * 126)
    assert asyncio.run(received([short, longer, short])) == [b"x" * 125, b"x" * 126, b"x" * 125]
    assert parsed[1:] == [longer]  # after the handshake


async def test_a_connection_that_http_has_paused_is_read() -> None:
    """A head that comes in two pieces, while the event loop is busy, pauses it."""
    transport = Written()
    transport.reading = False
    opened(Handler(), transport)
    assert transport.reading
