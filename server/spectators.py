"""Games for spectators: every round, all hands open, once it is over and a while has passed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import structlog
from pydantic_core import to_json
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.history import History

if TYPE_CHECKING:
    from server.sitting import Sitting

PATIENCE = 30.0  # seconds a spectator has to take a round
SLICE = 16  # messages sent in one go
POLICY_VIOLATED = 1008  # reason to close a WebSocket
REMARK = b',"ext_bot":'  # the last key of a line; within a string its quotes would be escaped
log = structlog.get_logger("server.spectators")


class Broadcast:
    """What spectators may see of one game. Every spectator reads the game's history at a pace of its own."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.over = False
        self._delay = sitting.start.settings.spectator_delay
        self._loop = asyncio.get_running_loop()
        self._rounds: list[tuple[float, list[int]]] = [(0.0, sitting.game.scores)]  # shown from when on, scores then
        self._news = asyncio.Event()

    def round_over(self) -> None:
        """A round has ended and is in the history."""
        self._rounds.append((self._loop.time() + self._delay, self.sitting.game.scores))
        self._tell()

    def game_over(self) -> None:
        """The end of the game is announced."""
        self.over = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def shown(self) -> tuple[int, list[int]]:
        """How many rounds spectators have seen by now, and the scores then."""
        now = self._loop.time()
        rounds = sum(shown <= now for shown, _ in self._rounds) - 1
        return rounds, self._rounds[rounds][1]

    async def parts(self) -> AsyncIterator[list[str]]:
        """The messages of each round as soon as it may be seen, the first with ``start_game``; then ``end_game``."""
        number = 0
        while True:
            number += 1
            while number == len(self._rounds) and not self.over:
                await self._news.wait()
            if number == len(self._rounds):
                yield [to_json(self.sitting.end_game).decode()]
                return
            await asyncio.sleep(self._rounds[number][0] - self._loop.time())
            yield await asyncio.to_thread(public_lines, self.sitting.history, number - 1)


def public_lines(history: History, number: int) -> list[str]:
    """The messages of a finished round, without what bots remarked to themselves."""
    return [
        line.decode() if not remark else line.decode() + "}"
        for line, remark, _ in (line.partition(REMARK) for line in history.round_lines(number))
    ]


class Turns:
    """Lets spectators go on one after the other, so that games go on in between."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        """Wait for a turn; it lasts until the next `await`."""
        async with self._lock:
            await asyncio.sleep(0)


async def watch(socket: WebSocket, broadcast: Broadcast, turns: Turns) -> None:
    """Send a spectator the game: canonical mjai messages, one a frame, then close.

    A spectator only listens; one that speaks is sent away, one that does not take a round within PATIENCE is cut off.
    """
    await socket.accept()
    sending = asyncio.create_task(_send(socket, broadcast, turns))
    hearing = asyncio.create_task(socket.receive())
    try:
        await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done() and hearing.result()["type"] == "websocket.receive":
            sending.cancel()
            async with asyncio.timeout(PATIENCE):
                await socket.close(POLICY_VIOLATED, "spectators only listen")
    except (TimeoutError, WebSocketDisconnect):
        pass
    finally:
        sending.cancel()
        hearing.cancel()


async def _send(socket: WebSocket, broadcast: Broadcast, turns: Turns) -> None:
    try:
        async for lines in broadcast.parts():
            async with asyncio.timeout(PATIENCE):
                for first in range(0, len(lines), SLICE):
                    await turns.wait()
                    for line in lines[first : first + SLICE]:
                        await socket.send_text(line)
        await socket.close()
    except TimeoutError:
        log.info("spectator too slow", game=broadcast.sitting.id)
    except WebSocketDisconnect:
        pass
