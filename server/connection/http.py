"""HTTP connections: uvicorn's, with limits on what the peer sends and on the time it takes."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from server.access import Admission, RateLimiter
from server.connection.inlet import BYTES_PER_UNIT, Inlet, make_budget
from server.fairness import FairQueue
from server.limits import Limits
from server.loop_clock import Timer, loop_clock

MAX_HEAD = 16_384  # bytes of a request without its body
MAX_UNREAD = 8192  # bytes of a body parsed before the app asks for more
BYTES_PER_SECOND = 65_536  # that a connection may send on average; bursts of 20 times as many exceed the longest body
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BodyFlow(FlowControl):
    """uvicorn's flow control, applied to the inlet, as the transport is paused and resumed only by the inlet."""

    def __init__(self, transport: asyncio.Transport, inlet: Inlet) -> None:
        super().__init__(transport)
        self._inlet = inlet

    def pause_reading(self) -> None:
        """Hold the inlet: the app has not asked for the data parsed."""
        if not self.read_paused:
            self.read_paused = True
            self._inlet.hold()

    def resume_reading(self) -> None:
        """Release the inlet: the app asks for more, or has answered."""
        if self.read_paused:
            self.read_paused = False
            self._inlet.release()


class HttpConnection(H11Protocol):
    """An HTTP/1.1 connection. On the client's request it becomes a `WebSocketConnection` with the same admission."""

    def __init__(
        self, config: Config, server_state: ServerState, admission: Admission, fair_queue: FairQueue, limits: Limits
    ) -> None:
        app_state: dict[str, Any] = {"admission": admission}  # uvicorn passes it on to requests and WebSockets
        super().__init__(config, server_state, app_state)
        self._admission = admission
        self._fair_queue = fair_queue
        self._limits = limits
        self._budget = self._new_budget()
        self._inlet: Inlet
        self._request_timer: Timer | None = None
        self._response_timer: Timer | None = None

    def _new_budget(self) -> RateLimiter:
        return make_budget(BYTES_PER_SECOND / BYTES_PER_UNIT, self._limits.clock)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass the peer's data through an inlet from now on, and limit the time for a request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self.transport.set_write_buffer_limits(high=0)  # `pause_writing` as soon as anything waits to be sent
        self.client = (self._admission.address, 0)
        self._inlet = Inlet(self._fair_queue, self._admission, self.transport, self._parse)
        self.flow = BodyFlow(self.transport, self._inlet)
        self._limit_time()

    def data_received(self, data: bytes) -> None:
        """Pass data to the inlet, which has it parsed in slices."""
        self._inlet.receive(data)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Close after the answer to the request in progress; return whether there is one."""
        self._inlet.finish()
        if self.cycle is None or self.cycle.response_complete:
            return False
        self.shutdown()  # after the response
        return True

    def _parse(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if not self._budget.take(1.0 + len(data) / BYTES_PER_UNIT):
            self._inlet.close()
            self.transport.abort()
            return
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # a WebSocket now
            self._inlet.close()
            self._stop_timers()
            self.transport.set_write_buffer_limits()
            return
        if self.conn.their_state is h11.SEND_BODY and any(name == b"transfer-encoding" for name, _ in self.headers):
            self._inlet.close()  # the app refuses the request; parsing tiny chunks would cost more
        if self.conn.their_state is h11.SEND_BODY and self.cycle is not None and len(self.cycle.body) > MAX_UNREAD:
            self.flow.pause_reading()
        if self.conn.their_state is h11.DONE:  # the limit is for one request
            self._budget = self._new_budget()
        if self.conn.their_state is h11.DONE and self.conn.trailing_data[0]:  # pipelining, which hardly any client uses
            self._inlet.close()
            self.shutdown()  # after the response
        self._limit_time()

    def pause_writing(self) -> None:
        """Limit the time in which the peer must read the response."""
        super().pause_writing()
        self._response_timer = loop_clock().call_later(self._limits.response_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Lift the limit: the peer has read the response so far."""
        super().resume_writing()
        self._stop_response_timer()

    def _limit_time(self) -> None:
        """Limit the time until the rest of a request has arrived."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_request_timer()
        elif self._request_timer is None:
            self._request_timer = loop_clock().call_later(self._limits.request_timeout, self._request_timed_out)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _stop_response_timer(self) -> None:
        if self._response_timer is not None:
            self._response_timer.cancel()
            self._response_timer = None

    def _stop_timers(self) -> None:
        self._stop_request_timer()
        self._stop_response_timer()

    def _request_timed_out(self) -> None:
        if not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write(TIMED_OUT)
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """Stop the timers and give the admission back."""
        self._stop_timers()
        self._inlet.close()
        self._admission.release()
        super().connection_lost(error)
