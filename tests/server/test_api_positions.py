"""The HTTP API: positions that are sent are analysed in a worker, and refused by the name of the field."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from agents.analyse.analysis import analyse
from agents.registry import make
from engine.positions.position import Position
from server.api.guard import MAX_BODY
from server.api.positions import MAX_BOTS
from server.worker import Worker
from tests.support.running_server import Live

PATH = "/api/positions"
HAND = "123p456s11z99m2256p"
RIVERS = {"hand": "223406p567s1199s6p", "rivers": ["1s_9s", "2z R3z", "4z 1s"], "dora": "5p", "honba": 2}


async def ask(at: Live, position: Any, *bots: str) -> httpx.Response:
    return await at.http.post(PATH, json={"position": position, "bots": bots})


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_the_answer_is_that_of_the_command(at: Live) -> None:
    for position in ({"hand": HAND}, RIVERS):
        response = await ask(at, position, "rule", "bert")
        assert response.status_code == 200, response.text
        bots = {"rule": make("rule"), "bert": make("bert")}
        expected = analyse(Position.from_json(position), bots).as_json()
        assert response.json() == json.loads(json.dumps(expected))
    assert len(response.json()["messages"]) > 10


async def refusal(at: Live, position: Any) -> str:
    """What is told of a position that must be refused, with its code."""
    response = await ask(at, position)
    assert response.status_code == 422, response.text
    told = response.json()
    assert len(told["detail"]) <= 500
    assert "\n" not in told["detail"]
    assert told["code"] == "position"
    assert told["codes"].keys() == {"field", "problem"}
    return str(told["detail"])


async def test_bad_positions_are_refused_by_their_field(at: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once: no worker is asked, which may have to start."""
    monkeypatch.delattr(Worker, "run")
    for position, told in (
        ({"hand": "11111z456s99m2256p"}, "hand: 5 tiles 1z"),
        ({"hand": "123p456s11z99m225p"}, "hand: it has 13 tiles"),
        ({"hand": HAND + "7p", "rivers": ["", "", ""], "left": 54}, "hand: it has 15 tiles"),
        ({"hand": "123p456s11z99m225p8m"}, "hand: there is no tile 8m"),
        ({"hand": HAND, "rivers": ["1z", "", ""]}, "river of S: after these rivers"),
        ({"hand": HAND, "rivers": ["P" * 300, "", ""]}, "river of E: cannot read"),
        ({"hand": HAND, "rivers": 5}, "rivers: give three texts"),
        ({"hand": HAND, "scores": [10**30, 0, 0]}, "scores: give a number"),
        ({"hand": [HAND]}, "hand: give a text"),
        ({"hand": HAND, "x" * 1000: 1}, "position: it has no field"),
    ):
        assert (await refusal(at, position)).startswith(told)


@pytest.mark.slow
async def test_what_the_rules_forbid_is_refused_by_its_field(at: Live) -> None:
    for rivers, told in (
        (["R1z", "2z", "3z"], "hand: dahai E of seat 0"),
        (["1z", "R R 1s", "3z"], "river of S: reach"),
    ):
        assert (await refusal(at, {"hand": HAND, "rivers": rivers})).startswith(told)


async def test_what_never_reaches_the_worker(at: Live) -> None:
    for body, told in (
        ({"position": {"hand": HAND}, "bots": ["nobody"]}, "choose a bot"),
        ({"position": {"hand": HAND}, "bots": ["bert:/etc/passwd"]}, "choose a bot"),
        ({"position": {"hand": HAND}, "bots": ["rule"] * (MAX_BOTS + 1)}, "bots"),
        ({"position": 5}, "position"),
        ({"position": {"hand": HAND}, "colour": 1}, "colour"),
        ([], "body"),
    ):
        response = await at.http.post(PATH, json=body)
        assert (response.status_code, told in response.json()["detail"]) == (422, True), response.text
    long = await ask(at, {"hand": "1" * MAX_BODY})
    assert long.status_code == 413
    cross = await at.http.post(PATH, json={"position": {"hand": HAND}}, headers={"Origin": "https://else.example"})
    assert cross.status_code == 403


@pytest.mark.slow
async def test_an_address_sends_one_at_a_time(at: Live) -> None:
    responses = await asyncio.gather(*(ask(at, RIVERS, "rule") for _ in range(6)))
    codes = sorted(response.status_code for response in responses)
    assert codes[0] == 200
    assert codes[-1] == 429
    refused = next(response for response in responses if response.status_code == 429)
    assert "wait for it" in refused.json()["detail"]
    assert "retry-after" in refused.headers
    assert (await ask(at, RIVERS, "rule")).status_code == 200
