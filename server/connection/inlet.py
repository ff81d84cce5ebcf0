"""The path of received data to the parser: in slices, and within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from server.access import Admission, RateLimiter
from server.fairness import FairQueue

SLICE = 512  # bytes parsed at a time; 500 lines or 85 frames fit
BYTES_PER_UNIT = 1024  # of the budget
FREE_BYTES = 4096  # of a requested reply: as many as annotations need
BURST = 20.0  # seconds' worth of budget that may be used at once
MAX_WAITING = 262_144  # bytes waiting to be parsed; above this the connection is aborted


def make_budget(per_second: float, clock: Callable[[], float]) -> RateLimiter:
    """Return the budget for the data that one connection sends: a unit for each line or frame, and for each KiB."""
    return RateLimiter(per_second, per_second * BURST, clock)


def _discard(data: bytes) -> None:
    """Do nothing with received data."""


class Inlet:
    """Passes received data to a parser in slices.

    The transport is not read while more waits for its turn than one short piece. Bots send one message at a time, and
    to pause and resume at each would cost system calls.
    """

    def __init__(
        self, fair_queue: FairQueue, admission: Admission, transport: asyncio.Transport, parse: Callable[[bytes], None]
    ) -> None:
        """Connections of the same address share the turns of one party."""
        self._fair_queue = fair_queue
        self._admission = admission
        self._transport = transport
        self._parse = parse
        self._waiting = bytearray()
        self.queued = False  # whether received data waits to be parsed
        self._held = False
        self._paused = False  # whether this has paused the transport
        self._closed = False

    def receive(self, data: bytes) -> None:
        """Take data that the transport has received."""
        if self._closed:
            return
        if not self.queued and not self._held and len(data) <= SLICE and self._fair_queue.has_time():
            self._parse(data)
            return
        if self.queued or len(data) > SLICE:
            self._pause_reading()
        self._waiting += data
        if len(self._waiting) > MAX_WAITING:
            self.close()
            self._transport.abort()
        elif not (self.queued or self._held):
            self.queued = True
            self._fair_queue.add(self._admission.party, self._parse_slice)

    def finish(self) -> None:
        """Parse a slice of what waits, as no more is coming. More waits only after a reset, and is lost."""
        if self.queued:
            try:
                self._parse_slice()
            except Exception as error:  # the connection must still be cleaned up
                asyncio.get_running_loop().call_exception_handler({"message": "work failed", "exception": error})

    def hold(self) -> None:
        """Stop parsing until `release`: the consumer of the parsed data cannot take more."""
        self._held = True
        self._pause_reading()

    def release(self) -> None:
        """Resume parsing."""
        self._held = False
        if self.queued:
            return
        if self._waiting:
            self.queued = True
            self._fair_queue.add(self._admission.party, self._parse_slice)
        elif self._paused:
            self._resume_reading()

    def _pause_reading(self) -> None:
        self._paused = True
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        self._paused = False
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Discard waiting data and anything received later."""
        self._closed = True
        self._waiting.clear()
        self._parse = _discard  # breaks the reference cycle with the connection

    def _parse_slice(self) -> bool:
        """Parse the next slice. Returns whether more data waits."""
        data = bytes(self._waiting[:SLICE])  # empty if closed meanwhile
        del self._waiting[:SLICE]
        try:
            if data:
                self._parse(data)
        except Exception:  # otherwise the socket would stay paused and open
            self.close()
            self._transport.abort()
            raise
        if self._waiting and not self._held:
            return True
        self.queued = False
        if self._paused and not self._held and not self._closed:
            self._resume_reading()
        return False
