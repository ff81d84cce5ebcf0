"""The example bot of the documentation plays a whole game without a fault."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.client.example import play
from tests.support.server_bots import serving
from tests.support.stored_records import stored_games


async def test_the_example_bot_plays_a_game_legally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with serving(tmp_path) as server:
        await asyncio.to_thread(play, "127.0.0.1", server.mjai_port, "solo+rule+efficiency")
        (game,) = await stored_games(server)
    example = next(seat for seat in game.seats if seat.name == "example")
    assert (example.faults, example.taken_over) == (0, False)
    assert '"type":"end_game"' in capsys.readouterr().out


def test_the_example_bot_is_as_short_as_documented() -> None:
    source = Path(__file__).parents[2] / "agents" / "client" / "example.py"
    code = [line for line in source.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(code) <= 45
