"""Games for spectators: each round, all hands open, once it is over and the room's delay has passed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import structlog
from pydantic_core import to_json
from websockets.frames import CloseCode

from engine.mjai.connection import MAX_JOIN
from server.connection.websocket import WebSocketConnection
from server.game.history import History
from server.game.live_game import LiveGame
from server.metrics import Metrics
from server.turns import Turnstile

SEND_TIMEOUT = 30.0  # seconds a spectator has to receive a round
BATCH = 16  # messages sent before other tasks get their turn
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

    async def rounds(self) -> AsyncIterator[list[bytes]]:
        """The messages of each round as soon as it may be seen, the first with ``start_game``; then ``end_game``."""
        number = 0
        while True:
            number += 1
            while number == len(self._rounds) and not self.over:
                await self._changed.wait()
            if number == len(self._rounds):
                yield [to_json(self.game.end_game)]
                return
            await asyncio.sleep(self._rounds[number][0] - self._loop.time())
            yield await asyncio.to_thread(public_lines, self.game.history, number - 1)


def public_lines(history: History, number: int) -> list[bytes]:
    """The messages of a finished round, without the bots' annotations."""
    return [
        line if not annotation else line + b"}"
        for line, annotation, _ in (line.partition(ANNOTATION) for line in history.round_lines(number))
    ]


class Spectator:
    """A connection that is sent a game, canonical mjai messages, one a frame, and then closed; a `ConnectionHandler`.

    A spectator that sends anything, or does not receive a round within SEND_TIMEOUT, is disconnected.
    """

    max_message = MAX_JOIN  # whatever it sends is refused

    def __init__(
        self, connection: WebSocketConnection, broadcast: Broadcast, turnstile: Turnstile, metrics: Metrics
    ) -> None:
        """Begin to send; spectators with the same `turnstile` send one after the other, so that no game is delayed."""
        self._connection = connection
        self._broadcast = broadcast
        self._turnstile = turnstile
        self._metrics = metrics
        metrics.connections.inc()
        self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        try:
            async for lines in self._broadcast.rounds():
                async with asyncio.timeout(SEND_TIMEOUT):
                    for first in range(0, len(lines), BATCH):
                        await self._connection.drain()
                        await self._turnstile.wait()
                        self._connection.send(lines[first : first + BATCH])
                    await self._connection.drain()
        except TimeoutError:
            log.info("spectator too slow", game=self._broadcast.game.id)
        self._connection.close()

    def message_received(self, data: bytes) -> None:
        """See `ConnectionHandler`."""
        self.close_with_error("spectators only listen")

    def message_too_long(self) -> None:
        """See `ConnectionHandler`."""
        self.close_with_error("spectators only listen")

    def close_with_error(self, text: str) -> None:
        """See `ConnectionHandler`."""
        self._sending.cancel()
        self._connection.close(CloseCode.POLICY_VIOLATION, text)

    def disconnected(self) -> None:
        """See `ConnectionHandler`."""
        self._metrics.connections.dec()
        self._sending.cancel()
