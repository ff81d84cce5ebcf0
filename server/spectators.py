"""Games for spectators: each round, all hands open, once it is over and the room's delay has passed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import structlog
from pydantic_core import to_json
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.game.history import History
from server.game.live_game import LiveGame

SEND_TIMEOUT = 30.0  # seconds a spectator has to receive a round
BATCH = 16  # messages sent before other tasks get their turn
POLICY_VIOLATION = 1008  # WebSocket close code
ANNOTATION = b',"ext_bot":'  # the last key of a line; inside a string its quotes would be escaped
log = structlog.get_logger("server.spectators")


class Broadcast:
    """What spectators may see of one game. Each spectator reads the game's history at its own pace."""

    def __init__(self, game: LiveGame) -> None:
        self.game = game
        self.over = False
        self._delay = game.start.settings.spectator_delay
        self._loop = asyncio.get_running_loop()
        self._rounds: list[tuple[float, list[int]]] = [(0.0, game.engine.scores)]  # loop time from which on, scores
        self._changed = asyncio.Event()

    def round_over(self) -> None:
        """A round has ended and is in the history."""
        self._rounds.append((self._loop.time() + self._delay, self.game.engine.scores))
        self._notify()

    def game_over(self) -> None:
        """The end of the game is announced."""
        self.over = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def shown(self) -> tuple[int, list[int]]:
        """The number of rounds that spectators may have seen by now, and the scores after them."""
        now = self._loop.time()
        rounds = sum(visible_from <= now for visible_from, _ in self._rounds) - 1
        return rounds, self._rounds[rounds][1]

    async def rounds(self) -> AsyncIterator[list[str]]:
        """The messages of each round as soon as it may be seen, the first with ``start_game``; then ``end_game``."""
        number = 0
        while True:
            number += 1
            while number == len(self._rounds) and not self.over:
                await self._changed.wait()
            if number == len(self._rounds):
                yield [to_json(self.game.end_game).decode()]
                return
            await asyncio.sleep(self._rounds[number][0] - self._loop.time())
            yield await asyncio.to_thread(public_lines, self.game.history, number - 1)


def public_lines(history: History, number: int) -> list[str]:
    """The messages of a finished round, without the bots' annotations."""
    return [
        line.decode() if not annotation else line.decode() + "}"
        for line, annotation, _ in (line.partition(ANNOTATION) for line in history.round_lines(number))
    ]


class SendThrottle:
    """Lets one spectator send at a time, and runs all other tasks in between, so that games are not delayed."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        """Wait for a turn; it lasts until the next `await`."""
        async with self._lock:
            await asyncio.sleep(0)


async def watch(socket: WebSocket, broadcast: Broadcast, throttle: SendThrottle) -> None:
    """Send the game to a spectator: canonical mjai messages, one a frame; then close.

    A spectator that sends anything, or does not receive a round within SEND_TIMEOUT, is disconnected.
    """
    await socket.accept()
    sending = asyncio.create_task(_send(socket, broadcast, throttle))
    receiving = asyncio.create_task(socket.receive())
    try:
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done() and receiving.result()["type"] == "websocket.receive":
            sending.cancel()
            async with asyncio.timeout(SEND_TIMEOUT):
                await socket.close(POLICY_VIOLATION, "spectators only listen")
    except (TimeoutError, WebSocketDisconnect):
        pass
    finally:
        sending.cancel()
        receiving.cancel()


async def _send(socket: WebSocket, broadcast: Broadcast, throttle: SendThrottle) -> None:
    try:
        async for lines in broadcast.rounds():
            async with asyncio.timeout(SEND_TIMEOUT):
                for first in range(0, len(lines), BATCH):
                    await throttle.wait()
                    for line in lines[first : first + BATCH]:
                        await socket.send_text(line)
        await socket.close()
    except TimeoutError:
        log.info("spectator too slow", game=broadcast.game.id)
    except WebSocketDisconnect:
        pass
