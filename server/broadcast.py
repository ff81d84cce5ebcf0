"""The parts of a game in play that spectators may see, as WebSocket frames shared by all its spectators.

`hands=open`: each round, with all hands open, once it is over and the room's delay has passed. `hands=closed`: each
event immediately, as everyone at the table sees it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Literal, NamedTuple

from pydantic_core import from_json, to_json

from engine.mjai.messages import CONCEALED, for_public
from server.addresses import limited_address
from server.connection.websocket import WebSocketConnection, text_frame
from server.fairness import CpuLimiter
from server.game.history import ERROR, History, without_annotation
from server.game.live_game import LiveGame

Hands = Literal["open", "closed"]
BATCH = 16  # frames sent, or connections sent to, in one turn
ANNOTATION = b',"ext_bot":'  # the last key of a line; within a string its quotes would be escaped
END_GAME = "end_game"
FEEDS = "feeds"  # the party for data sent to all watchers of a game
Turn = Callable[[], AbstractAsyncContextManager[None]]  # of a `CpuLimiter`


def type_of(line: bytes) -> str:
    """The type of a message of the history; it is always its first key."""
    return line.split(b'"', 4)[3].decode()


def open_frames(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of the history with all hands open, without the bots' annotations."""
    for line in lines:
        message, annotation, _ = line.partition(ANNOTATION)
        yield text_frame(message + b"}" if annotation else message)


def closed_frames(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines of the history in the form that everyone may see immediately.

    Errors are left out, as they may name a bot's tiles and its legal actions.
    """
    for line in lines:
        kind = type_of(line)
        if kind in CONCEALED:
            yield text_frame(to_json(for_public(without_annotation(from_json(line)))))
        elif kind != ERROR:
            yield from open_frames([line])


FRAMES = {"open": open_frames, "closed": closed_frames}


class Place(NamedTuple):
    """The position of a spectator: all rounds before this one, and this many frames of it."""

    round: int
    frames: int


class ClosedFeed:
    """The live end of the closed stream of a game: sends new history to all spectators that have caught up."""

    def __init__(self, history: History, cpu_limiter: CpuLimiter) -> None:
        """All work is done in turns of `cpu_limiter`."""
        self.frames: list[bytes] = []  # of the current round; append-only, with a new list for each round
        self.over = False
        self.changed = asyncio.Event()  # the history has new messages, or the set of watchers has changed
        self._history = history
        self._cpu_limiter = cpu_limiter
        self._round = history.rounds
        self._n_lines = 0  # lines of the round that are in `frames` or were left out
        self._watchers: dict[WebSocketConnection, asyncio.Future[Place]] = {}
        self._sending: asyncio.Task[None] | None = None

    @property
    def place(self) -> Place:
        """The furthest position of any spectator."""
        return Place(self._round, len(self.frames))

    def advance(self) -> bytes:
        """Read new history; return its frames."""
        new: list[bytes] = []
        while True:
            lines = self._history.lines_of_round(self._round)
            added = list(closed_frames(lines[self._n_lines :]))
            self.frames += added
            new += added
            self._n_lines = len(lines)
            self.over = bool(lines) and type_of(lines[-1]) == END_GAME
            if self._round == self._history.rounds:
                return b"".join(new)
            self._round, self._n_lines, self.frames = self._round + 1, 0, []

    def catch_up(self) -> None:
        """Read new history, if there are no watchers that it has to be sent to."""
        if not self._watchers:
            self.advance()

    async def watch(self, connection: WebSocketConnection) -> Place:
        """Send new frames to a connection that has read up to `place`.

        Returns the place reached, once the connection has fallen behind or the game is over.
        """
        behind = self._watchers[connection] = asyncio.get_running_loop().create_future()
        self.changed.set()  # something may have arrived since it caught up
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        try:
            return await behind
        finally:
            self._watchers.pop(connection, None)
            self.changed.set()

    async def _send(self) -> None:
        """Send new frames to all watchers until none are left."""
        while self._watchers:
            await self.changed.wait()
            self.changed.clear()
            async with self._cpu_limiter.turn(FEEDS):
                before, new = self.place, self.advance()
                watchers = list(self._watchers.items())
            while watchers and (new or self.over):
                async with self._cpu_limiter.turn(FEEDS):
                    for connection, behind in watchers[:BATCH]:
                        self._send_to(connection, behind, before, new)
                del watchers[:BATCH]

    def _send_to(
        self, connection: WebSocketConnection, behind: asyncio.Future[Place], before: Place, new: bytes
    ) -> None:
        if behind.done():  # it has left
            return
        if not connection.writable:
            behind.set_result(before)
            return
        connection.send_frames(new)
        if self.over:
            behind.set_result(self.place)


class Broadcast:
    """One game. Each spectator reads the history at its own pace; the last round read is cached for all."""

    def __init__(self, game: LiveGame) -> None:
        self.game = game
        self.over = False
        self._delay = game.start.settings.spectator_delay
        self._loop = asyncio.get_running_loop()
        self._visible_from: list[float] = []  # loop time, for each finished round
        self._round_over = asyncio.Event()
        self._last_read: tuple[Hands, int, list[bytes]] = ("open", -1, [])
        self._feed: ClosedFeed | None = None  # created for the first spectator of closed hands

    def recorded(self, rounds: int) -> None:
        """Handle new messages of the history, which finish this many rounds."""
        if rounds:
            self._visible_from += [self._loop.time() + self._delay] * rounds
            self._notify()
        if self._feed is not None:
            self._feed.changed.set()

    def game_over(self) -> None:
        """Handle the announced end of the game."""
        self.over = True
        self._notify()

    def _notify(self) -> None:
        self._round_over.set()
        self._round_over = asyncio.Event()

    def stream(self, hands: Hands, connection: WebSocketConnection, cpu_limiter: CpuLimiter) -> AsyncIterator[bytes]:
        """Yield the frames for a connection in batches; the next batch is requested once the last one is sent.

        Once the connection has caught up, new frames are pushed to it (`ClosedFeed`).
        """
        turn = partial(cpu_limiter.turn, limited_address(connection.address))
        return self._open_stream(turn) if hands == "open" else self._closed_stream(connection, cpu_limiter, turn)

    async def _open_stream(self, turn: Turn) -> AsyncIterator[bytes]:
        number = 0
        while True:
            while number == len(self._visible_from) and not self.over:
                await self._round_over.wait()
            if number == len(self._visible_from):
                yield text_frame(to_json(self.game.turns.end_game))
                return
            await asyncio.sleep(self._visible_from[number] - self._loop.time())
            async with turn():
                frames = self._finished_round("open", number)
            for first in range(0, len(frames), BATCH):
                yield b"".join(frames[first : first + BATCH])
            number += 1

    async def _closed_stream(
        self, connection: WebSocketConnection, cpu_limiter: CpuLimiter, turn: Turn
    ) -> AsyncIterator[bytes]:
        async with turn():
            if self._feed is None:
                self._feed = ClosedFeed(self.game.history, cpu_limiter)
            self._feed.catch_up()
        feed, (number, position) = self._feed, Place(0, 0)
        while True:
            async with turn():
                frames = feed.frames if number == feed.place.round else self._finished_round("closed", number)
            while position < len(frames):
                batch = frames[position : position + BATCH]
                position += len(batch)
                yield b"".join(batch)
            if number < feed.place.round:
                number, position = number + 1, 0
            elif feed.over:
                return
            else:
                number, position = await feed.watch(connection)

    def _finished_round(self, hands: Hands, number: int) -> list[bytes]:
        if self._last_read[:2] != (hands, number):
            frames = FRAMES[hands](self.game.history.lines_of_round(number))
            self._last_read = hands, number, list(frames)
        return self._last_read[2]
