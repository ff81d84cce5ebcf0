"""The HTTP API: finished games, their records, players and ratings."""

from __future__ import annotations

import gzip
import random
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest

from engine.mjai.messages import Message
from engine.records import mjai, tenhou_json
from engine.records.model import GameRecord
from engine.records.wall import true_walls
from server.store import SeatResult, StoredGame, StoreError
from server.store.lists import PlayerOrder
from tests.support.running_server import Live, live
from tests.support.server_bots import PATIENT, Bot, tsumogiri
from tests.support.stored_games import NAMES, make_game, random_game, seat_results

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ODD_NAMES = (
    "a/b", "a/b/ratings", "rule:x=1/2+3 (house)", "100%", "雀 士", "?a=b&c#d", "a/statistics", "<img src=x>", "#7",
)  # fmt: skip


async def fill(at: Live, n: int) -> list[str]:
    """Store `n` games; returns their ids, newest first."""
    chance = random.Random(1)
    rooms, rules = ("default", "cup+rule"), ("tenhou", "majsoul")
    games = []
    for minute in range(n):
        game = random_game(chance, minute)
        games.append(make_game(seats=game.seats, minute=minute, room=rooms[minute % 2], rules=rules[minute % 3 == 0]))
        await at.server.lobby.store.save_game(games[-1])
    return [game.id for game in reversed(games)]


def instants(node: Any) -> Any:
    """JSON with times as datetime."""
    if isinstance(node, dict):
        return {key: instants(value) for key, value in node.items()}
    if isinstance(node, list):
        return [instants(value) for value in node]
    return datetime.fromisoformat(node) if isinstance(node, str) and TIME.fullmatch(node) else node


def as_json(game: StoredGame) -> dict[str, Any]:
    """A stored game as the API sends it."""
    fields = {name: getattr(game, name) for name in StoredGame.model_fields}
    seats = [{name: getattr(seat, name) for name in SeatResult.model_fields} for seat in game.seats]
    return fields | {"status": "finished", "rated": game.rated, "seats": seats}


# Games ----------------------------------------------------------------------------------------------------------------


async def test_games_are_sent_as_they_are_stored(at: Live) -> None:
    (game_id,) = await fill(at, 1)
    stored = await at.server.lobby.store.game(game_id)
    assert stored is not None
    game = await at.get(f"/api/games/{game_id}")
    assert TIME.fullmatch(game["started"])
    assert TIME.fullmatch(game["finished"])
    assert instants(game) == as_json(stored)
    assert await at.get("/api/games") == {"items": [game], "next_cursor": None}
    assert await at.refused(404, "GET", "/api/games/0123") == "there is no game '0123'"


@pytest.mark.slow
async def test_games_are_filtered_as_in_the_store(at: Live) -> None:
    await fill(at, 40)
    early, late, in_tokyo = "2025-06-01T12:10:00Z", "2025-06-01T12:30:00Z", "2025-06-01T21:10:00+09:00"
    everything = {"player": "beni", "room": "default", "rules": "tenhou", "since": early, "until": late}
    one_each = [{key: value} for key, value in everything.items()]
    for query in (everything, *one_each, {"room": "cup+rule"}, {"rules": "majsoul"}, {"since": in_tokyo}):
        times = {key: datetime.fromisoformat(query[key]) for key in ("since", "until") if key in query}
        asked: dict[str, Any] = {**query, **times}
        stored = (await at.server.lobby.store.games(**asked, limit=100)).items
        assert 3 < len(stored) < 40
        assert instants(await at.page_through("/api/games", limit=3, **query)) == [*map(as_json, stored)], query
    plain = await at.get("/api/games?room=cup+rule&limit=200")  # the plus sign not encoded
    assert len(plain["items"]) == 20


WRONG_QUERIES = [
    ("/api/games?limit=0", "query: limit is '0'; it should be greater than or equal to 1"),
    ("/api/games?limit=201", "query: limit is '201'; it should be less than or equal to 200"),
    ("/api/games?limit=many", "query: limit is 'many'; it should be a valid integer"),
    ("/api/games?cursor=abc", "invalid cursor: use next_cursor of the previous page"),
    ("/api/games?since=yesterday", "query: since is 'yesterday'; write a time like 2025-06-01T12:00:00Z"),
    ("/api/games?until=2025-06-01", "query: until is '2025-06-01'; write a time like 2025-06-01T12:00:00Z"),
    *(
        (f"/api/games?since={text}", f"query: since is '{text}'; write a time like 2025-06-01T12:00:00Z")
        for text in ("2025", "1748779200", "-1.5", "inf", "2025-06-01T12:00:00", "2025-06-01_12:00:00Z", "12:00:00Z")
    ),
    ("/api/games?since=9999-12-31T23:00:00-09:00", "query: since is '9999-12-31T23:00:00-09:00'; it is outside"),
    ("/api/players?order=age", "query: order is 'age'; it should be 'rating', 'name' or 'games'"),
    ("/api/players?cursor=abc", "invalid cursor"),
    ("/api/players/aki/ratings?cursor=abc", "invalid cursor"),
    ("/api/players/aki/ratings?step=0", "query: step is '0'"),
    ("/api/players/aki/opponents?cursor=x", "invalid cursor"),
    ("/api/players/aki/statistics?since=yesterday", "query: since is 'yesterday'"),
    ("/api/games/0123/record?format=png", "query: format is 'png'; it should be 'mjson', 'tenhou', 'libriichi3p'"),
]


async def test_errors_in_a_query_are_described(at: Live) -> None:
    await fill(at, 4)
    for path, detail in WRONG_QUERIES:
        assert (await at.refused(422, "GET", path)).startswith(detail)


# Records --------------------------------------------------------------------------------------------------------------


def moves(record: GameRecord) -> list[Message]:
    """The events that are the same in all formats; results have more or less detail."""
    return [event for event in record.events if event["type"] not in ("start_game", "hora", "ryukyoku", "end_game")]


async def test_annotations_with_line_ends_of_unicode_spoil_no_record(tmp_path: Path) -> None:
    """JSON may hold them as they are: a reader that takes them for ends of lines finds no JSON."""

    def annotated(bot: Bot, message: Message) -> Message | None:
        reply = tsumogiri(bot, message)
        return {**reply, "ext_bot": {"\u2028": "\u2029\u0085"}} if isinstance(reply, dict) else None

    async with live(tmp_path, length="east") as at:
        await Bot(at.server, "aki", annotated, room="solo+tsumogiri").play()
        (game,) = (await at.get("/api/games"))["items"]
        path = f"/api/games/{game['id']}/record"
        assert "\u2028" in gzip.decompress((await at.http.get(path)).content).decode()
        for form in ("tenhou", "kita", "libriichi3p"):
            assert (await at.http.get(path, params={"format": form})).status_code == 200


async def test_records_are_downloaded_in_every_format(tmp_path: Path) -> None:
    async with live(tmp_path, seed=1, seats="fixed") as at:
        await Bot(at.server, "aki", room="solo+rule+rule").play()
        (game,) = (await at.get("/api/games"))["items"]
        path = f"/api/games/{game['id']}/record"
        response = await at.http.get(path)
        assert response.content == await at.server.lobby.store.record(game["id"])
        assert response.headers["content-type"] == "application/gzip"
        assert "content-encoding" not in response.headers
        assert response.headers["content-disposition"] == f'attachment; filename="{game["id"]}.mjson.gz"'
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        kept = mjai.read(gzip.decompress(response.content).decode(), "kept")
        assert {"hora", "reach", "nukidora"} <= {event["type"] for event in kept.events}
        forms = {"tenhou": ("application/json", "json"), "kita": ("application/x-ndjson", "kita.mjson")}
        forms["libriichi3p"] = ("application/x-ndjson", "libriichi3p.mjson")
        for form, (media_type, suffix) in forms.items():
            response = await at.http.get(path, params={"format": form})
            assert response.headers["content-type"] == media_type
            assert response.headers["content-disposition"] == f'attachment; filename="{game["id"]}.{suffix}"'
            assert ("kita" in response.text) == (form == "kita")
            assert ('"scores":[35000,35000,35000,0]' in response.text) == (form == "libriichi3p")
            reader = tenhou_json if form == "tenhou" else mjai
            again = reader.read(response.text, form)
            assert [event["type"] for event in again.events] == [event["type"] for event in kept.events]
            assert moves(again) == moves(kept)


async def test_the_walls_of_a_finished_game(tmp_path: Path) -> None:
    async with live(tmp_path, length="east") as at:
        await Bot(at.server, "aki", room="solo+rule+rule").play()
        (game,) = (await at.get("/api/games"))["items"]
        record = (await at.http.get(f"/api/games/{game['id']}/record")).content
        kept = mjai.read(gzip.decompress(record).decode(), "kept")
        walls = (await at.get(f"/api/games/{game['id']}/walls"))["walls"]
        assert walls == true_walls(kept)
        for wall, events in zip(walls, kept.rounds(), strict=True):
            assert [len(wall[part]) for part in ("draws", "replacements", "dora", "ura")] == [55, 8, 5, 5]
            first = next(event["pai"] for event in events if event["type"] == "tsumo")
            assert (wall["draws"][0], wall["dora"][0]) == (first, events[0]["dora_marker"])
        assert "there is no game" in await at.refused(404, "GET", "/api/games/0123/walls")


async def test_a_record_with_a_known_etag_is_not_sent_again(at: Live) -> None:
    ids = await fill(at, 2)
    tags = []
    for game_id in ids:
        path = f"/api/games/{game_id}/record"
        response = await at.http.get(path)
        tags.append(response.headers["etag"])
        for known, status in ((tags[-1], 304), (f'"x", W/{tags[-1]}', 304), ("*", 304), ('"x"', 200), ("", 200)):
            response = await at.http.get(path, headers={"If-None-Match": known})
            assert (response.status_code, bool(response.content)) == (status, status == 200), known
            assert response.headers["etag"] == tags[-1]
    assert "there is no game" in await at.refused(404, "GET", "/api/games/0123/record")


async def test_downloads_are_limited_by_address(tmp_path: Path) -> None:
    stopped = replace(PATIENT, clock=lambda: 1000.0)  # however slow the downloads are, none is refilled
    async with live(tmp_path, limits=stopped, downloads_per_minute=3) as at:
        (game_id,) = await fill(at, 1)
        path = f"/api/games/{game_id}/record"
        for _ in range(3):
            assert (await at.http.get(path)).status_code == 200
        response = await at.http.get(path)
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) == 20
        detail = (
            "more than 3 downloads a minute from 127.0.0.1 (the server's setting downloads_per_minute); try again later"
        )
        problem = response.json()
        assert (problem["detail"], problem["code"]) == (detail, "too_many")
        assert (await at.http.get(f"/api/games/{game_id}")).status_code == 200
        behind_a_proxy = await at.http.get(path, headers={"X-Forwarded-For": "192.0.2.7"})
        assert behind_a_proxy.status_code == 200


# Players --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_players_are_listed_in_the_orders_of_the_store(at: Live) -> None:
    await fill(at, 30)
    for order in get_args(PlayerOrder):
        players = await at.page_through("/api/players", order=order, limit=3)
        stored = (await at.server.lobby.store.players(order=order)).items
        assert [player["name"] for player in players] == [player.name for player in stored]
    assert {player["name"] for player in players} == set(NAMES)
    assert (await at.get("/api/players"))["items"] == await at.page_through("/api/players", order="rating", limit=3)
    for player in players:
        assert await at.get(f"/api/players/{player['name']}") == player
        games = await at.page_through("/api/games", player=player["name"], limit=200)
        assert player["games"] == player["rated_games"] == len(games)
        assert player["last_seen"] == games[0]["finished"]


@pytest.mark.slow
async def test_ratings_are_listed_game_by_game(at: Live) -> None:
    await fill(at, 90)
    player = await at.get("/api/players/aki")
    for limit in (1, 50, 51, 200):
        points = await at.page_through("/api/players/aki/ratings", limit=limit)
        assert [point["number"] for point in points] == list(range(1, player["rated_games"] + 1))
    assert points[-1]["rating"] == player["rating"]
    assert player["rating"]["sigma"] < points[0]["rating"]["sigma"]
    games = await at.page_through("/api/games", player="aki", limit=200)
    assert [point["game_id"] for point in points] == [game["id"] for game in reversed(games)]
    assert [point["finished"] for point in points] == [game["finished"] for game in reversed(games)]
    for page in ("", "/ratings", "/statistics", "/opponents"):
        assert await at.refused(404, "GET", f"/api/players/nobody{page}") == "there is no player 'nobody'"


async def test_any_name_can_be_requested(at: Live) -> None:
    for first in range(0, len(ODD_NAMES), 3):
        await at.server.lobby.store.save_game(make_game(seats=seat_results(ODD_NAMES[first : first + 3])))
    for name in ODD_NAMES:
        path = f"/api/players/{quote(name, safe='')}"
        for of_player in (path, f"{path}/statistics"):
            assert (await at.get(of_player))["name"] == name
        assert len((await at.get(f"{path}/opponents"))["items"]) == 2
        assert len((await at.get(f"{path}/ratings"))["items"]) == 1
        assert len((await at.get("/api/games", player=name))["items"]) == 1


# When the database fails ----------------------------------------------------------------------------------------------


STORE_CALLS = [  # method of the store, path that calls it
    ("games", "/api/games"),
    ("game", "/api/games/0123"),
    ("record", "/api/games/0123/record"),
    ("players", "/api/players"),
    ("player", "/api/players/aki"),
    ("rating_history", "/api/players/aki/ratings"),
]


async def test_errors_of_the_database_do_not_reveal_its_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise StoreError("database postgresql://me@there/games: gone")

    async with live(tmp_path) as at:
        await fill(at, 5)
        for method, path in STORE_CALLS:
            with monkeypatch.context() as patch:
                patch.setattr(at.server.lobby.store, method, fail)
                assert await at.refused(503, "GET", path) == "the database does not answer; try again later"
