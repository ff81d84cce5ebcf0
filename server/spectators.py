"""The connections of spectators, which only receive a game."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import structlog
from websockets.frames import CloseCode

from engine.common.error_text import ErrorText, error_text
from engine.mjai.connection import MAX_JOIN
from server.addresses import limited_address
from server.connection.websocket import WebSocketConnection
from server.fairness import CpuLimiter
from server.loop_clock import loop_clock
from server.metrics import Metrics

BURST = 0.05  # seconds of work for spectators that may be done in one go
ONLY_LISTEN = error_text("only_listen", "spectators only listen")
log = structlog.get_logger("server.spectators")


class Spectator:
    """A connection that receives a game, one canonical mjai message per frame, then closes; a `ConnectionHandler`.

    A spectator that sends anything, or does not read, is disconnected.
    """

    max_message = MAX_JOIN  # anything it sends is refused

    def __init__(
        self,
        connection: WebSocketConnection,
        frames: AsyncIterator[bytes],
        cpu_limiter: CpuLimiter,
        metrics: Metrics,
        timeout: float,
        on_left: Callable[[], None],
    ) -> None:
        """Start sending `frames`, each in a turn of its address in `cpu_limiter`, so that no game is delayed.

        `timeout`: seconds that the peer has to receive most of what it was sent. `on_left` is called when it has left.
        """
        self._connection = connection
        self._frames = frames
        self._cpu_limiter = cpu_limiter
        self._party = limited_address(connection.address)
        self._metrics = metrics
        self._timeout = timeout
        self._on_left = on_left
        metrics.connections.inc()
        self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        try:
            async for frames in self._frames:
                await self._received()
                async with self._cpu_limiter.turn(self._party):
                    self._connection.send_frames(frames)
            await self._received()
        except Exception:
            log.exception("a game cannot be sent to a spectator")
            self._connection.close(CloseCode.INTERNAL_ERROR)
        else:
            self._connection.close()

    async def _received(self) -> None:
        """Wait until the peer has received most of the data sent; disconnect it if that takes too long."""
        timer = loop_clock().call_later(self._timeout, self._timed_out)
        try:
            await self._connection.drain()
        finally:
            timer.cancel()

    def _timed_out(self) -> None:
        log.info("spectator too slow")
        self._sending.cancel()
        self._connection.close()

    def message_received(self, data: bytes) -> bool:
        """Disconnect a spectator that sends anything."""
        self.close_with_error(ONLY_LISTEN)
        return False

    def none_received(self) -> bool:
        """Return False: a spectator is sent nothing that it has to reply to."""
        return False

    def message_too_long(self) -> None:
        """Disconnect a spectator that sends anything."""
        self.close_with_error(ONLY_LISTEN)

    def close_with_error(self, text: ErrorText) -> None:
        """Stop the game's messages and close the connection; the error is the reason in the close frame."""
        self._sending.cancel()
        self._connection.close(CloseCode.POLICY_VIOLATION, text)

    def disconnected(self) -> None:
        """Stop the game's messages: the spectator is gone."""
        self._metrics.connections.dec()
        self._sending.cancel()
        self._on_left()
