"""What is over is freed at once: the garbage collector may not come for minutes, for it halts all games."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.connection.websocket import WebSocketConnection
from server.limits import Limits
from tests.support.server_bots import (
    Bot,
    live_game,
    play_all,
    resume_all,
    serving,
    stop_in_mid_game,
    together,
    until,
)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """References that go round in circles keep what they hold."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("transport", ["tcp", "websocket"])
async def test_a_game_and_its_connections_are_freed(tmp_path: Path, transport: str) -> None:
    freed: list[str] = []
    async with serving(tmp_path, limits=Limits(kept_time=0.01)) as server:
        bots = [Bot(server, name, transport=transport) for name in "abc"]

        async def watch() -> None:
            await until(lambda: bool(server.lobby.games))
            game = live_game(server)
            weakref.finalize(game, freed.append, "game")
            for seat in game.seats:
                assert seat.connection is not None
                weakref.finalize(seat.connection, freed.append, "connection")
                weakref.finalize(seat.connection.transport, freed.append, "transport")
                if isinstance(seat.connection.transport, WebSocketConnection):
                    weakref.finalize(seat.connection.transport._protocol, freed.append, "frames")

        await together(watch(), play_all(bots))
        frames = ["frames"] * (3 if transport == "websocket" else 0)
        async with asyncio.timeout(20):
            await until(lambda: sorted(freed) == ["connection"] * 3 + frames + ["game"] + ["transport"] * 3)


@pytest.mark.usefixtures("no_collector")
async def test_a_restored_game_is_freed(tmp_path: Path) -> None:
    freed: list[str] = []
    bots = await stop_in_mid_game(tmp_path, resume_timeout=3600)
    async with serving(tmp_path, limits=Limits(kept_time=0.01)) as server:
        weakref.finalize(live_game(server), freed.append, "game")
        await resume_all(server, bots)
        await play_all(bots)
        async with asyncio.timeout(20):
            await until(lambda: freed == ["game"])
