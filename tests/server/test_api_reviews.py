"""The HTTP API: reviews of games and records."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.review import make_review
from engine.records.files import read_records
from server.access import DOWNLOADS_AT_ONCE
from server.api import players
from server.review_work import read, review
from server.worker import no_progress
from tests.support import worker_tasks
from tests.support.running_server import TABLE, Live, live, play_into
from tests.support.sent_records import LOOK_EVERY, MJAI, MJLOG, SOON, broken_round, finished
from tests.support.server_bots import Bot


def expected_review(path: Path, seat: int, *bots: str) -> Any:
    """The review that the command writes."""
    made = make_review(seat_decisions(read_records(path), seat), {bot: make(bot) for bot in bots}, lambda n: None)
    return json.loads(json.dumps(made.as_json()))


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_a_record_that_is_sent_is_reviewed(at: Live) -> None:
    response = await at.http.post("/api/reviews?bot=bert&bot=rule&seat=1", content=gzip.compress(MJLOG.read_bytes()))
    assert (response.status_code, response.json()["status"]) == (202, "queued")
    review_id = response.json()["id"]
    over = await finished(at, review_id)
    expected = expected_review(MJLOG, 1, "bert", "rule")
    n = 2 * len(expected["decisions"])
    assert over == {"id": review_id, "status": "done", "done": n, "decisions": n, "error": ""}
    found = await at.get(f"/api/reviews/{review_id}/result")
    for ours, theirs in zip(found["decisions"], expected["decisions"], strict=True):
        assert ours["actual"] == theirs["actual"]
        assert [each["actual"] for each in ours["reviews"]] == [each["actual"] for each in theirs["reviews"]]
    assert found["summary"][1] == expected["summary"][1]


def test_a_log_that_was_cut_off_is_reviewed_but_not_among_many() -> None:
    data = b"".join(MJAI.read_bytes().splitlines(keepends=True)[:40])
    of_log = json.loads(gzip.decompress(review(no_progress, records=[("a", data)], bots=("rule",), seat=0, player="")))
    assert (of_log["cut_off_code"]["code"], len(of_log["decisions"]) > 3) == ("cut_in_round", True)
    shown = json.loads(gzip.decompress(read(no_progress, data=data)))
    assert (len(shown["messages"]), shown["problems"]) == (40, [of_log["cut_off"]])
    name = shown["messages"][0]["names"][0]
    with pytest.raises(ValueError, match="ends without end_game"):
        review(no_progress, records=[("a", data)], bots=("rule",), seat=0, player=name)


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_a_stored_game_is_reviewed_once(at: Live) -> None:
    bot = Bot(at.server, "aki", room=TABLE)
    question = await play_into(bot, 1)
    (game,) = at.server.lobby.games
    query = f"/api/reviews?bot=rule&seat=2&game={game}"
    assert "still being played" in await at.refused(409, "POST", query)
    await bot.answer(question)
    await bot.play()
    async with asyncio.timeout(SOON):
        while (response := await at.http.post(query)).status_code == 409:
            await asyncio.sleep(LOOK_EVERY)
    first = response.json()
    assert (await at.http.post(query)).json()["id"] == first["id"]
    assert (await finished(at, first["id"]))["status"] == "done"
    assert (await at.http.post(query)).json()["id"] == first["id"]
    result = await at.get(f"/api/reviews/{first['id']}/result")
    assert (result["seat"], result["bots"]) == (2, ["rule"])
    record = gzip.decompress((await at.http.get(f"/api/games/{game}/record")).content).decode()
    messages = [json.loads(line) for line in record.splitlines()]
    messages = [message for message in messages if message["type"] != "error"]
    for decision in result["decisions"]:
        played = [each for each in messages[decision["message"] + 1 :] if each.get("actor") == 2]
        assert decision["actual"]["type"] in ("none", "ryukyoku") or played[0]["type"] == decision["actual"]["type"]


REVIEWERS = "rule, yaku, linear, softmax, bert, human, cnn, selfplay"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("seat=0&game=x", 422, "bot is missing"),
        ("bot=rule&game=x", 422, "seat is missing"),
        ("bot=rule&seat=3&game=x", 422, "seat is '3'"),
        ("bot=rule&seat=0", 422, "name a game, or send a record"),
        ("bot=random&seat=0&game=x", 422, f"choose a bot that can review: {REVIEWERS}"),
        ("bot=bert:/etc&seat=0&game=x", 422, "choose a bot"),
        ("bot=rule&bot=bert&bot=rule&seat=0&game=x", 422, "bot is"),
        ("bot=rule&seat=0&game=x", 404, "there is no game 'x'"),
        ("bot=rule&seat=0&games=x", 422, "games is unknown"),
    ],
)
async def test_what_cannot_be_reviewed_is_told(at: Live, query: str, status: int, told: str) -> None:
    assert told in await at.refused(status, "POST", f"/api/reviews?{query}")


async def test_a_game_and_a_record_are_too_much(at: Live) -> None:
    told = await at.refused(422, "POST", "/api/reviews?bot=rule&seat=0&game=x", content=b"{}")
    assert "one of the two" in told


async def test_what_is_not_there_is_told(at: Live) -> None:
    for path in ("/api/reviews/none", "/api/reviews/none/result"):
        assert "there is no review 'none'" in await at.refused(404, "GET", path)


# Of a player ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_the_latest_games_of_a_player_are_reviewed_as_one(at: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "REVIEWED_GAMES", 2)
    for _ in range(3):
        await Bot(at.server, "aki", room=TABLE).play()
    async with asyncio.timeout(SOON):
        while len(games := (await at.get("/api/games?player=aki"))["items"]) < 3:
            await asyncio.sleep(LOOK_EVERY)
    response = await at.http.post("/api/players/aki/reviews?bot=rule")
    assert response.status_code == 202, response.text
    review_id = response.json()["id"]
    assert (await at.http.post("/api/players/aki/reviews?bot=rule")).json()["id"] == review_id
    over = await finished(at, review_id)
    assert over == {"id": review_id, "status": "done", "done": 2, "decisions": 2, "error": ""}
    found = await at.get(f"/api/reviews/{review_id}/result")
    assert (found["player"], found["bots"], found["games"], found["faults"]) == ("aki", ["rule"], 2, [])
    assert {each["file"] for each in found["mistakes"][0]} <= {game["id"] for game in games[:2]}
    worst = found["mistakes"][0][0]
    (game,) = (game for game in games if game["id"] == worst["file"])
    assert game["seats"][worst["seat"]]["name"] == "aki"
    single = (await at.http.post(f"/api/reviews?bot=rule&seat={worst['seat']}&game={game['id']}")).json()["id"]
    await finished(at, single)
    (decision,) = (
        each
        for each in (await at.get(f"/api/reviews/{single}/result"))["decisions"]
        if each["message"] == worst["message"]
    )
    assert decision["reviews"][0]["loss"] == worst["loss"]
    assert decision["actual"] == worst["actual"]


async def test_reviews_of_players_are_refused_as_others_are(at: Live) -> None:
    assert "there is no player 'nobody'" in await at.refused(404, "POST", "/api/players/nobody/reviews?bot=rule")
    assert "choose a bot that can review" in await at.refused(422, "POST", "/api/players/nobody/reviews?bot=random")
    assert "bot is missing" in await at.refused(422, "POST", "/api/players/nobody/reviews")


def test_a_review_of_a_player_leaves_out_what_cannot_be_read() -> None:
    records = [("one", MJLOG.read_bytes()), ("two", b"x"), ("three", broken_round(MJAI))]
    name = read_records(MJLOG).events[0]["names"][1]
    progress: list[tuple[int, int]] = []
    found = json.loads(
        gzip.decompress(
            review(lambda *done: progress.append(done), records=records, bots=("rule",), seat=0, player=name)
        )
    )
    assert (found["games"], progress) == (2, [(0, 3), (1, 3), (2, 3), (3, 3)])
    assert len(found["faults"]) == 1
    assert found["faults"][0].startswith("two")
    with pytest.raises(ValueError, match="no decision of these games"):
        review(no_progress, records=records[:1], bots=("rule",), seat=0, player="nobody")


# While a review is done -----------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_games_go_on_while_a_review_is_done(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with live(tmp_path / "data", do_review=partial(worker_tasks.wait_for, file=go)) as at:
        review_id = (await at.http.post("/api/reviews?bot=rule&seat=0", content=b"x")).json()["id"]
        async with asyncio.timeout(SOON):
            while (await at.get(f"/api/reviews/{review_id}"))["decisions"] == 0:
                await asyncio.sleep(LOOK_EVERY)
        await Bot(at.server, "aki", room=TABLE).play()
        assert (await at.get(f"/api/reviews/{review_id}"))["status"] == "running"
        assert "is running" in await at.refused(409, "GET", f"/api/reviews/{review_id}/result")
        go.touch()
        assert (await finished(at, review_id))["status"] == "done"


async def test_the_server_stops_while_a_review_is_done(tmp_path: Path) -> None:
    never = tmp_path / "never"
    async with live(tmp_path / "data", do_review=partial(worker_tasks.wait_for, file=never)) as at:
        for _ in range(2):
            assert (await at.http.post("/api/reviews?bot=rule&seat=0", content=b"x")).status_code == 202
        async with asyncio.timeout(SOON):
            while not (children := worker_processes()):
                await asyncio.sleep(0.01)
    assert worker_processes() & children == set()


def worker_processes() -> set[int]:
    """The worker processes that this process has started."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread, or a child of it, has ended meanwhile
            for pid in (task / "children").read_text().split():
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.add(int(pid))
    return found


@pytest.mark.slow
async def test_an_address_is_sent_a_few_results_at_once(at: Live) -> None:
    review_id = (await at.http.post("/api/reviews?bot=rule&seat=0", content=MJAI.read_bytes())).json()["id"]
    await finished(at, review_id)
    path = f"/api/reviews/{review_id}/result"
    with ExitStack() as others:
        for _ in range(DOWNLOADS_AT_ONCE - 1):
            others.enter_context(at.server.lobby.access.downloading("127.0.0.1"))
        for _ in range(2):  # the first one is over
            assert (await at.http.get(path)).status_code == 200
        others.enter_context(at.server.lobby.access.downloading("127.0.0.1"))
        assert "are being sent" in await at.refused(429, "GET", path)
