"""What a server has stored: games, and their records, replayed and compared with what bots have received."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from typing import Any

import pytest

from engine.records import mjai as records_mjai
from engine.records.replay import Replay
from server.running import Running
from server.store import Store, StoredGame
from tests.support.server_bots import Bot, Message


def held_up(monkeypatch: pytest.MonkeyPatch, method: str) -> tuple[asyncio.Event, asyncio.Event]:
    """Hold up a method of the store. The events: that it was called, and that it may go on."""
    called, go_on = asyncio.Event(), asyncio.Event()
    work = getattr(Store, method)

    async def held(*arguments: Any) -> Any:
        called.set()
        await go_on.wait()
        return await work(*arguments)

    monkeypatch.setattr(Store, method, held)
    return called, go_on


async def stored_games(server: Running, room: str | None = None) -> list[StoredGame]:
    """The games in the store, newest first."""
    return (await server.lobby.store.games(room=room, limit=100)).items


async def stored_lines(server: Running, game: str) -> list[Message]:
    """The lines of a game's record, errors included."""
    return await stored_lines_of(server.lobby.store, game)


async def stored_lines_of(store: Store, game: str) -> list[Message]:
    """`stored_lines` of a store."""
    data = await store.record(game)
    assert data is not None
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def replay_of(lines: Iterable[Message]) -> Replay:
    """The replay of a record."""
    return Replay(records_mjai.read("\n".join(map(json.dumps, lines)), "stored game"))


async def the_game(server: Running) -> tuple[StoredGame, list[Message]]:
    """The one stored game and the lines of its record, which must replay without a mismatch."""
    (game,) = await stored_games(server)
    lines = await stored_lines(server, game.id)
    assert replay_of(lines).check() == []
    return game, lines


async def the_faultless_game(server: Running, bots: list[Bot]) -> tuple[StoredGame, list[Message]]:
    """`the_game`, of which these bots must have received every message, and in which nobody may have made a fault."""
    game, lines = await the_game(server)
    assert_all_received(bots, lines)
    assert [result.faults for result in game.seats] == [0, 0, 0]
    return game, lines


def assert_all_received(bots: list[Bot], lines: list[Message]) -> None:
    """Check that all bots have received all messages of the game with these lines."""
    events = [line for line in lines if line["type"] != "error"]
    for bot in bots:
        assert [message["type"] for message in bot.game] == [event["type"] for event in events]
        assert [message.get("pai") for message in bot.game if message["type"] == "dahai"] == [
            event["pai"] for event in events if event["type"] == "dahai"
        ]
