"""The server is killed again and again while games are played: no game is lost, and no bot misses a message."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from server.store import Store, StoredGame
from tests.conftest import REPOSITORY
from tests.server.bots import Bot, Message, compile_rules, lines_of, replay_of

ROOMS = 3
RESUME_WITHIN = 3
FLAGS = (
    "--port 0 --mjai-port 0 --length east --decision-time 60 --joins-per-minute 100000 "
    f"--resume-within {RESUME_WITHIN} --max-faults 1000"
).split()
LISTENS = re.compile(rb"mjsonp://127\.0\.0\.1:(\d+)/default +ws://127\.0\.0\.1:(\d+)/mjai/default")
LONGEST_LIFE = 0.4  # seconds from the time the server listens until it is killed
AT_THE_START = 0.1  # of all kills come before it listens


class Mortal:
    """A server in a process of its own; where it listens changes every time it is started."""

    def __init__(self, data: Path) -> None:
        self.port = self.mjai_port = 1  # nobody listens there
        self._data = data
        self._process: asyncio.subprocess.Process
        self._log = (data / "log").open("ab")

    async def start(self) -> None:
        """Start the process."""
        command = [sys.executable, "-m", "server", *FLAGS, "--data", str(self._data)]
        self._process = await asyncio.create_subprocess_exec(
            *command, cwd=REPOSITORY, stdout=asyncio.subprocess.PIPE, stderr=self._log
        )

    async def listen(self) -> None:
        """Wait until it listens."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        found = LISTENS.match(line)
        assert found is not None, f"{line!r} {(self._data / 'log').read_text()[-2000:]}"
        self.mjai_port, self.port = map(int, found.groups())

    async def kill(self) -> None:
        """Kill it, as hard as can be."""
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int:
        """Stop it as an administrator does; gives its exit code."""
        self._process.terminate()
        return await self._process.wait()


class Player(Bot):
    """Plays one game after another, whatever happens to the server."""

    stopping = False
    n_abandoned = 0  # of its games, as nobody can come back to them any more: they ended while it was away

    @property
    def idle(self) -> bool:
        """Whether it has no game to come back to."""
        return super().idle or self.n_abandoned == len(self.games)

    async def play_on(self) -> None:
        """Play until `stopping`, then to the end of the game."""
        while not (self.stopping and self.idle):
            with suppress(OSError, WebSocketException, EOFError):
                await self.connect(resume=None if self.idle else len(self.game))
                while (message := await self.next()) is not None and not (self.stopping and self.ended):
                    await self.answer(message)
                    if message["type"] == "error" and "no game" in message["message"]:
                        self.n_abandoned = len(self.games)
                await self.leave()
            await asyncio.sleep(0.01)


async def test_kills(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    n_kills = request.config.getoption("--kills")
    compile_rules()
    chance = random.Random(n_kills)
    server = Mortal(tmp_path)
    players = [
        Player(
            server, f"{room}{name}", room=f"room{room}", wire=("tcp", "websocket")[(room + place) % 2],
            reply=("always", "when_asked")[place % 2], games=0, resume=True,
        )
        for room in range(ROOMS)
        for place, name in enumerate("abc")
    ]  # fmt: skip
    async with asyncio.timeout(60 + 10 * n_kills):
        playing = [asyncio.create_task(player.play_on()) for player in players]
        for _ in range(n_kills):
            await server.start()
            if chance.random() < AT_THE_START:
                await asyncio.sleep(chance.uniform(0, 1.5))
            else:
                await server.listen()
                await asyncio.sleep(chance.uniform(0, LONGEST_LIFE))
            await server.kill()
            broken = [task for task in playing if task.done()]
            assert not broken, broken
        await server.start()
        await server.listen()
        await finish(players, playing)
        while list((tmp_path / "journal").glob("*.journal")):  # games nobody had heard of are played by house bots
            await asyncio.sleep(0.05)
        assert await server.stop() == 0
    assert list((tmp_path / "journal").iterdir()) == []
    await check(tmp_path, players)


async def finish(players: list[Player], playing: list[asyncio.Task[None]]) -> None:
    """Everybody plays the game it is in to its end."""
    for player in players:
        player.stopping = True
    while not all(task.done() for task in playing):
        for player, task in zip(players, playing, strict=True):
            if player.idle and not task.done():  # waits for a game that will not begin
                await asyncio.sleep(0.1)
                if player.idle:
                    task.cancel()
        await asyncio.sleep(0.05)
    for task in playing:
        with suppress(asyncio.CancelledError):
            task.result()


async def check(folder: Path, players: list[Player]) -> None:
    """All games of all players are stored as they have seen them, and all that is stored is valid."""
    stored = {}
    async for game, lines in all_games(folder):
        assert replay_of(lines).check() == []
        assert [standing.faults for standing in game.seats] == [0, 0, 0]
        events = [line for line in lines if line["type"] != "error"]
        for seat in range(3):
            stored[key_of(events, seat)] = events
    for player in players:
        seen = [game for game in player.games if len(game) > 1]
        assert any(game[-1]["type"] == "end_game" for game in seen)
        for game in seen:
            events = stored[key_of(game, game[0]["id"])]
            assert len(game) == len(events) or game[-1]["type"] != "end_game"
            assert [public(message) for message in game] == [public(event) for event in events[: len(game)]]


async def all_games(folder: Path) -> AsyncIterator[tuple[StoredGame, list[Message]]]:
    """All that is stored, with the lines of the records."""
    store = await Store.open(f"sqlite:///{folder / 'nukidora.db'}")
    try:
        cursor = None
        while True:
            page = await store.games(cursor=cursor)
            for game in page.items:
                yield game, lines_of(await store.record(game.id))
            if page.next_cursor is None:
                return
            cursor = page.next_cursor
    finally:
        await store.close()


def key_of(events: list[Message], seat: int) -> str:
    """What tells a game from all others to one seat: who plays, and its first hand."""
    start_game, start_kyoku = events[:2]
    return json.dumps([start_game["names"], seat, start_kyoku["tehais"][seat]])


def public(message: Message) -> list[object]:
    """What everybody may know of an event."""
    return [message.get(key) for key in ("type", "actor", "target", "consumed", "deltas", "scores", "dora_marker")]
