"""The HTTP API: rooms, games being played, health, metrics and the OpenAPI document."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from server.retention import delete_not_kept
from server.settings import RoomSettings
from server.store import Keep, StoreError
from tests.support.running_server import TABLE, Live, live, play_into, play_on, until
from tests.support.server_bots import Bot, play_all, together
from tests.support.stored_records import held_up, stored_games, stored_lines

SEED = 1_234_567_890_123


async def first_error(at: Live, path: str, join: Any) -> str:
    """The error sent to a bot that joins like this, after which the connection is closed."""
    async with at.socket(path) as socket:
        await socket.recv()
        await socket.send(json.dumps(join))
        *_, last = [json.loads(data) async for data in socket]
    assert last["type"] == "error"
    return str(last["message"])


# Rooms ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_room_is_opened_read_and_closed(tmp_path: Path) -> None:
    async with live(tmp_path, fault_penalty=20) as at:
        given = {"name": "cup.1", "settings": {"length": "hanchan", "fill": ["random"], "bank_time": 3}}
        response = await at.http.post("/api/rooms", json=given)
        assert response.status_code == 201, response.text
        room = response.json()
        assert response.headers["location"] == "/api/rooms/cup.1"
        assert await at.get("/api/rooms/cup.1") == room
        own = {"length": "hanchan", "fill": ["random"], "bank_time": 3.0, "fault_penalty": 20.0}
        assert room["settings"].items() >= own.items()
        assert room["settings"].keys() == {field.name for field in fields(RoomSettings)} - {"seed"}
        assert {key: room[key] for key in ("waiting", "playing", "started", "permanent")} == {
            "waiting": 0, "playing": 0, "started": 0, "permanent": True,
        }  # fmt: skip
        detail = await at.refused(409, "POST", "/api/rooms", json={"name": "cup.1"})
        assert detail == "room cup.1 is open, or still plays its last games: close it first, or wait"
        response = await at.http.delete("/api/rooms/cup.1")
        assert (response.status_code, response.content) == (204, b"")
        assert "cup.1" in await at.refused(404, "GET", "/api/rooms/cup.1")
        assert "cup.1" in await at.refused(404, "DELETE", "/api/rooms/cup.1")


@pytest.mark.slow
async def test_closing_a_room_does_not_close_a_new_room_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the database is slow, the room becomes empty and is closed, and bots that join open a new one."""
    asked, go_on = held_up(monkeypatch, "close_room")
    async with live(tmp_path) as at:
        lobby = at.server.lobby
        gone, *bots = (Bot(at.server, name, room="cup") for name in "xabc")
        await gone.connect()
        await until(lambda: "cup" in lobby.rooms)
        closing = asyncio.create_task(at.http.delete("/api/rooms/cup"))
        await asked.wait()
        gone.abort()
        await until(lambda: "cup" not in lobby.rooms)
        await together(*(bot.until(lambda message: message["type"] == "start_kyoku") for bot in bots))
        go_on.set()
        assert (await closing).status_code == 204
        assert lobby.rooms["cup"].playing == 1
        for bot in bots:
            await bot.answer(bot.game[-1])
        await play_all(bots)
        assert all(bot.ended for bot in bots)


@pytest.mark.slow
async def test_rooms_are_opened_again_after_a_restart(tmp_path: Path) -> None:
    async with live(tmp_path) as at:
        for name in ("stays+rule", "goes"):
            settings = {"seed": SEED, "spectator_delay": 60}
            assert (await at.http.post("/api/rooms", json={"name": name, "settings": settings})).status_code == 201
        await at.http.delete("/api/rooms/goes")
        await at.http.delete("/api/rooms/default")
        before = await at.get("/api/rooms")
        assert [room["name"] for room in before["items"]] == ["stays+rule"]
    async with live(tmp_path) as at:
        default, *others = (await at.get("/api/rooms"))["items"]
        assert default["name"] == "default"
        assert others == before["items"]
        assert at.server.lobby.rooms["stays+rule"].settings.seed == SEED
        assert (await at.get("/api/rooms/stays+rule"))["settings"]["fill"] == ["rule"]


@pytest.mark.slow
async def test_the_games_of_a_room_are_counted_from_its_opening(tmp_path: Path) -> None:
    """Restarts do not reset the count; games of an earlier room with the name do not count. No walls are repeated."""
    cup = {"name": "cup", "settings": {"games": 2, "seed": SEED, "fill": ["tsumogiri"], "fill_delay": 0}}
    for n_before in (0, 2):
        async with live(tmp_path, resume_timeout=0) as at:
            assert (await at.http.post("/api/rooms", json=cup)).json()["started"] == 0
            await Bot(at.server, "aki", room="cup").play()
            await until(lambda: not at.server.lobby.games)
        async with live(tmp_path, resume_timeout=0) as at:
            assert (await at.get("/api/rooms/cup"))["started"] == 1
            await Bot(at.server, "aki", room="cup").play()
            await until(lambda: "cup" not in at.server.lobby.rooms)
            games = await stored_games(at.server, "cup")
            assert len(games) == n_before + 2
            assert len({(await stored_lines(at.server, game.id))[0]["wall_seed"] for game in games}) == len(games)


@pytest.mark.slow
async def test_a_room_whose_first_games_are_deleted_plays_the_rest_only(tmp_path: Path) -> None:
    """The server is started again meanwhile, which looks how many it has had."""
    cup = {"name": "cup", "settings": {"games": 2, "fill": ["tsumogiri"], "fill_delay": 0}}
    async with live(tmp_path, resume_timeout=0) as at:
        await at.http.post("/api/rooms", json=cup)
        await Bot(at.server, "aki", room="cup").play()
        await until(lambda: not at.server.lobby.games)
        await delete_not_kept(at.server.lobby.store, Keep(games=0), id)
    async with live(tmp_path, resume_timeout=0) as at:
        assert await stored_games(at.server, "cup") == []
        assert (await at.get("/api/rooms/cup"))["started"] == 1
        bot = Bot(at.server, "aki", room="cup", games=0)
        await bot.play()
        assert len(bot.games) == 1
        await until(lambda: "cup" not in at.server.lobby.rooms)


@pytest.mark.slow
async def test_the_seed_of_a_room_is_never_sent(tmp_path: Path) -> None:
    async with live(tmp_path, seed=SEED) as at:
        texts = [(await at.http.post("/api/rooms", json={"name": "cup", "settings": {"seed": SEED + 1}})).text]
        bot = Bot(at.server, "aki", room=TABLE)
        await play_into(bot, 1)
        game = next(iter(at.server.lobby.games))
        games = ("/api/games?status=playing", f"/api/games/{game}")
        for path in ("/api/rooms", "/api/rooms/cup", "/api/rooms/default", *games):
            texts.append((await at.http.get(path)).text)
        walls = at.server.lobby.games[game].start.seed
        assert not any(str(seed) in text for text in texts for seed in (SEED, SEED + 1, walls))
        assert not any("seed" in text for text in texts)


async def test_rooms_are_listed_in_pages(at: Live) -> None:
    names = ["a+rule", "a.b", "A", "b", "default", "z"]
    for name in names:
        await at.http.post("/api/rooms", json={"name": name})
    rooms = await at.page_through("/api/rooms", limit=2)
    assert [room["name"] for room in rooms] == sorted(names)
    assert (await at.get("/api/rooms", limit=6))["next_cursor"] is None
    assert "invalid cursor" in await at.refused(422, "GET", "/api/rooms?cursor=abc")
    for path in ("/api/rooms", "/api/games", "/api/games?status=playing", "/api/players"):
        query = "&cursor=" if "?" in path else "?cursor="
        assert await at.get(path + query) == await at.get(path)


PLAIN = "only the settings of the server may name a bot in a file, or with an argument"
WRONG_ROOMS: list[tuple[Any, str]] = [
    ({"name": "a b"}, "body: name is 'a b'; it should match pattern"),
    ({"name": "a+nobody"}, "body: room 'a+nobody': unknown bot 'nobody': choose one of"),
    ({"name": "a+rule+rule+rule"}, "body: room 'a+rule+rule+rule' names 3 house bots"),
    ({"name": "a", "settings": {"rules": "poker"}}, "body: settings.rules is 'poker'; unknown rules 'poker'"),
    ({"name": "a", "settings": {"fill": ["nobody"]}}, "body: settings.fill.0 is 'nobody'; unknown bot 'nobody'"),
    ({"name": "a", "settings": {"fill": ["rule", "x.py:B"]}}, f"body: settings.fill.1 is 'x.py:B'; {PLAIN}"),
    ({"name": "a", "settings": {"fill": "rule,random"}}, "body: settings.fill is 'rule,random'; it should"),
    ({"name": "a", "settings": {"fill": ["rule"] * 3}}, "body: settings.fill is "),
    ({"name": "a", "settings": {"house_bot": "x.py:B"}}, f"body: settings.house_bot is 'x.py:B'; {PLAIN}"),
    ({"name": "a", "settings": {"house_bot": "bert:/etc"}}, f"body: settings.house_bot is 'bert:/etc'; {PLAIN}"),
    ({"name": "a", "settings": {"house_bot": "bert:?device=cuda"}}, "body: settings.house_bot is 'bert:?dev"),
    ({"name": "a", "settings": {"house_bot": "random:x"}}, f"body: settings.house_bot is 'random:x'; {PLAIN}"),
    ({"name": "a", "settings": {"games": "3"}}, "body: settings.games is '3'; it should be a valid integer"),
    ({"name": "a", "settings": {"games": 10**18}}, "body: settings.games is 1000000000000000000; it should be less"),
    ({"name": "a", "settings": {"games": 10**400}}, "body: settings.games is 1000"),
    ({"name": "a", "settings": {"fault_penalty": 10**400}}, "body: settings.fault_penalty is 1000"),
    ({"name": "a", "settings": {"fault_penalty": 1e308}}, "body: settings.fault_penalty is 1e+308; it should be less"),
    ({"name": "."}, "body: name is '.'; it should match pattern"),
    ({"name": "..+rule"}, "body: name is '..+rule'; it should match pattern"),
    ({"name": "a", "settings": {"house_bot": "x" * 5000}}, "body: settings.house_bot is 'xxxxxxxxxxxx"),
    ({"name": "a+x.py"}, f"body: room 'a+x.py': {PLAIN}"),
    ({"name": "a", "settings": {"seed": -1}}, "body: settings.seed is -1; it should be greater than or equal to 0"),
    ({"name": "a", "settings": {"hints": True}}, "body: settings.hints is true, but the games are rated"),
    (
        {"name": "a", "settings": {"hints": True, "rated": True}},
        "body: settings.hints is true, but the games are rated",
    ),
    ({"name": "a", "settings": {"hints": True}, "permanent": False}, "body: settings.hints is true, but the games"),
    ({"name": "a", "settings": {"max_rooms": 9}}, "body: settings.max_rooms is unknown; see /docs"),
    ({"name": "a", "settings": {"b\n\u2028": 9}}, "body: settings.'b\\n\\u2028' is unknown; see /docs"),
    ({"name": "a", "settings": 3}, "body: settings must be a JSON object, sent as application/json"),
    ({"settings": {}}, "body: name is missing"),
    (["a"], "body: it must be a JSON object, sent as application/json"),
]


async def test_errors_in_a_new_room_are_described(at: Live) -> None:
    for body, detail in WRONG_ROOMS:
        assert (await at.refused(422, "POST", "/api/rooms", json=body)).startswith(detail)
    assert list(at.server.lobby.rooms) == ["default"]


async def test_hints_are_for_unrated_rooms(tmp_path: Path) -> None:
    """The server's own settings may be rated with hints, and so a room that leaves both to them."""
    async with live(tmp_path, rated=True, hints=True) as at:
        await at.refused(422, "POST", "/api/rooms", json={"name": "a", "settings": {"hints": True}})
        for name, settings in (("b", {}), ("c", {"hints": False, "rated": True}), ("d", {"rated": False})):
            response = await at.http.post("/api/rooms", json={"name": name, "settings": settings})
            assert response.status_code == 201, response.text
    async with live(tmp_path / "unrated", rated=False) as at:
        response = await at.http.post("/api/rooms", json={"name": "a", "settings": {"hints": True}})
        assert (response.status_code, response.json()["settings"]["hints"]) == (201, True)


async def test_bodies_must_be_short_json(tmp_path: Path) -> None:
    async def trickle() -> Any:
        yield b'{"name":'
        yield b'"a"}'

    async with live(tmp_path) as at:
        json_type = {"content-type": "application/json"}
        for status, content, headers, detail in (
            (
                422,
                b'{"name":',
                json_type,
                "body: not JSON (EOF while parsing a value at line 1 column 8); send one JSON",
            ),
            (422, b'{"name":"\xff"}', json_type, "body: not JSON (invalid unicode code point at line 1 column 10)"),
            (422, '{"name":"a"}'.encode("utf-16"), json_type, "body: not JSON (expected value at line 1 column 1)"),
            (422, b'\xef\xbb\xbf{"name":"a"}', json_type, "body: not JSON (expected value at line 1 column 1)"),
            (422, b'{"name":' + b"[" * 8_000, json_type, "body: not JSON (recursion limit exceeded at line 1"),
            (422, b'{"name":' + b"9" * 8_000 + b"}", json_type, "body: not JSON (number out of range at line 1"),
            (422, b'{"name":' + b"9" * 4000 + b"}", json_type, "body: name is 9999"),
            (422, b'{"name":NaN}', json_type, "body: not JSON (expected value at line 1 column 9)"),
            (422, b'{"name":"a"}', {"content-type": "text/plain"}, "body: it must be a JSON object, sent as"),
            (422, b"", {}, "body: it is missing; send a JSON object"),
            (413, b" " * 8_193, json_type, "the body is longer than 8,192 bytes"),
            (411, trickle(), json_type, "Content-Length is missing: send the length of the body"),
        ):
            said = await at.refused(status, "POST", "/api/rooms", content=content, headers=headers)
            assert said.startswith(detail)


@pytest.mark.slow
async def test_stored_rooms_are_opened_again_even_above_the_limit(tmp_path: Path) -> None:
    """So are `default` and rooms with unfinished games, but not rooms whose settings have become invalid."""
    async with live(tmp_path) as at:
        for name in ("a", "b"):
            assert (await at.http.post("/api/rooms", json={"name": name})).status_code == 201
        await at.server.lobby.store.save_room("gone", {"fill": ["nobody"]})
        await play_into(Bot(at.server, "aki", room=TABLE), 0)
    async with live(tmp_path, max_rooms=1) as at:
        assert set(at.server.lobby.rooms) == {"a", "b", "default", TABLE}
        assert "no more are allowed" in await at.refused(503, "POST", "/api/rooms", json={"name": "c"})


async def test_a_room_that_cannot_be_stored_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> None:
        raise StoreError("database postgresql://me@there/games: gone")

    async with live(tmp_path) as at:
        monkeypatch.setattr(at.server.lobby.store, "save_room", fail)
        detail = await at.refused(503, "POST", "/api/rooms", json={"name": "a"})
        assert detail == "the database does not answer; try again later"  # and not where it is
        assert list(at.server.lobby.rooms) == ["default"]


async def test_games_of_a_closed_room_are_finished(at: Live) -> None:
    await at.http.post("/api/rooms", json={"name": TABLE})
    player, waits = Bot(at.server, "aki", room=TABLE), Bot(at.server, "beni", room="default")
    question = await play_into(player, 0)
    room = await at.get(f"/api/rooms/{TABLE}")
    assert (room["playing"], room["started"], room["waiting"]) == (1, 1, 0)
    await waits.connect()
    await until(lambda: at.server.lobby.rooms["default"].waiting != [])
    assert (await at.get("/api/rooms/default"))["waiting"] == 1
    for name in (TABLE, "default"):
        assert (await at.http.delete(f"/api/rooms/{name}")).status_code == 204
    why = "room default is closed; join another room"
    code = {"code": "room_closed", "values": {"name": "default"}}
    assert await waits.next() == {"type": "error", "message": why} | code
    assert (await at.get("/api/rooms"))["items"] == []
    await at.refused(404, "GET", f"/api/rooms/{TABLE}")
    await at.refused(409, "POST", "/api/rooms", json={"name": TABLE})
    await play_on(player, question)
    assert player.ended
    assert (await at.get("/api/games"))["items"][0]["room"] == TABLE
    assert (await at.http.post("/api/rooms", json={"name": TABLE})).status_code == 201


# Games being played ---------------------------------------------------------------------------------------------------


async def test_games_being_played_are_listed(tmp_path: Path) -> None:
    async with live(tmp_path, spectator_delay=7) as at:
        assert (await at.get("/api/games?status=playing"))["items"] == []
        bots = [Bot(at.server, name, room=room) for name, room in (("a", TABLE), ("b", TABLE), ("c", TABLE + ".x"))]
        bots[2].join["room"] = "other+tsumogiri+tsumogiri"
        questions = [await play_into(bot, 0) for bot in bots]
        games = await at.page_through("/api/games", status="playing", limit=1)
        assert [game["started"] for game in games] == sorted((game["started"] for game in games), reverse=True)
        names = [[seat["name"] for seat in game["seats"]] for game in games]
        assert [next(name for name in seated if len(name) == 1) for seated in names] == ["c", "b", "a"]
        game = games[2]
        assert game == await at.get(f"/api/games/{game['id']}")
        assert game["status"] == "playing"
        assert (game["room"], game["rules"], game["length"]) == (TABLE, "tenhou", "east")
        assert (game["rounds"], game["spectator_delay"]) == (0, 7)
        assert [seat["score"] for seat in game["seats"]] == [35_000] * 3
        assert [seat["house_bot"] for seat in game["seats"]] == [name != "a" for name in names[2]]
        assert game["started"].endswith("Z")
        for room in (TABLE, TABLE.replace("+", "%2B")):  # encoded as it should be, and as people write it
            assert (await at.get(f"/api/games?status=playing&room={room}"))["items"] == games[1:]
        assert (await at.get("/api/games", status="playing", room="none"))["items"] == []
        for query, expected in (
            ({"player": "a"}, games[2:]),
            ({"player": "nobody"}, []),
            ({"rules": "tenhou"}, games),
            ({"rules": "majsoul"}, []),
            ({"since": games[1]["started"]}, games[:2]),
            ({"until": games[1]["started"]}, games[2:]),
        ):
            assert (await at.get("/api/games", status="playing", **query))["items"] == expected, query
        assert (await at.get("/api/games"))["items"] == (await at.get("/api/games", status="finished"))["items"] == []
        for secret in ("record", "walls"):
            assert "still being played" in await at.refused(404, "GET", f"/api/games/{game['id']}/{secret}")
        await play_on(bots[0], questions[0])
        assert (await at.get("/api/games?status=playing"))["items"] == games[:2]
        finished = await at.get(f"/api/games/{game['id']}")
        assert (finished["id"], finished["status"]) == (game["id"], "finished")
        assert (await at.get("/api/games?status=finished"))["items"] == [finished]
        for key in game.keys() - {"status", "rounds", "seats", "spectator_delay"}:
            assert finished[key] == game[key]
        for before, after in zip(game["seats"], finished["seats"], strict=True):
            assert after.items() >= before.items() - {("score", 35_000)}
        assert "invalid cursor" in await at.refused(422, "GET", "/api/games?status=playing&cursor=abc")


# Bots -----------------------------------------------------------------------------------------------------------------


async def test_errors_in_the_url_of_a_bot_are_described(at: Live) -> None:
    join = {"type": "join", "name": "aki"}
    for path, error in (
        ("/mjai/default?games=many", "join: games is 'many'; games must be a number of games"),
        ("/mjai/default?seen=-1", "join: seen is '-1'; seen must be a number of messages"),
        ("/mjai/default?games=" + "9" * 5000, "join: games is '999"),
        ("/mjai/default?dialect=klingon", "join: dialect is 'klingon'; dialect must be mjai3p,"),
        ("/mjai/default?resume=old", "resume: no game in play has this secret"),
        ("/mjai/default?token=bad", "the token is unknown or revoked"),
        ("/mjai/a%20b", "join: room is 'a b'; room must be 1 to 64 of"),
        ("/mjai/a+nobody", "room 'a+nobody': unknown bot 'nobody'"),
    ):
        assert (await first_error(at, path, join)).startswith(error)


# Operations -----------------------------------------------------------------------------------------------------------


async def test_a_wrong_date_is_told_what_a_date_looks_like(at: Live) -> None:
    assert "write a date like 2025-06-01" in await at.refused(422, "GET", "/api/puzzle?date=abc")
