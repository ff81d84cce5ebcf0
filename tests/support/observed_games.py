"""Games of bots that misbehave, with all that they and spectators of closed hands were sent."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedOK

from engine.actions import ANKAN, DAIMINKAN, KYUSHU_KYUHAI
from engine.game import Game
from engine.mjai import dialects
from server.running import Running
from tests.support.server_bots import (
    CONNECTIONS,
    NOTHING,
    Answer,
    Bot,
    Chooser,
    Message,
    decision_of,
    play_all,
    together,
    until,
)
from tests.support.stored_records import stored_lines

SEED = 16045690984503111693  # of all rooms; so long that its digits occur in no other number
TABLES = 24
# Dialect, transport and `reply` of bots.
WAYS = list(itertools.product(dialects.DIALECTS, CONNECTIONS, ("always", "when_asked")))
RARE = (DAIMINKAN, KYUSHU_KYUHAI)  # besides the other kans
ANNOTATION = "annotation-nobody-may-read"
WRONG: tuple[Message | bytes, ...] = (
    b"what?", {"type": "hora"}, {"type": "reach"}, {"type": "nukidora"}, {"type": "pon", "consumed": ["5s", "5sr"]},
    {"type": "dahai", "pai": "9p"}, {"type": "dahai", "pai": "?"}, {"type": "dahai", "pai": "C", "tsumogiri": True},
    {"type": "ankan", "consumed": ["E"] * 4}, {"type": "kakan", "pai": "1m"}, {"type": "dahai"},
)  # fmt: skip


class RecordingBot(Bot):
    """A bot that reconnects now and then, and keeps what it has sent and when."""

    def __init__(self, server: Running, name: str, seed: int, *, bad: float, drops: float, **join: Any) -> None:
        """`bad`: probability of a wrong reply to a decision; `drops`: probability of aborting after a message."""
        super().__init__(server, name, MisbehavingScript(server, seed, bad), **join)
        self.answers: dict[int, Answer] = {}  # by the number of messages received before
        self._chance, self._drops = random.Random(seed), drops

    async def send(self, answer: Answer) -> None:
        """See `Bot`."""
        self.answers[len(self.raw)] = answer
        await super().send(answer)

    def _keep(self, message: Message) -> None:
        """Keep the message that was sent again in place of the first; `leaks` checks both."""
        if self.next_index < len(self.game):
            self.game[self.next_index] = message
        super()._keep(message)

    async def play(self, resume: int | None = None) -> Bot:
        """Play to the end, or until a house bot has the seat and the game cannot be resumed."""
        if self._connection is None:
            await self.connect(resume)
        while True:
            message = await self.next()
            may_come_back = bool(self.secret) and not self.ended
            if message is None:
                await self.leave()
                if not may_come_back:
                    return self
                await self.connect(len(self.game))
            elif may_come_back and self.next_index == len(self.game) and self._chance.random() < self._drops:
                self.abort()
                await self.connect(self._chance.randint(0, len(self.game)))
            else:
                await self.answer(message)


class RareActionChooser(Chooser):
    """A `Chooser` that takes rare actions whenever it can."""

    def choose(self, game: Game, seat: int) -> int:
        """See `Chooser`."""
        rare = [action for action in game.legal(seat) if action in RARE or action >= ANKAN]
        return rare[0] if rare else super().choose(game, seat)


class MisbehavingScript:
    """A script that sends rare actions, wrong replies and annotations."""

    def __init__(self, server: Running, seed: int, bad: float) -> None:
        self._server, self._chooser, self._bad = server, RareActionChooser(server, seed), bad
        self._chance = random.Random(seed)

    def __call__(self, bot: Bot, message: Message) -> Answer:
        """See `Script`."""
        if message["type"] == "error":
            return NOTHING
        asked = decision_of(self._server, bot) is not None
        wrong = asked and self._chance.random() < self._bad
        answer = self._chance.choice(WRONG) if wrong else self._chooser(bot, message)
        return answer | {"ext_bot": {ANNOTATION: bot.name}} if isinstance(answer, dict) else answer


async def seat_bots(server: Running, n_tables: int, **same: Any) -> list[RecordingBot]:
    """Bots for games in rooms of their own; every fourth game has one bot and two house bots.

    `same` sets arguments for all bots; the others vary from bot to bot.
    """
    bots: list[RecordingBot] = []
    for table in range(n_tables):
        alone = table % 4 == 3
        for _ in range(1 if alone else 3):
            number = len(bots)
            chance = random.Random(number)
            own = dict(zip(("dialect", "transport", "reply"), WAYS[number % len(WAYS)], strict=True)) | {
                "resume": chance.random() < 0.7,
                "bad": chance.choice([0.0, 0.02, 0.06]),
                "drops": chance.choice([0.0, 0.005, 0.01]),
            }
            name, room = f"bot{number}", f"table{table}" + "+rule+random" * alone
            token = await server.lobby.store.add_token(name)
            bots.append(RecordingBot(server, name, number, room=room, token=token, **own | same))
    return bots


@dataclass
class PlayedGame:
    """A finished game, with what only the server knows."""

    lines: list[Message]  # of its record, errors included
    secrets: list[str]  # of the seats, to resume with
    place: dict[str, list[Any]]  # the values of ``game`` and ``http_port``
    hidden: dict[str, str]  # text that no bot may be sent -> what it is
    closed: list[list[bytes]]  # the frames that spectators of closed hands were sent, one from the start and one late


async def watch_closed(server: Running, game: str) -> list[bytes]:
    """All frames that a spectator of closed hands is sent."""
    async with connect(f"ws://127.0.0.1:{server.port}/api/games/{game}/events?hands=closed") as events:
        frames: list[bytes] = []
        with suppress(ConnectionClosedOK):
            while True:
                frames.append(await events.recv(decode=False))
        return frames


async def watch_all(server: Running, found: dict[str, asyncio.Task[list[bytes]]]) -> None:
    """Watch all games from their start, until cancelled."""
    while True:
        for game in server.lobby.games.keys() - found.keys():
            found[game] = asyncio.create_task(watch_closed(server, game))
        await asyncio.sleep(0.01)


async def play_table(server: Running, bots: Sequence[RecordingBot]) -> None:
    """Let the bots of one room play. They join one after another: their seats, and so the game, depend on the order."""
    rooms, name = server.lobby.rooms, bots[0].join["room"]
    for n_waiting, bot in enumerate(bots, 1):
        await bot.connect()
        await until(lambda n=n_waiting: name in rooms and (rooms[name].started or len(rooms[name].waiting) == n))  # type: ignore[misc]
    await play_all(bots)


async def played(server: Running, bots: Sequence[RecordingBot]) -> dict[str, PlayedGame]:
    """Let all bots play, before spectators; returns the games by room."""
    watched: dict[str, asyncio.Task[list[bytes]]] = {}
    watching = asyncio.create_task(watch_all(server, watched))
    tables = itertools.groupby(bots, lambda bot: bot.join["room"])
    await together(*(play_table(server, list(seated)) for _, seated in tables))
    games = list(server.lobby.games.values())
    assert {game.start.room for game in games} == {bot.join["room"] for bot in bots}
    await until(lambda: all(game.announced for game in games))
    watching.cancel()
    hidden = {str(SEED): "the room's seed", "seed": "something of a seed"}
    hidden |= {ANNOTATION: "an annotation", "ext_bot": "an annotation's key"}
    hidden |= {bot.join["token"]: "a token" for bot in bots}
    for game in games:
        hidden[str(game.start.seed)] = "a game's seed"
        hidden |= {seat.secret: "a secret" for seat in game.seats}
        hidden |= {seat.player.secret_hash: "a secret's hash" for seat in game.bot_seats}
    return {
        game.start.room: PlayedGame(
            await stored_lines(server, game.id),
            [seat.secret for seat in game.seats],
            {"game": [game.id], "http_port": [server.port]},
            hidden,
            [await watched[game.id], await watch_closed(server, game.id)],
        )
        for game in games
    }
