"""The common base of both transports: limits on data that the peer sends, and on data that it does not read."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from engine.common.error_text import error_text
from server.access import Admission
from server.connection.inlet import BYTES_PER_UNIT, FREE_BYTES, Inlet, make_budget
from server.fairness import FairQueue
from server.limits import Limits
from server.loop_clock import Timer, loop_clock
from server.ports import MAX_UNSENT_BYTES, ConnectionHandler


class MessageProtocol(asyncio.Protocol):
    """Carries messages both ways; half of a `server.ports.Transport`. Its handler limits the length of received ones.

    A subclass parses received data, sends and closes. It sets `_handler` before data arrives.
    """

    _transport: asyncio.Transport
    _inlet: Inlet
    _handler: ConnectionHandler

    def __init__(self, admission: Admission, fair_queue: FairQueue, messages_per_second: float, limits: Limits) -> None:
        self.address = admission.address
        self._admission = admission
        self._fair_queue = fair_queue
        self._messages_per_second = messages_per_second
        self._limits = limits
        self._budget = make_budget(messages_per_second, limits.clock)
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._unwritten: list[bytes] = []  # sent, but not passed to the transport yet
        self._message_timer: Timer | None = None  # running while a message is incomplete

    def _open(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._inlet = Inlet(self._fair_queue, self._admission, transport, self._parse)

    def data_received(self, data: bytes) -> None:
        """Pass data to the inlet, but for replies that only let the next message go: to queue them would cost more."""
        waiting = self._inlet.queued or self._closing
        if waiting or not self._is_none(data) or not self._handler.none_received():
            self._inlet.receive(data)

    def _is_none(self, data: bytes) -> bool:
        """Whether the data is exactly one message, and that `none`, if the inlet is empty."""
        raise NotImplementedError

    def eof_received(self) -> bool:
        """Have all that was received parsed, and write what follows from it, before asyncio closes the connection."""
        self._inlet.finish()
        self._write_out()  # asyncio closes the transport if this returns False
        return False

    def _parse(self, data: bytes) -> None:
        """Parse the next slice of received data."""
        raise NotImplementedError

    def _within_budget(self, units: float) -> bool:
        """Spend some of the budget. If it is exhausted, the handler sends an error and closes the connection."""
        if self._budget.take(units):
            return True
        self._inlet.close()
        if not self._closing:
            text = (
                "more than {limit:g} messages or KiB a second that were not asked for "
                "(the server's setting messages_per_second)"
            )
            self._handler.close_with_error(error_text("too_many_messages", text, limit=self._messages_per_second))
        if not self._transport.is_closing():
            self._transport.pause_reading()  # at last: closing reads on
        return False

    @property
    def data_waits(self) -> bool:
        """Whether the inlet holds data that is not parsed yet."""
        return self._inlet.queued

    def _handle(self, message: bytes) -> None:
        """Handle a message that was paid for, and pay back a unit and up to FREE_BYTES of it if it was asked for.

        Its line end, the heads of its frames and further fragments stay paid. A whole short message that arrives alone
        takes another way, and costs nothing.
        """
        if self._handler.message_received(message):
            self._budget.put_back(1.0 + min(len(message), FREE_BYTES) / BYTES_PER_UNIT)

    def _message_pending(self, pending: bool, completed: bool) -> None:
        """Limit the time for an incomplete message; `completed`: a message before it was completed."""
        if self._message_timer is not None and (completed or not pending):
            self._message_timer.cancel()
            self._message_timer = None
        if pending and self._message_timer is None:
            self._message_timer = loop_clock().call_later(
                self._limits.message_timeout, self._message_timed_out, data_waits=lambda: self.data_waits
            )

    def _message_timed_out(self) -> None:
        if not self._closing:
            text = "a message was not complete within {seconds:g} seconds"
            self._handler.close_with_error(error_text("message_slow", text, seconds=self._limits.message_timeout))

    def _write(self, data: bytes) -> None:
        """Write once the work of this iteration is done, so that a waiting process is woken once for many writes."""
        if not self._unwritten:
            self._fair_queue.add_last(self._write_out)
        self._unwritten.append(data)

    def _write_out(self) -> None:
        """Write pending data."""
        data = b"".join(self._unwritten)
        self._unwritten.clear()
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
                self._transport.abort()

    def _write_now(self, data: bytes) -> None:
        """Write pending data, then this."""
        self._unwritten.append(data)
        self._write_out()

    def _half_close(self) -> None:
        """Stop sending, and discard what the peer still sends. Closing at once could discard data it has not read."""
        self._write_out()
        self._closing = True
        self._inlet.close()
        with suppress(OSError):  # the peer may already be gone
            self._transport.write_eof()
        if not self._transport.is_closing():
            self._transport.resume_reading()  # the inlet may have paused it, and the end of the peer would not be seen
        self._loop.call_later(self._limits.close_timeout, self._transport.abort)

    def _closed(self) -> None:
        """Clean up after the transport was closed. A slice of what was received before that is still handled."""
        self._inlet.finish()
        self._closing = True
        self._message_pending(False, False)
        self._inlet.close()
        self._admission.release()
