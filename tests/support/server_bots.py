"""Bots to test the server with: real connections, scripted replies, and a copy of every message received."""

from __future__ import annotations

import asyncio
import functools
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import make
from engine.actions import PASS, TSUMOGIRI
from engine.game import Game
from engine.mjai.actions import action_message
from server.game.live_game import LiveGame
from server.house_bots import HOUSE_BOTS, HouseBots
from server.limits import Limits
from server.loop_clock import loop_clock
from server.review_work import review
from server.reviews import DoReview
from server.running import Running, running
from server.settings import Settings
from server.warm_up import warm_up
from tests.support.raw_connections import CONNECTIONS, Address, ClientConnection

Message = dict[str, Any]
Answer = Message | bytes | str | None  # bytes (WebSocket: str too) are sent as they are; None: no reply
Script = Callable[["Bot", Message], Answer]

NOTHING: Message = {"type": "none"}
HINTS = frozenset({"possible_actions", "cannot_dahai", "can_act", "resume", "game", "http_port", "id"})
TIMEOUT = 180.0  # seconds for a whole test; only a server that hangs takes as long, however slow the machine is
# A slow disk is no failure: on a busy machine a write may take seconds, too, and tests advance the clock meanwhile.
PATIENT = Limits(check_timeout=1e6)


@asynccontextmanager
async def serving(
    data: Path,
    timeout: float = TIMEOUT,
    *,
    limits: Limits = PATIENT,
    house_bots: HouseBots = HOUSE_BOTS,
    do_review: DoReview = review,
    **settings: Any,
) -> AsyncIterator[Running]:
    """Run a server with its data in that folder, for at most `timeout` seconds."""
    of_an_address = {"joins_per_minute": 100_000, "rooms_per_address": 1000, "connections_per_address": 1000}
    given: dict[str, Any] = {"length": "east", "decision_time": 30.0, **of_an_address} | settings
    chosen = Settings(port=0, mjai_port=0, data=data, **given)
    compile_rules()
    async with (
        asyncio.timeout(timeout),
        running(chosen, limits=limits, house_bots=house_bots, do_review=do_review) as server,
    ):
        yield server


@functools.cache
def compile_rules() -> None:
    """Compile before any decision clock runs."""
    warm_up(Settings())


class Clock:
    """The clock of the running event loop, which can be advanced: timers fire without waiting."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        real, self._ahead = loop.time, 0.0
        loop.time = lambda: real() + self._ahead  # type: ignore[method-assign]

    def advance(self, seconds: float) -> None:
        """Advance the clock by `seconds`."""
        self._ahead += seconds
        loop_clock()._halted -= seconds


def without_hints(message: Message) -> Message:
    """A message of a game without the keys that are for one seat only."""
    return {key: value for key, value in message.items() if key not in HINTS}


def tsumogiri(bot: Bot, message: Message) -> Answer:
    """Discards what it draws."""
    if message["type"] == "tsumo" and message["actor"] == bot.seat:
        return {"type": "dahai", "actor": bot.seat, "pai": message["pai"], "tsumogiri": True}
    return NOTHING


class Bot:
    """A bot with one connection at a time. `play` plays to the end; `until` stops where a test does something else.

    `games` holds the messages of its games with their hints, each message once, however often it was sent.
    """

    def __init__(
        self,
        server: Address,
        name: str,
        script: Script = tsumogiri,
        *,
        transport: str = "tcp",
        query: dict[str, str] | None = None,
        **join: Any,
    ) -> None:
        """Further keys are those of the join message."""
        self.name = name
        self.script = script
        self.join: Message = {"type": "join", "name": name} | join
        self.opening: bytes | None = None  # sent in place of the join message
        self.raw: list[bytes] = []  # every message as received
        self.games: list[list[Message]] = []
        self.errors: list[str] = []
        self.secrets: list[str] = []  # to resume its games with, the latest last
        self._server = server
        self._connect = CONNECTIONS[transport].connect
        self._query = query or {}
        self._connection: ClientConnection | None = None
        self.next_index = 0  # of the next message of the game; smaller than len(game) while messages are sent again

    def move(self, server: Address) -> None:
        """Connect to another server from now on."""
        self._server, self._connection = server, None

    @property
    def game(self) -> list[Message]:
        """The messages of the latest game."""
        return self.games[-1] if self.games else []

    @property
    def secret(self) -> str:
        """The secret to resume the latest game with."""
        return self.secrets[-1] if self.secrets else ""

    @property
    def seat(self) -> int:
        """Its seat in the latest game."""
        return int(self.game[0]["id"])

    @property
    def when_asked(self) -> bool:
        return self.join.get("reply") == "when_asked"

    @property
    def ended(self) -> bool:
        """Whether the latest game is over."""
        return bool(self.game) and self.game[-1]["type"] == "end_game"

    @property
    def idle(self) -> bool:
        """Whether the bot is in no game: the next ``start_game`` begins a new one."""
        return not self.games or self.ended

    async def connect(self, resume: int | None = None) -> None:
        """Connect, receive hello, join; `resume`: resume the latest game, having seen that many messages."""
        self._connection = await self._connect(self._server, self.join.get("room", "default"), self._query)
        hello = await self._read()
        if hello is None:
            raise ConnectionResetError("the connection was cut before hello")
        assert hello == {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
        await self.send(self.opening or (self.join if resume is None else self.resume_message(resume)))

    def resume_message(self, seen: int) -> Message:
        """The join message that resumes the latest game."""
        return self.join | {"resume": self.secret, "seen": seen}

    async def send(self, answer: Answer) -> None:
        """Send a reply."""
        assert self._connection is not None
        if answer is not None:
            await self._connection.send(json.dumps(answer) if isinstance(answer, dict) else answer)

    async def next(self) -> Message | None:
        """The next message; None if the server has closed the connection."""
        message = await self._read()
        if message is None:
            return None
        if message["type"] == "error":
            self.errors.append(message["message"])
        elif message["type"] == "resumed":
            assert 0 <= message["from"] <= len(self.game)
            self.next_index = message["from"]
        else:
            self._keep(message)
        return message

    async def _read(self) -> Message | None:
        assert self._connection is not None
        data = await self._connection.read()
        if data is None:
            return None
        self.raw.append(data)
        message = json.loads(data)
        assert isinstance(message, dict)
        return message

    def _keep(self, message: Message) -> None:
        """Keep a message of a game, or check that one sent again is the same."""
        if message["type"] == "start_game" and self.idle:
            self.games.append([])
            self.next_index = 0
        assert self.games, f"{message} before any start_game"
        if message["type"] == "start_game":
            if message.get("resume", self.secret) != self.secret:
                self.secrets.append(message["resume"])
        if self.next_index == len(self.game):
            self.game.append(message)
        else:
            assert without_hints(self.game[self.next_index]) == without_hints(message)
        self.next_index += 1

    async def until(self, stop: Callable[[Message], bool]) -> Message:
        """Reply by the script up to the first message that `stop` accepts, which is returned without a reply."""
        if self._connection is None:
            await self.connect()
        while (message := await self.next()) is not None:
            if stop(message):
                return message
            await self.answer(message)
        raise AssertionError(f"{self.name}: connection closed before the awaited message; errors: {self.errors}")

    async def until_own(self, kind: str = "tsumo") -> Message:
        """`until` its own event of that type."""
        return await self.until(lambda message: message["type"] == kind and message.get("actor") == self.seat)

    async def answer(self, message: Message) -> None:
        """Send the script's reply to a message, if it needs one."""
        if not self.when_asked or message.get("can_act"):
            await self.send(self.script(self, message))

    async def play(self, resume: int | None = None) -> Bot:
        """Reply until the server closes the connection."""
        if self._connection is None:
            await self.connect(resume)
        while (message := await self.next()) is not None:
            await self.answer(message)
        await self.leave()
        return self

    async def leave(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            transport, self._connection = self._connection, None
            await transport.close()

    def abort(self) -> None:
        """Abort the connection."""
        assert self._connection is not None
        self._connection.abort()
        self._connection = None

    async def abort_later(self) -> None:
        """`abort` as a coroutine."""
        self.abort()

    async def abandon(self) -> None:
        """Leave the connection open, but unused."""
        self._connection = None


async def together(*playing: Any) -> list[Any]:
    """Run all coroutines; the first that fails cancels the others."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in playing]
    return [task.result() for task in tasks]


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition on the server, which runs in this process, holds."""
    while not condition():
        await asyncio.sleep(0.001)


async def connect_in_order(server: Running, bots: Sequence[Bot], room: str = "default") -> None:
    """Connect all bots, each once the one before waits in the room, or its game has started."""
    for n_waiting, bot in enumerate(bots, 1):
        await bot.connect()
        await until(lambda n=n_waiting: n % 3 == 0 or len(server.lobby.rooms[room].waiting) == n)  # type: ignore[misc]


def live_game(server: Running) -> LiveGame:
    """The one game in play."""
    (game,) = server.lobby.games.values()
    return game


async def play_all(bots: Iterable[Bot]) -> None:
    """Let all bots play to the ends of their games."""
    await together(*(bot.play() for bot in bots))


@asynccontextmanager
async def playing(bots: Iterable[Bot]) -> AsyncIterator[None]:
    """Let all bots play to the ends of their games beside what the block does; the first that fails ends it."""
    async with asyncio.TaskGroup() as group:
        for bot in bots:
            group.create_task(bot.play())
        yield


async def stop_in_mid_game(data: Path, messages: int = 20, *, room: str = "default", **settings: Any) -> list[Bot]:
    """Stop a server when three bots have seen so many messages of a game; returns the bots."""
    async with serving(data, **settings) as server:
        bots = [Bot(server, name, room=room, resume=True) for name in "abc"]
        await together(*(bot.until(lambda _, bot=bot: len(bot.game) >= messages) for bot in bots))  # type: ignore[misc]
    return bots


async def resume_all(server: Address, bots: Iterable[Bot]) -> None:
    """Let bots resume their games on another server."""
    for bot in bots:
        bot.move(server)
        await bot.connect(resume=len(bot.game))


async def resumed_from(bot: Bot) -> Message:
    """The next message, which must be `resumed`."""
    message = await bot.next()
    assert message is not None
    assert message["type"] == "resumed"
    return message


async def play_with_reconnects(bot: Bot, chance: random.Random, calm: int = 20) -> None:
    """Play all games; after at most `calm` messages the connection is aborted, closed or abandoned, and replaced."""
    await bot.connect()
    left = chance.randrange(1, calm)
    while (message := await bot.next()) is not None:
        await bot.answer(message)
        left -= 1
        if left < 0 and bot.games and not bot.ended:
            await chance.choice((bot.leave, bot.abort_later, bot.abandon))()
            await bot.connect(resume=chance.choice((0, len(bot.game) // 2, len(bot.game))))
            left = chance.randrange(1, calm)
    await bot.leave()


# Legal play ----------------------------------------------------------------------------------------------------------


class Chooser:
    """A script that plays legal actions, some at random, so that riichi, calls, kans and wins all occur.

    It reads the legal actions from the server, which runs in the same process; so any dialect will do.
    """

    def __init__(self, server: Running, seed: int, odd: float = 0.3) -> None:
        """`odd`: probability of a random action, one that is no discard if possible."""
        self._server = server
        self.chance = random.Random(seed)
        self._odd = odd
        self._rule_bot = make("rule")

    def __call__(self, bot: Bot, message: Message) -> Answer:
        """See `Script`."""
        game = decision_of(self._server, bot)
        return NOTHING if game is None else action_message(game.table, bot.seat, self.choose(game, bot.seat))

    def choose(self, game: Game, seat: int) -> int:
        """An action number."""
        legal_actions = game.legal(seat)
        special = [action for action in legal_actions if action > TSUMOGIRI and action != PASS]
        if self.chance.random() < self._odd:
            return self.chance.choice(special or legal_actions)
        return int(self._rule_bot.act(np.array([game.view(seat)]))[0])


def decision_of(server: Running, bot: Bot) -> Game | None:
    """The server's game, if the last message that the bot received asks it for a decision."""
    for game in server.lobby.games.values():
        seat = game.seats[bot.seat] if bot.games else None
        if seat is not None and seat.player.name == bot.name and not game.announced:
            asked = bool(seat.legal_actions) and bot.next_index == game.history.count
            return game.engine if asked else None
    return None


class PlainHouseBot:
    """A house bot in plain Python, of which nothing is compiled: it plays what a function returns."""

    name = "plain"

    def __init__(self, act: Callable[[np.ndarray], Any]) -> None:
        self._act = act

    def act(self, views: np.ndarray) -> Any:
        """See `agents.base.Agent`."""
        return self._act(views)
