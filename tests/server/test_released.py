"""What is over is freed at once: the garbage collector may not come for minutes, for it halts all games."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.limits import Limits
from tests.support.server_bots import Bot, live_game, play_all, serving, together, until


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

        await together(watch(), play_all(bots))
        async with asyncio.timeout(20):
            await until(lambda: sorted(freed) == ["connection"] * 3 + ["game"] + ["transport"] * 3)
