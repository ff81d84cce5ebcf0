"""Games of three house bots that somebody wants to watch: slow, limited, and gone without a trace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.access import RateLimitError, ServerFullError
from server.commands import unfinished_games
from server.game.seat import Seat
from tests.support.running_server import Live, live, until
from tests.support.server_bots import PATIENT, Bot, Clock, Message

pytestmark = pytest.mark.usefixtures("no_error_is_logged")
BOTS = ["rule", "efficiency", "tsumogiri"]
HERE = "127.0.0.1"
SLOWEST = 5.0  # seconds of pause that may be asked for


async def started(at: Live, **more: Any) -> dict[str, Any]:
    """A game that was asked for."""
    response = await at.http.post("/api/games", json={"bots": BOTS} | more)
    assert response.status_code == 201, response.text
    game: dict[str, Any] = response.json()
    assert response.headers["Location"] == f"/api/games/{game['id']}"
    return game


async def collect(at: Live, game: str, events: list[Message]) -> None:
    """Watch a game until the connection ends."""
    async with at.socket(f"/api/games/{game}/events?hands=closed") as socket:
        async for data in socket:
            events.append(json.loads(data))


async def decided(seats: Iterable[Seat], made: Sequence[int]) -> None:
    """Wait until each of these seats has made another decision. `made`: how many each seat of the game had made."""
    await until(lambda: all(seat.decisions > made[seat.index] for seat in seats))


async def check_nothing_is_left(at: Live) -> None:
    """Check that no game, room, journal or result is left."""
    lobby = at.server.lobby
    assert not lobby.games
    assert not lobby.broadcasts
    assert list(lobby.rooms) == ["default"]
    assert not lobby.access._rooms
    assert not lobby.exhibitions._playing
    assert lobby.metrics.registry.get_sample_value("nukidora_games_playing") == 0
    await until(lambda: not list(lobby._journals.iterdir()))
    assert (await at.get("/api/games"))["items"] == []
    assert (await at.get("/api/players"))["items"] == []


async def test_events_come_one_decision_after_the_other(tmp_path: Path) -> None:
    async with live(tmp_path, timeout=1000) as at:
        clock, events, bots = Clock(), list[Message](), ["tsumogiri"] * 3
        game = await started(at, bots=bots, pause=SLOWEST)
        assert (game["length"], game["rounds"], game["status"]) == ("hanchan", 0, "playing")
        assert [seat["name"] for seat in game["seats"]] == [f"{bot} (house)" for bot in bots]
        assert all(seat["house_bot"] for seat in game["seats"])
        assert game["casual"]
        assert [each["id"] for each in (await at.get("/api/games?status=playing"))["items"]] == [game["id"]]
        watching = asyncio.create_task(collect(at, game["id"], events))
        playing = at.server.lobby.games[game["id"]]
        await until(lambda: len(events) == playing.history.count)
        assert [each["type"] for each in events] == ["start_game", "start_kyoku", "tsumo"]
        for _ in range(12):
            before, asked = len(events), [seat for seat in playing.seats if seat.legal_actions]
            made = [seat.decisions for seat in playing.seats]
            await asyncio.sleep(0.03)
            assert len(events) == before  # the pause is not over
            clock.advance(SLOWEST + 0.1)
            await decided(asked, made)
            await until(lambda: len(events) == playing.history.count)
            assert [seat.decisions - n for seat, n in zip(playing.seats, made, strict=True)] == [
                int(seat in asked) for seat in playing.seats
            ]
            # Nobody sees that a seat does not call.
            assert [each["type"] for each in events[before:]] in ([], ["dahai"], ["tsumo"], ["dahai", "tsumo"])
        assert len(events) > 3 + 6
        watching.cancel()


@pytest.mark.slow
async def test_a_game_is_watched_to_its_end_and_leaves_nothing(at: Live) -> None:
    events: list[Message] = []
    game = await at.server.lobby.exhibit(["tsumogiri"] * 3, 0.001, HERE)
    await asyncio.create_task(collect(at, game.id, events))
    assert events[-1]["type"] == "end_game"
    assert sum(events[-1]["scores"]) <= 105_000
    assert sum(each["type"] == "start_kyoku" for each in events) >= 6  # east and south
    await check_nothing_is_left(at)
    assert "there is no game" in await at.refused(404, "GET", f"/api/games/{game.id}")
    await started(at)  # the address may have the next one


async def test_it_stops_when_nobody_watches(tmp_path: Path) -> None:
    async with live(tmp_path, timeout=1000, limits=replace(PATIENT, linger=60.0)) as at:
        clock, games = Clock(), at.server.lobby.games
        game = await started(at, pause=SLOWEST)  # nobody comes
        clock.advance(40)
        await asyncio.sleep(0.03)
        assert game["id"] in games
        clock.advance(30)
        await until(lambda: not games)
        await check_nothing_is_left(at)
        game = await started(at, pause=SLOWEST)
        paths = [f"/api/games/{game['id']}/events?hands={hands}" for hands in ("closed", "open")]
        first, second = [await at.socket(path) for path in paths]
        for spectator in (first, second):
            clock.advance(70)
            await asyncio.sleep(0.03)
            assert game["id"] in games
            await spectator.close()
            await until(lambda: len(at.server.lobby.games) == 1)
        clock.advance(40)
        await asyncio.sleep(0.03)
        third = await at.socket(paths[0])  # back in time
        clock.advance(70)
        await asyncio.sleep(0.03)
        assert game["id"] in games
        await third.close()
        left = at.server.lobby.exhibitions._playing
        await until(lambda: not left[game["id"]].watching)
        clock.advance(70)
        await until(lambda: not games)
        await check_nothing_is_left(at)


async def test_an_address_has_one_and_all_have_some(tmp_path: Path) -> None:
    async with live(tmp_path, limits=replace(PATIENT, max_exhibitions=2), rooms_per_address=2) as at:
        game = await started(at)
        response = await at.http.post("/api/games", json={"bots": BOTS})
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "60"
        assert f"watch game {game['id']}" in response.json()["detail"]
        sitting = {"name": "sitting", "permanent": False}
        assert (await at.http.post("/api/rooms", json=sitting)).status_code == 201
        assert "has opened 2 rooms" in await at.refused(429, "POST", "/api/rooms", json=sitting | {"name": "second"})
        exhibit = at.server.lobby.exhibit
        await exhibit(BOTS, 1.0, "2001:db8::1")
        with pytest.raises(RateLimitError):
            await exhibit(BOTS, 1.0, "2001:db8::2")  # of the same /64
        with pytest.raises(ServerFullError, match="2 tables of house bots are enough"):
            await exhibit(BOTS, 1.0, "10.0.0.2")
        assert len(at.server.lobby.games) == 2


async def test_nobody_can_join_it(at: Live) -> None:
    game = await started(at)
    assert [room["name"] for room in (await at.get("/api/rooms"))["items"]] == ["default"]
    bot = await Bot(at.server, "aki", room=game["room"]).play()
    assert f"room {game['room']} is closed" in bot.errors[0]


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"bots": ["rule", "rule"]}, "body: bots"),
        ({"bots": ["rule", "rule", "nobody"]}, "body: bots.2 is 'nobody'"),
        ({"bots": ["rule", "rule", "search"]}, "body: bots.2 is 'search'"),
        ({"bots": ["rule", "rule", "rule:x.json"]}, "body: bots.2 is 'rule:x.json'"),
        ({"pause": 0.1}, "body: pause is 0.1"),
        ({"pause": 6}, "body: pause is 6"),
        ({"pause": "1"}, "body: pause is '1'"),
        ({"seed": 1}, "body: seed is unknown"),
    ],
)
async def test_what_cannot_be_asked_for(at: Live, changes: dict[str, Any], detail: str) -> None:
    assert (await at.refused(422, "POST", "/api/games", json={"bots": BOTS} | changes)).startswith(detail)
    await check_nothing_is_left(at)


async def test_where_tokens_are_needed_one_is_needed(tmp_path: Path) -> None:
    async with live(tmp_path, access="token") as at:
        assert "a token is needed" in await at.refused(401, "POST", "/api/games", json={"bots": BOTS})
        token = await at.server.lobby.store.add_token("aki")
        headers = {"Authorization": f"Bearer {token}"}
        assert (await at.http.post("/api/games", json={"bots": BOTS}, headers=headers)).status_code == 201


async def test_walls_are_not_those_of_the_room_s_seed(tmp_path: Path) -> None:
    async with live(tmp_path, seed=1) as at:
        first = await at.server.lobby.exhibit(BOTS, 1.0, HERE)
        second = await at.server.lobby.exhibit(BOTS, 1.0, "10.0.0.2")
        assert first.start.settings.seed is None
        assert first.start.seed != second.start.seed


async def test_it_does_not_survive_a_restart(tmp_path: Path) -> None:
    """Nor that with a version that deals other walls."""
    async with live(tmp_path) as at:
        await started(at)
        (journal,) = at.server.lobby._journals.glob("*.journal")
    journal.write_text(journal.read_text().replace('"layout":"tenhou"', '"layout":"other"'))
    async with live(tmp_path) as at:
        await check_nothing_is_left(at)


async def test_none_starts_while_nothing_can_be_stored(at: Live) -> None:
    at.server.lobby.storing._problem = "the disk is full"
    assert "try again later" in await at.refused(503, "POST", "/api/games", json={"bots": BOTS})
    assert list(at.server.lobby.rooms) == ["default"]
    assert not at.server.lobby.access._rooms
    assert not any(room.held for room in at.server.lobby.rooms.values())


async def test_an_exhibition_is_not_announced_to_go_on_after_a_restart(at: Live) -> None:
    await started(at)
    bot = Bot(at.server, "aki", room="solo+tsumogiri+tsumogiri")
    await bot.until_own()
    assert len(at.server.lobby.games) == 2
    assert unfinished_games(at.server.lobby) == 1
    await bot.answer(bot.game[-1])
    await bot.play()
    assert unfinished_games(at.server.lobby) == 0
