"""mjai over WebSocket: one JSON object a frame."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from engine.mjai.connection import MAX_MESSAGE
from server.line import LINGER, MAX_UNREAD, Welcome

TRY_AGAIN_LATER = 1013


class WebSocketLine:
    """A WebSocket as a `server.line.Line`."""

    def __init__(self, socket: WebSocket) -> None:
        self.address = socket.client.host if socket.client else ""
        self._socket = socket
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._wake = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None]
        self._reader: asyncio.Task[None] | None = asyncio.current_task()

    async def serve(self, welcome: Welcome) -> None:
        """Carry messages both ways until either side closes."""
        await self._socket.accept()
        self._writer = asyncio.create_task(self._write())
        listener = welcome(self)
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                text = message.get("text")
                data = message.get("bytes") or b"" if text is None else text.encode()
                if len(data) > MAX_MESSAGE:
                    listener.oversized()
                elif not self._closing:
                    listener.received(data)
        except asyncio.CancelledError:
            if not self._closing:  # not ours: the server stops
                raise
        finally:
            self._closing = True
            self._writer.cancel()
            listener.lost()

    async def _write(self) -> None:
        """Send what there is, in order; ends the connection when it is closed or broken."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._unsent:
                    data = self._unsent.popleft()
                    self._unsent_bytes -= len(data)
                    await self._socket.send_text(data.decode())
                if self._closing:
                    await self._socket.close()
                    return
        except (WebSocketDisconnect, RuntimeError):  # the peer is gone; the reader is told as well
            self._cut()

    def send(self, messages: Sequence[bytes]) -> None:
        """See `server.line.Line`."""
        if self._closing:
            return
        self._unsent.extend(messages)
        self._unsent_bytes += sum(map(len, messages))
        self._wake.set()
        if self._unsent_bytes > MAX_UNREAD:
            self._unsent.clear()
            self._cut()

    def close(self) -> None:
        """See `server.line.Line`."""
        if not self._closing:
            self._closing = True
            self._wake.set()
            asyncio.get_running_loop().call_later(LINGER, self._cut)

    def _cut(self) -> None:
        """End the connection at once, whatever the peer has not read."""
        self._closing = True
        if self._reader is not None and self._socket.client_state != WebSocketState.DISCONNECTED:
            self._reader.cancel()
