"""The puzzle of a day: chosen by the date from games that were over before, made once, and without names."""

from __future__ import annotations

import asyncio
import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.review.decisions import DISCARD_KIND, seat_decisions
from agents.review.opinions import cached_bot
from agents.review.review import make_review
from engine.actions import TSUMOGIRI
from engine.mjai.messages import for_seat
from engine.records.files import read_records
from engine.records.model import GameRecord
from engine.rules import N_SEATS
from engine.tiles import MJAI_NAMES
from server import puzzles
from server.limits import LIMITS
from server.puzzle_work import (
    LEAST_LOSS,
    MAX_CHOSEN,
    MOST_LOSS,
    NO_PUZZLE,
    SIMPLE,
    order_of,
    puzzle,
    puzzle_of_files,
    records_of,
    suitable_decisions,
)
from server.worker import Progress, Work, Worker, no_progress
from tests.conftest import DATA
from tests.support import worker_tasks
from tests.support.running_server import Live, live
from tests.support.stored_games import make_game

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "game.mjson"
RECORD = gzip.compress(EXAMPLE.read_bytes(), mtime=0)
OF_PEOPLE = [(path.name, path.read_bytes()) for path in sorted((DATA / "records").glob("phoenix_202*.json"))]
BOTS = ("bert", "rule")
TODAY = datetime.now(UTC).date()
PATH = "/api/puzzle"
SOON = 180.0  # seconds: the worker may have to start, on a busy machine


def made(day: date, records: list[tuple[str, bytes]] | None = None) -> dict[str, Any]:
    """The puzzle of a day, from one game unless others are given."""
    found: dict[str, Any] = json.loads(
        gzip.decompress(puzzle(no_progress, records=records or [("x", RECORD)], bots=BOTS, day=day))
    )
    return found


async def store_game(at: Live, days_ago: int = 2, record: bytes = RECORD) -> str:
    """Store a game that was over some days ago; returns its id."""
    finished = datetime.now(UTC) - timedelta(days=days_ago)
    game = make_game(("aki", "beni", "chiyo"), started=finished, finished=finished, record=record)
    await at.server.lobby.store.save_game(game)
    return game.id


async def asked(at: Live, **query: str) -> httpx.Response:
    """The answer once the puzzle is no longer being made."""
    async with asyncio.timeout(SOON):
        while (response := await at.http.get(PATH, params=query)).status_code == 202:
            assert response.json() == {"status": "computing"}
            await asyncio.sleep(0.1)
    return response


def simple_answer(record: GameRecord, found: dict[str, Any]) -> str:
    """The tile that the simple bot discards in a puzzle from a record."""
    of = seat_decisions(record, found["seat"])
    (index,) = (index for index, each in enumerate(of.decisions) if each.message == found["message"])
    action = int(cached_bot(SIMPLE).act(of.views[index : index + 1])[0])
    return MJAI_NAMES[int(of.views[index]["drawn"]) if action == TSUMOGIRI else action]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """The work that the server's workers are given."""
    given: list[Work] = []
    run = Worker.run

    async def counted(worker: Worker, work: Work, timeout: float, progress: Progress = no_progress) -> bytes:
        given.append(work)
        return await run(worker, work, timeout, progress)

    monkeypatch.setattr(Worker, "run", counted)
    return given


# What is chosen -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_puzzle_is_chosen_by_its_date_alone() -> None:
    days = [date(2025, 6, day) for day in range(1, 9)]
    records = [*OF_PEOPLE, ("broken", b"{")]
    found = [made(day, records) for day in days]
    assert found == [made(day, records[::-1]) for day in days]
    assert len({(each["game"], each["seat"], each["message"]) for each in found}) > 2


@pytest.mark.slow
def test_bots_agree_on_a_discard_that_is_clearly_the_best_and_a_simple_bot_errs() -> None:
    record = read_records(EXAMPLE)
    bots = {bot: cached_bot(bot) for bot in BOTS}
    of_seats = [make_review(seat_decisions(record, seat), bots, lambda n: None) for seat in range(N_SEATS)]
    for day in range(1, 5):
        found = made(date(2025, 6, day))
        review = of_seats[found["seat"]].as_json()
        (decision,) = (each for each in review["decisions"] if each["message"] == found["message"])
        assert (decision["kind"], decision["round"]) == (DISCARD_KIND, found["round"])
        assert decision["actual"] == found["played"]
        tiles = {each["actions"][0]["action"]["pai"] for each in found["bots"]}
        assert len(tiles) == 1
        best, second = (each["value"] for each in found["bots"][0]["actions"][:2])
        assert LEAST_LOSS <= best - second <= MOST_LOSS
        assert simple_answer(record, found) not in tiles
        for own, reviewed in zip(found["bots"], decision["reviews"], strict=True):
            for option, expected in zip(own["actions"], reviewed["actions"], strict=True):
                assert option["action"] == expected["action"]
                assert option["value"] == pytest.approx(expected["value"], abs=1e-4)  # of other batches


@pytest.mark.slow
def test_where_the_simple_bot_errs_nowhere_a_puzzle_is_easy() -> None:
    bots = ("human", "rule")
    data = puzzle(no_progress, records=[("x", RECORD)], bots=bots, day=TODAY)
    found = json.loads(gzip.decompress(data))
    assert simple_answer(read_records(EXAMPLE), found) == found["bots"][0]["actions"][0]["action"]["pai"]


@pytest.mark.slow
def test_a_puzzle_tells_what_the_seat_was_sent_and_nothing_else() -> None:
    lines = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    noted = [line | {"ext_bot": {"thinks": "secret"}} if line["type"] == "dahai" else line for line in lines]
    record = "\n".join(map(json.dumps, noted)).encode()
    found = made(date(2025, 6, 1), [("x", record)])
    start, *rest = found["messages"]
    assert sorted(start["names"]) == ["E", "S", "W"]
    assert start.keys() == {"type", "names", "rules", "length", "id"}  # without the seed of the walls
    events = [event for event in read_records(EXAMPLE).events if event["type"] != "error"]
    assert rest == [for_seat(event, found["seat"]) for event in events[: found["message"] + 1][-len(rest) :]]
    assert rest[0]["type"] == "start_kyoku"
    assert start["names"][rest[0]["oya"]] == "E"
    assert "secret" not in json.dumps(found)


@pytest.mark.slow
def test_there_are_many_discards_to_choose_from() -> None:
    """Seat 1 has just declared riichi after event 75, and may discard two tiles."""
    (after_riichi,) = (each for each in seat_decisions(read_records(EXAMPLE), 1).decisions if each.message == 75)
    assert (after_riichi.kind, len(after_riichi.options)) == (DISCARD_KIND, 2)
    for seat in range(N_SEATS):
        found = suitable_decisions(seat_decisions(read_records(EXAMPLE), seat), {"rule": cached_bot("rule")})
        assert all(len(each.options) >= 5 for each in found.of.decisions)
        assert bool(found.of.decisions) == (seat != 1)


def test_there_may_be_no_suitable_decision() -> None:
    start = EXAMPLE.read_bytes().splitlines(keepends=True)[:3]
    for record in (b"", b"{}", b"".join([*start, b'{"type":"end_kyoku"}\n{"type":"end_game"}\n'])):
        assert puzzle(no_progress, records=[("x", record)], bots=("rule",), day=TODAY) == NO_PUZZLE


# Records of the operator ----------------------------------------------------------------------------------------------


def zipped(folder: Path, names: list[str]) -> Path:
    """An archive that has the example under some names."""
    path = folder / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, EXAMPLE.read_bytes() if name.endswith(".mjson") else b"{")
    return path


def test_records_of_an_archive_are_chosen_by_the_day(tmp_path: Path) -> None:
    path = str(zipped(tmp_path, [*(f"{number}.mjson" for number in range(2 * MAX_CHOSEN)), "broken.json", "notes.txt"]))
    chosen = [{name for name, _ in records_of(path, date(2025, 6, day))} for day in (1, 1, 2)]
    assert [len(names) for names in chosen] == [MAX_CHOSEN] * 3
    assert chosen[0] == chosen[1] != chosen[2]
    assert not any("notes" in name for name in chosen[0])
    day = date(2025, 6, 1)
    in_order = sorted((order_of(day, f"{path}:{number}.mjson"), f"{path}:{number}.mjson") for number in range(40))
    assert {name for _, name in in_order[: MAX_CHOSEN - 1]} <= chosen[0]  # "broken.json" may be one of them


@pytest.mark.slow
def test_a_puzzle_of_an_archive_does_not_tell_its_names(tmp_path: Path) -> None:
    path = zipped(tmp_path, ["secret/1.mjson", "secret/2.mjson"])
    found = json.loads(gzip.decompress(puzzle_of_files(no_progress, path=str(path), bots=BOTS, day=TODAY)))
    assert found["game"] == ""
    assert "secret" not in json.dumps(found)
    with pytest.raises(ValueError, match="no such file"):
        puzzle_of_files(no_progress, path=str(tmp_path / "gone"), bots=BOTS, day=TODAY)


# The API --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_a_puzzle_is_made_once(tmp_path: Path, work: list[Work]) -> None:
    async with live(tmp_path, SOON, requests_per_minute=100_000) as at:
        game = await store_game(at)
        await store_game(at, days_ago=0)
        answers = await asyncio.gather(*(asked(at) for _ in range(5)), asked(at, date=TODAY.isoformat()))
        assert [answer.status_code for answer in answers] == [200] * 6
        found = answers[0].json()
        assert [answer.json() for answer in answers] == [found] * 6
        assert (found["date"], found["game"]) == (TODAY.isoformat(), game)
        assert len(found["bots"]) == 2
        assert [each["bot"] for each in found["bots"]] == (await at.get("/api/server"))["review_bots"][:2]
        assert not {"aki", "beni", "chiyo"} & set(found["messages"][0]["names"])
        assert len(work) == 1
        other = await asked(at, date=(TODAY - timedelta(days=1)).isoformat())
        assert other.json()["date"] != found["date"]
        assert (await asked(at)).json() == found
        assert len(work) == 2


async def test_puzzles_come_from_the_records_of_the_setting(tmp_path: Path, work: list[Work]) -> None:
    data, records = tmp_path / "data", tmp_path / "records"
    data.mkdir()
    records.mkdir()
    async with live(data, SOON, requests_per_minute=100_000, puzzle_records=str(records)) as at:
        await store_game(at)
        assert (await at.get("/api/server"))["puzzle"]
        assert (await asked(at)).json()["code"] == "no_puzzle"  # its folder is empty
        assert not (await at.get("/api/server"))["puzzle"]
        (given,) = work
        assert isinstance(given, partial)
        assert (given.func, given.keywords["path"]) == (puzzle_of_files, str(records))


async def test_without_a_game_before_that_day_there_is_none(tmp_path: Path, work: list[Work]) -> None:
    async with live(tmp_path, SOON, requests_per_minute=100_000) as at:
        await store_game(at, days_ago=0)
        for query in ({}, {"date": (TODAY - timedelta(days=30)).isoformat()}):
            answer = await asked(at, **query)
            assert answer.status_code == 404
            assert answer.json()["code"] == "no_puzzle"
        assert work == []


async def test_dates_without_a_puzzle_are_refused(tmp_path: Path, work: list[Work]) -> None:
    async with live(tmp_path, SOON, requests_per_minute=100_000) as at:
        await store_game(at)
        for days, status, code in ((1, 422, "puzzle_future"), (-31, 404, "puzzle_old")):
            response = await at.http.get(PATH, params={"date": (TODAY + timedelta(days=days)).isoformat()})
            assert (response.status_code, response.json()["code"]) == (status, code)
        for text in ("x", "2025-02-30", ""):
            assert "date" in await at.refused(422, "GET", f"{PATH}?date={text}")
        assert work == []


async def test_a_failure_is_tried_again_after_a_while(
    tmp_path: Path, work: list[Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    clock: Callable[[], float] = lambda: now  # noqa: E731
    monkeypatch.setattr(puzzles, "puzzle", worker_tasks.crash)
    async with live(tmp_path, SOON, requests_per_minute=100_000, limits=replace(LIMITS, clock=clock)) as at:
        await store_game(at)
        for _ in range(3):
            answer = await asked(at)
            assert (answer.status_code, answer.json()["code"]) == (503, "puzzle_failed")
            assert answer.headers["retry-after"] == "600"
        assert len(work) == 1
        monkeypatch.setattr(puzzles, "puzzle", worker_tasks.found_nothing)
        now += puzzles.RETRY
        assert (await asked(at)).status_code == 404
        assert len(work) == 2


async def test_one_is_made_at_a_time(tmp_path: Path, work: list[Work], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(puzzles, "puzzle", worker_tasks.sleep)
    async with live(tmp_path, SOON, requests_per_minute=100_000) as at:  # which stops while it is made
        await store_game(at, days_ago=10)
        for days in (0, 1, 2, 0):
            query = {"date": (TODAY - timedelta(days=days)).isoformat()}
            assert (await at.http.get(PATH, params=query)).status_code == 202
        async with asyncio.timeout(SOON):
            while not work:
                await asyncio.sleep(0.01)
        assert (await at.http.get(PATH)).status_code == 202
        assert len(work) == 1
