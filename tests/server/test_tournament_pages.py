"""Pages of a tournament that is over: the database cuts them out of its result, which may have 1.5 MB."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from server.settings import RoomSettings
from server.store import Store, StoredTournament
from server.tournaments.document import entry
from server.tournaments.plan import MAX_WALLS, Plan, game_id
from server.tournaments.tournament import Result, Tournament
from server.tournaments.tournaments import stored_of
from tests.support.running_server import Live
from tests.support.stored_games import opened, seat_results

CUP = "/api/tournaments/cup"
PLAN = Plan(
    entrants=tuple("abc"), house_bots=(), places=0, starts=None, walls=MAX_WALLS, games=0, seed=5, players=tuple("abc")
)
MOST_PARSED = 60_000  # characters of JSON for a page, its response included


def finished() -> tuple[StoredTournament, dict[str, Any]]:
    """As many games as a tournament may have, but the second; and a result with nothing else that is long."""
    cup = Tournament("cup", "0" * 32, RoomSettings(), PLAN, "finished", datetime.now(UTC), lambda room: None)
    results = {due.number: Result(seat_results(due.seats), ()) for due in cup.schedule if due.number != 1}
    schedule = [
        entry(due, game_id(cup.id, due.number), "finished", results[due.number])
        for due in cup.schedule
        if due.number in results
    ]
    mean = {"mean": 0.25, "interval": None}
    bots = [{"bot": name, "identity": "a bot that connected", "taken_over": 2, "failed": True} for name in "abc"]
    pairs = [{"bot": "a", "against": "b", "games": 2999, "ahead": mean, "points": mean}]
    result = {"version": "1", "bots": bots, "pairs": pairs, "matches": [], "schedule": schedule}
    return stored_of(cup), json.loads(json.dumps(result))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of what is parsed as JSON with the standard library, as SQLAlchemy does it in the event loop."""
    lengths: list[int] = []
    loads: Callable[..., Any] = json.loads

    def counted(text: str, *args: Any, **options: Any) -> Any:
        lengths.append(len(text))
        return loads(text, *args, **options)

    monkeypatch.setattr(json, "loads", counted)
    return lengths


async def test_the_store_reads_parts_of_a_result(database_url: str, parsed: list[int]) -> None:
    stored, result = finished()
    async with opened(database_url) as store:
        assert await store.tournament_standings("cup") == {"bots": [], "pairs": []}
        await store.save_tournament(stored)
        assert await store.tournament_result("cup") is None
        assert await store.tournament_standings("cup") == {"bots": [], "pairs": []}
        assert await store.tournament_schedule("cup", -1, 5) == []
        await store.save_tournament(stored, result)
        parsed.clear()
        assert await store.tournament_standings("cup") == {key: result[key] for key in ("bots", "pairs")}
        for after, first in ((-1, 0), (0, 1), (1, 1), (1000, 1000), (2997, 2997), (2999, 2999)):
            assert await store.tournament_schedule("cup", after, 3) == result["schedule"][first : first + 3]
        assert sum(parsed) < 10_000
        assert json.loads(await store.tournament_result("cup") or "") == result


async def test_no_page_parses_the_whole_result(at: Live, parsed: list[int]) -> None:
    stored, result = finished()
    lobby = at.server.lobby
    assert isinstance(lobby.store, Store)
    await lobby.store.save_tournament(stored, result)
    lobby.tournaments.over["cup"] = stored
    assert len(json.dumps(result)) > 10 * MOST_PARSED

    parsed.clear()
    found = await at.get(CUP)
    assert [row["name"] for row in found["standings"]] == ["a", "b", "c"]
    assert found["pairs"] == [{key: value for key, value in result["pairs"][0].items() if key != "points"}]
    assert sum(parsed) < MOST_PARSED

    parsed.clear()
    page = await at.get(f"{CUP}/games", limit=100)
    assert sum(parsed) < MOST_PARSED
    assert page["items"] == result["schedule"][:100]
    assert await at.page_through(f"{CUP}/games", limit=200, status="finished") == result["schedule"]
    assert (await at.get(f"{CUP}/games", status="due"))["items"] == []
    assert await at.get(f"{CUP}/result") == result
