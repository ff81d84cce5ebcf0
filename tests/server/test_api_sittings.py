"""The HTTP API: what pages ask of the server, who waits in a room, and rooms for one sitting."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.base import Agent
from agents.built_in import BUILT_IN
from agents.registry import make
from engine.common.program import version
from server.house_bots import HouseBots
from tests.support.running_server import Live, live, until
from tests.support.server_bots import PATIENT, Bot, Clock


async def test_the_server_tells_how_to_play_and_with_whom(tmp_path: Path) -> None:
    def made(spec: str) -> Agent:
        if spec == "bert":
            raise ValueError("it has no weights")
        return make(spec)

    bots = HouseBots(made, lambda: ["rule", "random", "efficiency", "bert"])
    bots.try_out_all()
    async with live(tmp_path, house_bots=bots, access="token") as at:
        told = await at.get("/api/server")
        names, reviewers = told.pop("house_bots"), told.pop("review_bots")
        assert told.pop("weakest")["rule"] <= -500
        assert told.pop("ratings") == {bot: BUILT_IN[bot].rating for bot in ("efficiency", "random", "rule")}
        assert told == {"version": version(), "mjai_port": at.server.mjai_port, "tokens_needed": True, "puzzle": True}
    assert names == ["rule", "efficiency", "random"]  # strongest first
    assert "rule" in reviewers
    assert "random" not in reviewers


# Rooms for one sitting ------------------------------------------------------------------------------------------------

SITTING = {"name": "sitting", "permanent": False}


@pytest.mark.slow
async def test_a_room_for_one_sitting_closes_when_it_stays_empty(tmp_path: Path) -> None:
    async with live(tmp_path, timeout=400, limits=replace(PATIENT, linger=60.0), resume_timeout=0) as at:
        clock, found = Clock(), at.server.lobby.rooms
        settings = {"length": "east", "fill": ["rule"], "fill_delay": 0, "decision_time": 60, "pause": 0.0}
        response = await at.http.post("/api/rooms", json=SITTING | {"settings": settings})
        assert response.status_code == 201, response.text
        assert response.json()["permanent"] is False
        assert response.json()["settings"].items() >= settings.items()
        clock.advance(40)
        await asyncio.sleep(0.02)
        assert (await Bot(at.server, "aki", room="sitting").play()).ended
        await until(lambda: found["sitting"].empty)
        clock.advance(40)
        await asyncio.sleep(0.02)
        assert (await Bot(at.server, "aki", room="sitting").play()).ended  # again
        clock.advance(40)
        await asyncio.sleep(0.02)
        assert "sitting" in found
        clock.advance(25)
        await until(lambda: "sitting" not in found)
        assert not at.server.lobby.access._rooms  # of no address
    async with live(tmp_path) as at:
        assert [room["name"] for room in (await at.get("/api/rooms"))["items"]] == ["default"]


async def test_a_room_for_one_sitting_that_nobody_enters_closes(tmp_path: Path) -> None:
    async with live(tmp_path, limits=replace(PATIENT, linger=6.0)) as at:
        clock = Clock()
        assert (await at.http.post("/api/rooms", json=SITTING)).status_code == 201
        clock.advance(7)
        await until(lambda: "sitting" not in at.server.lobby.rooms)


async def test_rooms_for_one_sitting_count_like_those_of_bots(tmp_path: Path) -> None:
    async with live(tmp_path, rooms_per_address=2) as at:
        for number in range(2):
            assert (await at.http.post("/api/rooms", json=SITTING | {"name": f"r{number}"})).status_code == 201
        detail = await at.refused(429, "POST", "/api/rooms", json=SITTING)
        assert detail.startswith("127.0.0.1 has opened 2 rooms (the server's setting rooms_per_address)")
        assert "has opened 2 rooms" in (await Bot(at.server, "aki", room="other").play()).errors[0]
        assert (await at.http.delete("/api/rooms/r0")).status_code == 204
        assert (await at.http.post("/api/rooms", json=SITTING)).status_code == 201
        assert (await at.http.post("/api/rooms", json={"name": "permanent"})).status_code == 201


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        (
            {"seed": 1},
            "body: seed can be set for a permanent room only; others set rules, length, scores, rated, hints, ",
        ),
        ({"max_faults": 10}, "body: max_faults can be set for a permanent room only"),
        ({"idle": "stay"}, "body: idle can be set for a permanent room only"),
        ({"decision_time": 61}, "body: decision_time is 61; in a room that is not permanent it is at most 60"),
        ({"bank_time": 301}, "body: bank_time is 301; in"),
        ({"resume_timeout": 3600}, "body: resume_timeout is 3600; in"),
        ({"decision_time": -1}, "body: settings.decision_time is -1"),
        ({"scores": [35000, 35000, 35100]}, "body: settings.scores is [35000, 35000, 35100]; starting scores must add"),
        ({"fill": ["rule@-9999"]}, "body: settings.fill.0 is 'rule@-9999'; the weakest that rule can be is rule@-"),
        ({"fill": ["tsumogiri@-100"]}, "body: settings.fill.0 is 'tsumogiri@-100'; tsumogiri plays at full strength"),
        ({"fill": ["nobody@-100"]}, "body: settings.fill.0 is 'nobody@-100'; unknown bot 'nobody'"),
        ({"fill": ["nobody"]}, "body: settings.fill.0 is 'nobody'"),
    ],
)
async def test_a_room_for_one_sitting_has_no_settings_that_hurt_others(
    at: Live, settings: dict[str, Any], detail: str
) -> None:
    assert (await at.refused(422, "POST", "/api/rooms", json=SITTING | {"settings": settings})).startswith(detail)
    assert await at.refused(422, "POST", "/api/rooms", json=SITTING | {"permanent": "no"})
    assert list(at.server.lobby.rooms) == ["default"]


async def test_a_bots_token_opens_a_room_for_one_sitting_only(tmp_path: Path) -> None:
    async with live(tmp_path, access="token") as at:
        bot = await at.server.lobby.store.add_token("aki")
        headers = {"Authorization": f"Bearer {bot}"}
        assert "a token is needed" in await at.refused(401, "POST", "/api/rooms", json=SITTING)
        unknown = {"Authorization": "Bearer nonsense"}
        assert "unknown or revoked" in await at.refused(401, "POST", "/api/rooms", json=SITTING, headers=unknown)
        await at.refused(403, "POST", "/api/rooms", json={"name": "x"}, headers=headers)
        assert (await at.http.post("/api/rooms", json=SITTING, headers=headers)).status_code == 201
        await at.refused(403, "DELETE", "/api/rooms/sitting", headers=headers)


async def test_who_waits_in_a_room_is_told(at: Live) -> None:
    bots = [Bot(at.server, name, room="cup") for name in ("zoe", "<img onerror=x>")]
    cups = at.server.lobby.rooms
    for number, bot in enumerate(bots):
        await bot.connect()
        await until(lambda n=number: "cup" in cups and len(cups["cup"].waiting) > n)  # type: ignore[misc]
    room = await at.get("/api/rooms/cup")
    assert (room["waiting"], room["waiting_names"]) == (2, ["zoe", "<img onerror=x>"])
    assert (await at.get("/api/rooms"))["items"][0] == room
    for bot in bots:
        bot.abort()
