"""mjai over WebSocket: one JSON object per frame."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.server import ServerState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.frames import apply_mask as unmask  # type: ignore[attr-defined]  # the one in C, where it is installed
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.streams import StreamReader

from engine.common.error_text import coded
from engine.mjai.bot_messages import NONE
from engine.mjai.connection import MAX_JOIN, MAX_MESSAGE
from server.access import AccessError, Admission, RateLimitError
from server.connection.base import MessageProtocol
from server.connection.inlet import BYTES_PER_UNIT
from server.fairness import FairQueue
from server.limits import Limits
from server.loop_clock import Timer, loop_clock
from server.ports import ConnectionHandler

CUT_OFF = 2  # times the limit: a message above the limit is a fault, one above this multiple closes the WebSocket
MAX_FRAME_BYTES = CUT_OFF * MAX_MESSAGE
SWITCHING_PROTOCOLS = 101
DATA_FRAMES = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})
WEBSOCKETS_LOG = logging.getLogger("websockets.server")


@lru_cache(1024)  # most messages are sent to many
def text_frame(message: bytes) -> bytes:
    """Return the frame of a message; it is the same for all clients, as nothing is compressed or masked."""
    return Frame(Opcode.TEXT, message).serialize(mask=False)


HEAD_SIZE = 6  # bytes of a short masked frame before its payload: two, and the mask
MASKED_TEXT = text_frame(b"")[0]  # first byte of a frame that is a whole message
MASKED = 0x80  # added to the length of a payload in the second byte
SHORT = 125  # bytes; the length of a longer payload takes more bytes
NONE_SIZES = frozenset(HEAD_SIZE + len(message) for message in NONE)  # bytes of the frames of most replies


def whole_short_message(data: bytes) -> bytes | None:
    """Return the payload if the data is one short frame that is a whole text message, as most messages of bots are.

    They skip the library's parser: what that saves, `benchmarks.server` shows.
    """
    size = len(data) - HEAD_SIZE
    if 0 < size <= SHORT and data[0] == MASKED_TEXT and data[1] == MASKED | size:
        return unmask(data[HEAD_SIZE:], data[2:HEAD_SIZE])
    return None


class Reader(StreamReader):
    """A stream that knows whether its parser waits for the first byte of a frame."""

    between_frames = False

    def at_eof(self) -> Generator[None, None, bool]:
        """Return whether the stream has ended; the parser asks before each frame."""
        self.between_frames = True
        ended = yield from super().at_eof()
        self.between_frames = False
        return ended


class FrameProtocol(ServerProtocol):
    """A `ServerProtocol` that reads from a `Reader`."""

    reader: Reader

    def parse(self) -> Generator[None]:
        """Parse what is received; the constructor starts this."""
        self.reader = Reader()
        yield from super().parse()


class HandshakeError(Exception):
    """A handshake is refused, with the status of the response and one line of text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Door(Protocol):
    """The interface that answers handshakes."""

    fair_queue: FairQueue
    messages_per_second: float
    limits: Limits

    def open(self, request: Request, admission: Admission) -> Callable[[WebSocketConnection], ConnectionHandler]:
        """Return the handler for the connection that a request opens. Raises HandshakeError, AccessError."""
        ...


class WebSocketConnection(MessageProtocol):
    """A WebSocket; a `server.ports.Transport`. websockets' `ServerProtocol` parses and writes the frames (RFC 6455).

    uvicorn creates it when a client asks for an upgrade, and hands it the request.
    """

    pings = True

    def __init__(self, config: Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        door: Door = config.app.state.websockets  # type: ignore[union-attr]  # of `server.app`
        super().__init__(app_state["admission"], door.fair_queue, door.messages_per_second, door.limits)
        self._door = door
        self._connections = server_state.connections
        self._protocol = FrameProtocol(max_size=MAX_FRAME_BYTES, logger=WEBSOCKETS_LOG)
        self._opened = False  # and therefore has a handler
        self._fragments: list[bytes] = []  # of an incomplete message
        self._unfinished = 0  # bytes received of it, including frame headers and control frames
        self._heard = True  # whether anything was received since the last ping
        self._ping_timer: Timer | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    # Opening ----------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the handshake."""
        self._open(cast(asyncio.Transport, transport))
        self._transport.resume_reading()  # the HTTP connection may have paused it, and has nothing more to say
        self._connections.add(self)  # type: ignore[arg-type]  # so that `shutdown` is called

    def _answer_handshake(self, request: Request) -> None:
        """Open the connection, or refuse it."""
        try:
            connect = self._door.open(request, self._admission)
        except HandshakeError as error:
            self._refuse(error.status, str(error), {})
            return
        except AccessError as error:
            headers = {"Retry-After": str(error.retry_after)} if isinstance(error, RateLimitError) else {}
            self._refuse(error.status, error.text, headers)
            return
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        self._flush()
        if response.status_code != SWITCHING_PROTOCOLS:  # not a valid handshake
            return
        self.address = self._admission.address
        self._ping_timer = loop_clock().call_later(self._limits.ping_interval, self._ping)
        self._opened = True
        self._handler = connect(self)

    def _refuse(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        response = self._protocol.reject(status, json.dumps({"detail": text} | coded(text)))
        del response.headers["Content-Type"]
        for name, value in {"Content-Type": "application/json", **headers}.items():
            response.headers[name] = value
        self._protocol.send_response(response)
        self._flush()

    # Receiving --------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Note that the peer is there, and take the data."""
        self._heard = True
        super().data_received(data)

    def _is_none(self, data: bytes) -> bool:
        return len(data) in NONE_SIZES and self._between_messages and whole_short_message(data) in NONE

    @property
    def _between_messages(self) -> bool:
        """Whether what is received next begins a message, if the inlet is empty."""
        protocol = self._protocol
        return protocol.reader.between_frames and not self._fragments and protocol.state is OPEN

    def _parse(self, data: bytes) -> None:
        if self._between_messages and (message := whole_short_message(data)) is not None:
            if not self._handler.message_received(message):
                self._within_budget(1.0 + len(data) / BYTES_PER_UNIT)
            return
        if not self._within_budget(len(data) / BYTES_PER_UNIT):
            return
        self._protocol.receive_data(data)
        events = self._protocol.events_received()
        completed = False
        for event in events:
            if isinstance(event, Request):
                self._answer_handshake(event)
            elif self._within_budget(1.0) and not self._closing:
                completed |= self._handle_frame(cast(Frame, event))
        self._flush()  # pongs, and the reply to a close frame
        pending = bool(self._fragments) or not (events and self._protocol.reader.between_frames)
        self._message_pending(pending, completed)
        self._unfinished = self._unfinished + len(data) if pending and not completed else 0
        if self._unfinished and self._opened:
            self._limit_unfinished()

    def _limit_unfinished(self) -> None:
        """Close before a far too long message is complete; immediately, if a close frame is awaited."""
        if self._closing and self._unfinished > CUT_OFF * MAX_JOIN:
            self._transport.abort()
        elif not self._closing and self._unfinished > CUT_OFF * self._handler.max_message:
            self._handler.message_too_long()
            self.close()

    def _handle_frame(self, frame: Frame) -> bool:
        """Handle a frame; return whether it completes a message. `ServerProtocol` replies to control frames."""
        if frame.opcode not in DATA_FRAMES:
            return False
        data = bytes(frame.data)
        if self._fragments or not frame.fin:
            self._fragments.append(data)
            if not frame.fin:
                return False
            data = b"".join(self._fragments)
            self._fragments.clear()
        if len(data) > self._handler.max_message:
            self._handler.message_too_long()
        else:
            self._handle(data)
        return True

    def connection_lost(self, error: Exception | None) -> None:
        """Clean up, and tell the handler if there was one."""
        self._connections.discard(self)
        self._closed()
        self._protocol.parser.close()  # its frame holds the protocol: a cycle
        if self._ping_timer is not None:
            self._ping_timer.cancel()
        self._writable.set()
        if self._opened:
            self._handler.disconnected()
            del self._handler  # it holds this: a cycle

    def _ping(self) -> None:
        """Ask the peer whether it is still there; it is gone if it has sent nothing since the last time."""
        if not self._heard:
            self._transport.abort()
            return
        self._heard = False
        if self._is_open:
            self._protocol.send_ping(b"")
            self._flush()
        self._ping_timer = loop_clock().call_later(self._limits.ping_interval, self._ping)

    # Sending ----------------------------------------------------------------------------------------------------------

    def send(self, messages: Sequence[bytes]) -> None:
        """Send each message as a text frame."""
        if self._protocol.state is OPEN and not self._transport.is_closing():  # `_is_open`, without its call
            self._write(b"".join(map(text_frame, messages)))

    def send_frames(self, frames: bytes) -> None:
        """Send the output of `text_frame` for one or more messages; made once, it can be sent to many connections.

        It is written immediately, so that `writable` is up to date.
        """
        if self._is_open:
            self._write_now(frames)

    @property
    def writable(self) -> bool:
        """Whether the peer has received most of what was sent."""
        return self._writable.is_set()

    @property
    def _is_open(self) -> bool:
        """Whether frames may be sent: neither side has sent a close frame."""
        return self._protocol.state is OPEN and not self._transport.is_closing()

    def _flush(self) -> None:
        """Write the protocol's pending data; an empty part marks the end of the stream."""
        parts = self._protocol.data_to_send()
        if not parts or self._transport.is_closing():
            return
        self._write(b"".join(parts))
        if not parts[-1]:
            self._half_close()
        elif self._protocol.close_expected() and not self._closing:
            self._write_out()
            self._closing = True
            self._loop.call_later(self._limits.close_timeout, self._transport.abort)

    def close(self, code: int = CloseCode.NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a close frame; the connection ends when the peer has answered it."""
        if self._is_open:
            self._protocol.send_close(code, reason)
            self._flush()

    def shutdown(self) -> None:
        """Close because the server stops; uvicorn calls this."""
        self._write_out()
        self.close(CloseCode.SERVICE_RESTART)
        self._transport.close()

    async def drain(self) -> None:
        """Wait until the peer has received most of what was sent, or is gone."""
        await self._writable.wait()

    def pause_writing(self) -> None:
        """Note that the peer reads more slowly than it is sent to."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Note that the peer has read most of what was sent."""
        self._writable.set()
