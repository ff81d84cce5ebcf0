"""mjai over WebSocket: one JSON object a frame."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from engine.mjai.connection import MAX_MESSAGE
from server.ports import CLOSE_TIMEOUT, MAX_UNSENT_BYTES, Connect


class WebSocketTransport:
    """A WebSocket; a `server.ports.Transport`."""

    pings = True

    def __init__(self, socket: WebSocket) -> None:
        """To be created in the task that calls `serve`."""
        self.address = socket.client.host if socket.client else ""
        self._socket = socket
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._wake_writer = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None]
        self._reader: asyncio.Task[None] | None = asyncio.current_task()

    async def serve(self, connect: Connect) -> None:
        """Carry messages both ways until either side closes."""
        await self._socket.accept()
        self._writer = asyncio.create_task(self._write())
        handler = connect(self)
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                text = message.get("text")
                data = message.get("bytes") or b"" if text is None else text.encode()
                if len(data) > MAX_MESSAGE:
                    handler.message_too_long()
                elif not self._closing:
                    handler.message_received(data)
        except asyncio.CancelledError:
            if not self._closing:  # cancelled from outside: the server stops
                raise
        finally:
            self._closing = True
            self._writer.cancel()
            handler.disconnected()

    async def _write(self) -> None:
        """Send queued messages in order until the connection is closed or broken."""
        try:
            while True:
                await self._wake_writer.wait()
                self._wake_writer.clear()
                while self._unsent:
                    data = self._unsent.popleft()
                    self._unsent_bytes -= len(data)
                    await self._socket.send_text(data.decode())
                if self._closing:
                    await self._socket.close()
                    return
        except (WebSocketDisconnect, RuntimeError):  # the peer is gone
            self._abort()

    def send(self, messages: Sequence[bytes]) -> None:
        """See `server.ports.Transport`."""
        if self._closing:
            return
        self._unsent.extend(messages)
        self._unsent_bytes += sum(map(len, messages))
        self._wake_writer.set()
        if self._unsent_bytes > MAX_UNSENT_BYTES:
            self._unsent.clear()
            self._abort()

    def close(self) -> None:
        """See `server.ports.Transport`."""
        if not self._closing:
            self._closing = True
            self._wake_writer.set()
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, self._abort)

    def _abort(self) -> None:
        """Close the connection at once, whatever the peer has not read."""
        self._closing = True
        if self._reader is not None and self._socket.client_state != WebSocketState.DISCONNECTED:
            self._reader.cancel()
