"""Accepts connections: a few in each iteration of the event loop, and within the limits of their addresses."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable

import structlog

from server.access import Access, AccessError, Admission

ACCEPTS = 4  # connections accepted in an iteration of the event loop; others wait in the backlog
FAILURE_PAUSE = 1.0  # seconds to pause after accepting has failed, as when descriptors run out
MAX_REFUSED = 8  # refused connections kept open until their peers have read the reason
log = structlog.get_logger("server.listener")


class Listener:
    """Accepts the connections of one listening socket. A refused one needs neither a transport nor a handler."""

    def __init__(
        self,
        listener: socket.socket,
        access: Access,
        make_protocol: Callable[[Admission], asyncio.BaseProtocol],
        refusal: Callable[[AccessError], bytes],
        proxies: bool,
    ) -> None:
        """Start accepting. `refusal` makes the reply to a refused peer; `proxies`: trusted proxies may connect here."""
        self._listener = listener
        self._access = access
        self._make_protocol = make_protocol
        self._refusal = refusal
        self._proxies = proxies
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._refused: deque[socket.socket] = deque()
        self._closed = False
        listener.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Stop accepting."""
        self._closed = True
        self._loop.remove_reader(self._listener)
        while self._refused:
            self._refused.popleft().close()

    def _listen(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        """Accept a few of the waiting connections."""
        for _ in range(ACCEPTS):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error("cannot accept connections", error=str(error), pause=FAILURE_PAUSE)
                self._loop.remove_reader(self._listener)
                self._loop.call_later(FAILURE_PAUSE, self._listen)
                return
            connection.setblocking(False)
            try:
                admission = self._access.admit(peer[0], self._proxies)
            except AccessError as error:
                self._refuse(connection, error)
            else:
                task = asyncio.create_task(self._open(connection, admission))
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket, admission: Admission) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._make_protocol(admission), connection)
        except BaseException as error:
            admission.release()
            connection.close()
            if not isinstance(error, OSError):  # else the peer is gone
                raise

    def _refuse(self, connection: socket.socket, error: AccessError) -> None:
        """Send the reason. Closing at once could discard the text before it is read, so a few stay open for a while."""
        try:
            connection.send(self._refusal(error))
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            connection.close()
            return
        self._refused.append(connection)
        if len(self._refused) > MAX_REFUSED:
            self._refused.popleft().close()
        self._loop.call_later(FAILURE_PAUSE, self._close_refused, connection)

    def _close_refused(self, connection: socket.socket) -> None:
        if connection in self._refused:
            self._refused.remove(connection)
            connection.close()
