"""The server is killed many times, at random moments: no game is lost, and bots that reconnect miss no message."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from engine.mjai.messages import for_seat
from server.store import StoredGame
from tests.conftest import Scale
from tests.support.server_bots import Bot, Message, until, without_hints
from tests.support.server_program import variables
from tests.support.stored_games import all_items, opened
from tests.support.stored_records import replay_of, stored_lines_of

ROOMS = 3
RESUME_WITHIN = 3.0
LISTENING = b"the server is up"
WHILE_STARTING = 0.1  # probability that a server is killed again before it listens


@dataclass
class Process:
    """A server process that is killed and started again on the same ports."""

    data: Path
    port: int
    mjai_port: int
    running: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it."""
        settings = variables(
            port=self.port, mjai_port=self.mjai_port, data=self.data, length="east",
            resume_timeout=RESUME_WITHIN, joins_per_minute=100_000,
        )  # fmt: skip
        with (self.data.parent / "log").open("ab") as log:
            self.running = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "server", env=os.environ | settings, stdout=asyncio.subprocess.PIPE, stderr=log
            )

    async def listen(self) -> None:
        """Wait until it listens."""
        assert self.running is not None
        assert self.running.stdout is not None
        line = await asyncio.wait_for(self.running.stdout.readline(), 90)
        assert line.startswith(LISTENING), (self.data.parent / "log").read_text()

    async def end(self, how: signal.Signals) -> None:
        """Kill or stop it."""
        assert self.running is not None
        self.running.send_signal(how)
        await self.running.wait()


@contextmanager
def reserved_ports() -> Iterator[tuple[int, int]]:
    """Two ports that no other program is given while the block runs, even where nobody listens on them.

    Sockets of the test are bound to them. A server can listen all the same, as all have SO_REUSEADDR.
    """
    with socket.socket() as one, socket.socket() as other:
        for holder in (one, other):
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
        yield one.getsockname()[1], other.getsockname()[1]


def between_games(bot: Bot) -> bool:
    return not bot.games or bot.ended


async def keep_playing(bot: Bot, enough: asyncio.Event) -> None:
    """Play game after game until `enough` is set; resume the game after each lost connection."""
    while not (enough.is_set() and between_games(bot)):
        try:
            await bot.connect(resume=None if between_games(bot) else len(bot.game))
            while (message := await bot.next()) is not None:
                await bot.answer(message)
                if enough.is_set() and between_games(bot):
                    return
        except (OSError, EOFError, WebSocketException):  # no server is listening
            await asyncio.sleep(0.05)


async def leave(bots: list[Bot], tasks: list[asyncio.Task[None]]) -> None:
    """Disconnect bots as they finish; those that wait for a game no longer find enough others."""
    while not all(task.done() for task in tasks):
        for bot, task in zip(bots, tasks, strict=True):
            if between_games(bot):
                task.cancel()
            elif task.done():
                task.result()
        await asyncio.sleep(0.02)
    for bot, task in zip(bots, tasks, strict=True):
        assert task.cancelled() or task.exception() is None
        await bot.leave()


async def play_and_kill(server: Process, kills: int) -> list[Bot]:
    """Let bots play while the server is killed `kills` times, then to the ends of their games."""
    chance = random.Random(1)
    bots = [
        Bot(server, f"r{room}b{seat}", room=f"room{room}", games=0, resume=True, transport=transport, reply=reply)
        for room in range(ROOMS)
        for seat, (transport, reply) in enumerate([("tcp", "always"), ("websocket", "always"), ("tcp", "when_asked")])
    ]
    await server.start()
    await server.listen()
    enough = asyncio.Event()
    tasks = [asyncio.create_task(keep_playing(bot, enough)) for bot in bots]
    await until(lambda: not all(between_games(bot) for bot in bots))  # a game is cut off by the first kill, too
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.0, 0.4))
        await server.end(signal.SIGKILL)
        await server.start()
        if chance.random() < WHILE_STARTING:
            await asyncio.sleep(chance.uniform(0.0, 2.0))
            await server.end(signal.SIGKILL)
            await server.start()
        await server.listen()
    enough.set()
    await leave(bots, tasks)
    while list((server.data / "journal").iterdir()):  # house bots finish the games whose bots have left
        await asyncio.sleep(0.1)
    await server.end(signal.SIGTERM)
    return bots


async def stored(data: Path) -> list[tuple[StoredGame, list[Message]]]:
    """All games with the lines of their records."""
    async with opened(f"sqlite:///{data / 'nukidora.db'}") as store:
        games = await all_items(lambda cursor: store.games(cursor=cursor, limit=100))
        return [(game, await stored_lines_of(store, game.id)) for game in games]


def seen_by(lines: list[Message], seat: int) -> list[Message]:
    """What a seat should have been sent of a game, without hints."""
    messages = (line for line in lines if line["type"] != "error")
    keys = ("wall_seed", "ext_bot")
    shown = ({key: value for key, value in message.items() if key not in keys} for message in messages)
    return [without_hints(for_seat(message, seat)) for message in shown]


@pytest.mark.slow
async def test_no_game_and_no_message_is_lost_when_the_server_is_killed(
    tmp_path: Path, scale: Scale, pytestconfig: pytest.Config
) -> None:
    kills = 3 if scale == "quick" else pytestconfig.getoption("--kills")
    data = tmp_path / "data"
    with reserved_ports() as ports:
        server = Process(data, *ports)
        try:
            bots = await asyncio.wait_for(play_and_kill(server, kills), 120 + 20 * kills)
        finally:
            if server.running is not None and server.running.returncode is None:
                await server.end(signal.SIGKILL)
    games = await stored(data)
    assert [mismatch for _, lines in games for mismatch in replay_of(lines).check()] == []
    seen = {(lines[0]["wall_seed"], seat.name): seen_by(lines, index) for game, lines in games
            for index, seat in enumerate(game.seats)}  # fmt: skip
    for bot in bots:
        assert bot.errors == [], bot.name
        mine = [messages for (_, name), messages in seen.items() if name == bot.name]
        for game in bot.games:
            shown = [without_hints(message) for message in game]
            assert shown in mine, f"{bot.name}: a game that is not stored as it was seen"
    assert len(games) >= kills / 10, "games were finished between the kills"
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log, log
    assert log.count("game restored") >= kills, "games were cut off by nearly every kill"
