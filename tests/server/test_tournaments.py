"""Tournaments on a server: from their creation to the result, with bots that connect, vanish, and come back."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from fastapi import HTTPException

from arena import bot_games
from arena.leagues.games import LeagueSettings
from arena.leagues.standings import league_of
from arena.leagues.store import Store as LeagueStore
from engine.contests.ratings import SAMPLES
from engine.statistics.counts import COUNTS
from server.access import DOWNLOADS_AT_ONCE
from server.api import tournaments
from server.api.common import read_cursor
from server.settings import RoomSettings, Settings
from server.store import Keep, Play
from server.tournaments import tournaments as tournaments_of_server
from server.tournaments.document import LIVE_SAMPLES
from server.tournaments.plan import Plan
from server.tournaments.tournament import Tournament
from tests.support.running_server import Live, live
from tests.support.server_bots import PATIENT, Bot, Clock, live_game, together, until
from tests.support.stored_games import opened
from tests.support.stored_records import stored_games, stored_lines

CUP = "/api/tournaments/cup"
LONG = 1e6  # seconds; more than the clocks of these tests advance
HOUSE = ["rule", "efficiency", "random"]


async def create(at: Live, status: int = 201, **plan: Any) -> Any:
    """Create the tournament `cup`."""
    plan = {"name": "cup", "seed": 5} | ({} if "games" in plan else {"walls": 1}) | plan
    response = await at.http.post("/api/tournaments", json=plan)
    assert response.status_code == status, response.text
    return response.json()


async def ended(at: Live) -> Any:
    """The tournament, once it is over."""
    await until(lambda: "cup" in at.server.lobby.tournaments.over)
    return await at.get(CUP)


def bots(at: Live, names: str, **join: Any) -> list[Bot]:
    """Bots that stay in the room of the tournament."""
    return [Bot(at.server, name, room="cup", games=0, **join) for name in names]


def read_by_the_arena(path: Path, result: dict[str, Any]) -> Any:
    """The league that the arena reads from a result."""
    path.write_text(json.dumps(result), encoding="utf-8")
    settings = LeagueSettings(**result["league"])
    store = LeagueStore(path, settings)
    return league_of(settings, store.bots, store.games.meetings(store.bots))


@pytest.mark.slow
async def test_from_creation_to_the_result(tmp_path: Path) -> None:
    """Bots that connect and house bots; the arena reads the result as a league of its own."""
    async with live(tmp_path) as at:
        told = await create(
            at, entrants=["a", "b"], house_bots=["rule", "efficiency"], settings={"rated": False}, walls=2
        )
        assert (told["status"], told["entrants"], told["rated"]) == ("open", 4, False)
        assert [entrant["here"] for entrant in told["standings"]] == [False, False, True, True]
        room = await at.get("/api/rooms/cup")
        assert room["tournament"]
        assert (await at.get("/api/tournaments"))["items"][0]["name"] == "cup"
        assert "is open" in await at.refused(409, "GET", f"{CUP}/result")
        a, b = bots(at, "ab")
        await together(a.play(), b.play())
        found = await ended(at)
        assert (found["status"], found["played"], found["games"]) == ("finished", 24, 24)
        assert all(error.endswith("is over; join another room") for bot in (a, b) for error in bot.errors)
        games = await at.page_through(f"{CUP}/games", limit=7)
        assert [game["number"] for game in games] == list(range(24))
        assert Counter(name for game in games for name in game["seats"]) == dict.fromkeys(
            ["a", "b", "rule (house)", "efficiency (house)"], 18
        )
        stored = {game.id: game for game in await stored_games(at.server, "cup")}
        seeds: dict[int, set[int]] = {}
        for game in games:
            its = stored[game["game"]]
            assert [(seat.name, seat.score, seat.rank) for seat in its.seats] == list(
                zip(game["seats"], game["score"], game["rank"], strict=True)
            )
            assert not its.rated
            seeds.setdefault(game["wall"], set()).add((await stored_lines(at.server, its.id))[0]["wall_seed"])
        assert [len(of_wall) for of_wall in seeds.values()] == [1, 1]
        assert (await at.get("/api/players/a"))["rated_games"] == 0

        result = await at.get(f"{CUP}/result")
        league = read_by_the_arena(tmp_path / "cup.json", result)
        assert league.document()["pairs"] == result["pairs"]
        assert {row["bot"]: row["rating"] for row in league.document()["bots"]} == {
            row["bot"]: row["rating"] for row in result["bots"]
        }
        assert [row["name"] for row in found["standings"]] == [standing.bot for standing in league.standings]
        assert league.totals["a"][-1] == sum(
            seat.score for game in stored.values() for seat in game.seats if seat.name == "a"
        )


def test_what_is_counted_is_what_the_arena_counts() -> None:
    assert [*bot_games.COUNTS] == [*COUNTS, "score"]
    assert set(COUNTS) < set(Play.model_fields)


@pytest.mark.slow
async def test_a_restart_in_the_middle(tmp_path: Path) -> None:
    """Games in play are resumed, finished ones are not played again, and the others follow."""
    async with live(tmp_path) as at:
        await create(at, entrants=["a", "b"], house_bots=["rule", "efficiency"])
        pair = bots(at, "ab", resume=True)
        playing = [asyncio.create_task(bot.play()) for bot in pair]
        tournament = at.server.lobby.tournaments.current["cup"]
        await until(lambda: len(tournament.results) >= 2 and all(len(bot.game) > 15 and not bot.ended for bot in pair))
        before = await at.page_through(f"{CUP}/games", limit=50)
    await asyncio.gather(*playing)
    finished = {game["game"] for game in before if game["status"] == "finished"}
    assert finished
    assert any(game["status"] == "playing" for game in before)
    async with live(tmp_path) as at:
        found = await at.get(CUP)
        assert found["status"] == "running"
        assert found["played"] >= len(finished)
        for bot in pair:
            bot.move(at.server)
            await bot.connect(resume=None if bot.idle else len(bot.game))
        await together(*(bot.play() for bot in pair))
        found = await ended(at)
        assert (found["played"], [row["taken_over"] for row in found["standings"]]) == (12, [0, 0, 0, 0])
        games = await at.page_through(f"{CUP}/games", limit=50)
        assert {game["game"] for game in games} == {game.id for game in await stored_games(at.server, "cup")}
    async with live(tmp_path) as at:  # over, and still there
        assert await at.get(CUP) == found
        assert await at.page_through(f"{CUP}/games", limit=50) == games


@pytest.mark.slow
async def test_an_entrant_that_disappears(tmp_path: Path) -> None:
    """It is waited for as long as for a lost connection; then the house bot plays for it, and it may come back."""
    async with live(tmp_path, timeout=LONG) as at:
        clock = Clock()
        await create(at, entrants=["a", "b"], house_bots=["rule"], walls=2, settings={"resume_timeout": 500})
        a, b = bots(at, "ab")
        playing = asyncio.create_task(a.play())
        await b.until_own()
        b.abort()  # in its first game
        await until(lambda: any(seat.needs_connection for seat in live_game(at.server).seats))
        clock.advance(501)
        tournament = at.server.lobby.tournaments.current["cup"]
        await until(lambda: len(tournament.results) == 1 and not tournament.in_play)
        clock.advance(400)
        await asyncio.sleep(0.05)
        assert not tournament.in_play
        clock.advance(101)
        await until(lambda: len(tournament.results) == 2)  # the house bot played the whole game, without b
        again = Bot(at.server, "b", room="cup", games=0)
        await asyncio.gather(again.play(), playing)
        found = await ended(at)
        rows = {row["name"]: row for row in found["standings"]}
        assert found["played"] == 6
        assert 2 <= rows["b"]["taken_over"] < 6
        assert not rows["b"]["failed"]
        assert len(again.games) == 6 - rows["b"]["taken_over"]
        games = await at.page_through(f"{CUP}/games", limit=50)
        lines = await stored_lines(at.server, games[1]["game"])
        assert lines[0]["type"] == "start_game"
        errors = [line for line in lines if line["type"] == "error"]
        assert [line["message"] for line in errors] == ["not there when the game began: rule plays this seat"]


@pytest.mark.slow
async def test_who_returns_after_it_was_given_up_is_waited_for_again(tmp_path: Path) -> None:
    """No game starts at once without an entrant that has just left."""
    async with live(tmp_path, timeout=LONG) as at:
        clock = Clock()
        soon = (datetime.now(UTC) + timedelta(seconds=1000)).isoformat()
        await create(at, entrants=["a", "b"], house_bots=["rule"], starts=soon, settings={"resume_timeout": 500})
        tournament = at.server.lobby.tournaments.current["cup"]
        a, b = bots(at, "ab")
        await b.connect()
        await until(lambda: tournament.present == ["b"])
        clock.advance(1001)
        await until(lambda: tournament.status == "running")
        clock.advance(501)
        asked = await b.until_own()  # in a game without a, which lasts until b plays on
        await a.connect()
        await until(lambda: tournament.present == ["a"])
        await b.answer(asked)
        playing = asyncio.create_task(b.play())
        await a.until_own()
        await a.send({"type": "leave"})
        await until(lambda: len(tournament.results) == 2)
        assert not tournament.in_play
        clock.advance(501)
        found = await ended(at)
        await playing
        rows = {row["name"]: row for row in found["standings"]}
        assert [rows["a"][key] for key in ("failed", "games", "taken_over")] == [False, 3, 3]


async def test_an_entrant_that_never_comes_has_failed(tmp_path: Path) -> None:
    async with live(tmp_path, timeout=LONG) as at:
        clock = Clock()
        soon = (datetime.now(UTC) + timedelta(seconds=1000)).isoformat()
        await create(at, entrants=["a"], house_bots=HOUSE, starts=soon)
        await asyncio.sleep(0.02)
        assert (await at.get(CUP))["status"] == "open"
        clock.advance(1001)
        tournament = at.server.lobby.tournaments.current["cup"]
        await until(lambda: tournament.status == "running")
        await until(lambda: len(tournament.results) == 3)  # those without it
        clock.advance(31)
        found = await ended(at)
        assert found["played"] == 12
        assert [(row["name"], row["failed"], row["games"]) for row in found["standings"]][-1] == ("a", True, 0)
        assert [row["games"] for row in found["standings"]] == [3, 3, 3, 0]
        league = read_by_the_arena(tmp_path / "cup.json", await at.get(f"{CUP}/result"))
        assert league.failed == ["a"]
        assert league.games == 12
        stored = (await at.server.lobby.store.games()).items
        assert {game.casual for game in stored if any(seat.absent for seat in game.seats)} == {True}
        assert await at.server.lobby.store.player("a") is not None
        totals = await at.get("/api/players/a")
        assert [totals[key] for key in ("games", "rated_games", "mean_rank", "mean_points")] == [0, 0, None, None]
        assert (await at.get("/api/players/rule (house)"))["games"] == 9, "those it played for others count for nobody"
        store = at.server.lobby.store
        assert (await store.statistics("a")).games == 0, "it has played none"
        assert (await store.opponents("a")).items == []
        assert {each.name for each in (await store.opponents("rule (house)")).items}.isdisjoint({"a"})


async def test_who_leaves_every_game_has_not_failed(tmp_path: Path) -> None:
    """Else it could take all its games from the result."""
    async with live(tmp_path, timeout=LONG) as at:
        await create(at, entrants=["a", "b"], house_bots=["rule"], walls=1)
        (b,) = bots(at, "b")
        playing = asyncio.create_task(b.play())
        for _ in range(3):
            a = Bot(at.server, "a", room="cup", reply="when_asked")
            await a.until_own()
            await a.send({"type": "leave"})
            while await a.next() is not None:
                pass
        found = await ended(at)
        await playing
        rows = {row["name"]: row for row in found["standings"]}
        assert [(rows["a"][key]) for key in ("failed", "games", "taken_over")] == [False, 3, 3]


async def test_a_tournament_that_is_cancelled_while_it_begins_stays_cancelled(at: Live) -> None:
    await create(at, entrants=["a"], house_bots=HOUSE)
    tournaments = at.server.lobby.tournaments
    tournament = tournaments.current["cup"]
    tournament.plan = tournament.plan.model_copy(update={"players": tuple(tournament.entrants)})
    beginning = asyncio.create_task(tournaments._store_and_begin(tournament))
    await asyncio.sleep(0)
    await tournaments.cancel(tournament)
    await beginning
    found = await ended(at)
    assert (found["status"], found["played"]) == ("cancelled", 0)
    (stored,) = await at.server.lobby.store.tournaments()
    assert stored.status == "cancelled"
    await tournaments.cancel(tournament)
    assert await at.get(f"{CUP}/result") != {}, "cancelled again, it keeps its result"


async def test_after_a_restart_entrants_have_time_to_come_back(tmp_path: Path) -> None:
    """Although the time to begin came while the server was down."""
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    async with live(tmp_path) as at:
        await create(at, entrants=["a"], house_bots=["rule"], places=3, starts=later)
    async with opened(Settings(data=tmp_path).database_url) as store:
        (cup,) = await store.tournaments()
        await store.save_tournament(cup.model_copy(update={"plan": cup.plan | {"starts": cup.created.isoformat()}}))
    async with live(tmp_path) as at:
        assert (await at.get(CUP))["status"] == "open"
        a, d = bots(at, "ad")
        await together(a.play(), d.play())
        assert (await ended(at))["status"] == "finished"


async def test_one_that_cannot_go_on_after_a_restart_says_so(tmp_path: Path) -> None:
    """It goes on where a later start finds its house bot."""
    async with live(tmp_path) as at:
        await create(at, entrants=["a", "b", "c"])
    async with opened(Settings(data=tmp_path).database_url) as store:
        (cup,) = await store.tournaments()
        await store.save_tournament(cup.model_copy(update={"settings": cup.settings | {"house_bot": "gone"}}))
    async with live(tmp_path) as at:
        found = await at.get(CUP)
        assert (found["status"], found["over"]) == ("cancelled", True)
        assert "could not go on after a restart" in await at.refused(409, "GET", f"{CUP}/result")
        (stored,) = await at.server.lobby.store.tournaments()
        assert stored.status == "open"


async def test_open_entry(at: Live) -> None:
    """Whoever joins first has a place; who leaves before the beginning frees it; a second connection replaces one."""
    await create(at, entrants=["a"], house_bots=["rule"], places=3)
    b, c = bots(at, "bc")
    await b.connect()
    await until(lambda: at.server.lobby.rooms["cup"].waiting != [])
    await c.play()
    assert c.errors == ["tournament cup has no place for 'c'; join another room"]
    again = Bot(at.server, "b", room="cup", games=0)
    await again.connect()
    await b.play()
    assert b.errors == ["another connection has joined under this name"]
    await again.leave()
    await until(lambda: at.server.lobby.rooms["cup"].waiting == [])
    a, d = bots(at, "ad")
    await together(a.play(), d.play())
    found = await ended(at)
    assert sorted(row["name"] for row in found["standings"]) == ["a", "d", "rule (house)"]
    late = await Bot(at.server, "a", room="cup").play()
    assert late.errors == ["tournament cup is over; join another room"]


async def test_fewer_than_three_at_the_start_cancel_it(at: Live) -> None:
    await create(at, house_bots=["rule", "random"], places=4, starts=datetime.now(UTC).isoformat())
    found = await ended(at)
    assert (found["status"], found["played"]) == ("cancelled", 0)
    assert (await at.get(f"{CUP}/result"))["schedule"] == []


async def test_house_bots_play_about_so_many_games_and_are_not_pruned_before_the_end(tmp_path: Path) -> None:
    async with live(tmp_path, timeout=LONG) as at:
        clock = Clock()
        await create(
            at, entrants=["a"], house_bots=[*HOUSE, "tsumogiri"], games=30, starts=datetime.now(UTC).isoformat()
        )
        tournament = at.server.lobby.tournaments.current["cup"]
        await until(lambda: len(tournament.results) >= 9 and not tournament.in_play)
        store, keep = at.server.lobby.store, Keep(since=datetime.now(UTC) + timedelta(days=1), games=1, bytes=1)
        assert [n async for n in store.prune(keep)] == []
        clock.advance(31)
        found = await ended(at)
        assert 30 <= found["played"] == found["games"] < 60
        assert sum([n async for n in store.prune(keep)]) == found["played"]
        assert len(await at.page_through(f"{CUP}/games", limit=50)) == found["played"]


async def test_it_is_finished_only_with_its_final_standings(at: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """And while it runs, it tells of as many games as its standings are made from."""
    compute, asked = tournaments_of_server.computation, Counter[int]()
    may_end = {SAMPLES: threading.Event(), LIVE_SAMPLES: threading.Event()}

    def computation(tournament: Tournament, samples: int = SAMPLES) -> Callable[[], dict[str, Any]]:
        computed = compute(tournament, samples)
        asked[samples] += 1

        def slowly() -> dict[str, Any]:
            assert may_end[samples].wait(60)
            return computed()

        return slowly

    monkeypatch.setattr(tournaments_of_server, "computation", computation)
    may_end[LIVE_SAMPLES].set()
    await create(at, house_bots=HOUSE)
    await until(lambda: asked[SAMPLES] == 1)  # all is played
    found = await at.get(CUP)
    assert (found["status"], found["over"], found["games"]) == ("running", False, 3)
    assert {row["games"] for row in found["standings"]} == {found["played"]}

    may_end[LIVE_SAMPLES].clear()
    at.server.lobby.tournaments._live.clear()
    n_asked = asked[LIVE_SAMPLES]
    early = asyncio.create_task(at.get(CUP))
    await until(lambda: asked[LIVE_SAMPLES] > n_asked)
    may_end[SAMPLES].set()
    found = await ended(at)
    may_end[LIVE_SAMPLES].set()
    assert (found["status"], found["over"], found["played"]) == ("finished", True, 3)
    assert await early == found, "it ended while its standings were computed"
    result = await at.get(f"{CUP}/result")
    assert {row["name"]: row["rating"] for row in found["standings"]} == {
        row["bot"]: row["rating"] for row in result["bots"]
    }


@pytest.mark.slow
async def test_cancel_and_delete(at: Live) -> None:
    """A game in play is finished and counts; the name is free once the tournament is deleted."""
    await create(at, entrants=["a"], house_bots=["rule", "random"])
    (a,) = bots(at, "a")
    drawn = await a.until_own()
    assert "cancels it" in await at.refused(409, "DELETE", "/api/rooms/cup")
    assert "cup is there already" in (await create(at, 409, house_bots=HOUSE))["detail"]
    assert (await at.http.delete(CUP)).status_code == 204
    found = await at.get(CUP)
    assert (found["status"], found["over"]) == ("cancelled", False)
    await a.answer(drawn)
    await a.play()
    found = await ended(at)
    assert (found["played"], found["games"], len(a.games)) == (1, 3, 1)
    assert "name of a tournament" in await at.refused(409, "POST", "/api/rooms", json={"name": "cup"})
    assert len((await at.get(f"{CUP}/result"))["schedule"]) == 1
    with ExitStack() as downloads:
        for _ in range(DOWNLOADS_AT_ONCE):
            downloads.enter_context(at.server.lobby.access.downloading("127.0.0.1"))
        assert "records are being sent" in await at.refused(429, "GET", f"{CUP}/result")
    assert (await at.http.delete(CUP)).status_code == 204
    assert "no tournament 'cup'" in await at.refused(404, "GET", CUP)
    assert len(await stored_games(at.server, "cup")) == 1
    await create(at, house_bots=HOUSE)
    assert (await ended(at))["played"] == 3


def test_a_page_of_the_schedule_makes_ids_only_of_its_games(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(
        entrants=(), house_bots=tuple(HOUSE), places=0, starts=None, walls=100, games=0, seed=5, players=tuple("abc")
    )
    cup = Tournament("cup", "0" * 32, RoomSettings(), plan, "running", datetime.now(UTC), lambda room: None)
    cup.in_play = {"x": cup.schedule[200], "y": cup.schedule[100]}
    made: list[int] = []

    def make_id(tournament_id: str, number: int) -> str:
        made.append(number)
        return str(number)

    monkeypatch.setattr(tournaments, "game_id", make_id)
    assert [game["number"] for game in tournaments.scheduled(cup, -1, "playing")] == made == [100, 200]
    assert [game["number"] for game in tournaments.scheduled(cup, 100, "playing")] == [200]
    assert not list(tournaments.scheduled(cup, -1, "finished"))
    assert [game["number"] for game in islice(tournaments.scheduled(cup, 98, "due"), 2)] == [99, 101]
    assert len(list(tournaments.scheduled(cup, -1, "all"))) == 300


def test_a_forged_cursor_of_the_schedule_is_refused() -> None:
    """A number below 0 would count from the end."""
    for number in (-5, -(10**9), 1 << 40, "x", None):
        cursor = base64.urlsafe_b64encode(json.dumps(["schedule", number]).encode()).decode()
        with pytest.raises(HTTPException) as refused:
            read_cursor(tournaments.BY_NUMBER, cursor)
        assert refused.value.status_code == 422


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "a b"}, "name is 'a b'"),
        ({"name": "cup+rule"}, "name is 'cup+rule'"),
        ({"house_bots": ["rule", "random", "nobody"]}, "house_bots.2 is 'nobody'; unknown bot"),
        ({"house_bots": ["rule"]}, "entrants and house_bots name 1"),
        ({"entrants": ["x" * 65]}, "entrants.0 is "),
        ({"walls": 1001}, "walls is 1001"),
        ({"walls": 0}, "walls or games is needed"),
        ({"walls": 1.5}, "walls is 1.5"),
        ({"settings": {"fill": ["rule"]}}, "settings.fill follows from the schedule"),
        ({"settings": {"length": "long"}}, "settings.length is 'long'"),
        ({"starts": "tomorrow"}, "starts is 'tomorrow'; write a time like"),
        ({"starts": "2020-01-01T00:00:00Z"}, "starts is 2020-01-01T00:00:00+00:00, which is over"),
        ({"entrants": ["a", "a\u200b", "b"]}, "entrants.1: 1 to 64 printable characters"),
        ({"entrants": ["a", "a ", "b"]}, "entrants has 'a' twice"),
        ({"starts": "2999-01-01T00:00:00Z"}, "starts is more than 30 days away"),
        ({"rounds": 3}, "rounds is unknown"),
    ],
)
async def test_errors_name_the_field(at: Live, given: dict[str, Any], told: str) -> None:
    plan = {"name": "cup", "house_bots": HOUSE, "walls": 1} | given
    assert f"body: {told}" in await at.refused(422, "POST", "/api/tournaments", json=plan)
    assert (await at.get("/api/tournaments"))["items"] == []


async def test_only_admins_create_and_cancel_and_entrants_need_tokens(tmp_path: Path) -> None:
    async with live(tmp_path, access="token") as at:
        store = at.server.lobby.store
        admin, bot = await store.add_token("boss", admin=True), await store.add_token("a")
        plan = {"name": "cup", "entrants": ["a", "b"], "house_bots": ["rule"], "walls": 1}
        for token, status in ((None, 401), ("unknown", 401), (bot, 403)):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            await at.refused(status, "POST", "/api/tournaments", json=plan, headers=headers)
            await at.refused(status, "DELETE", CUP, headers=headers)
        headers = {"Authorization": f"Bearer {admin}"}
        told = await at.refused(422, "POST", "/api/tournaments", json=plan, headers=headers)
        assert told.startswith("body: entrants.1 is 'b', which has no token")
        await store.add_token("b")
        assert (await at.http.post("/api/tournaments", json=plan, headers=headers)).status_code == 201
        assert (await at.http.delete(CUP, headers=headers)).status_code == 204


async def test_their_number_is_limited(tmp_path: Path) -> None:
    async with live(tmp_path, limits=replace(PATIENT, max_tournaments=1, kept_tournaments=2)) as at:
        waiting = {"entrants": ["a", "b", "c"], "walls": 1}
        for name in ("one", "two"):
            assert (await at.http.post("/api/tournaments", json=waiting | {"name": name})).status_code == 201
            told = await at.refused(503, "POST", "/api/tournaments", json=waiting | {"name": "more"})
            assert "1 tournaments are not over" in told
            await at.http.delete(f"/api/tournaments/{name}")
            await until(lambda name=name: name in at.server.lobby.tournaments.over)  # type: ignore[misc]
        assert "2 tournaments are kept" in await at.refused(
            503, "POST", "/api/tournaments", json=waiting | {"name": "x"}
        )
        await at.http.delete("/api/tournaments/one")
        assert (await at.http.post("/api/tournaments", json=waiting | {"name": "x"})).status_code == 201
