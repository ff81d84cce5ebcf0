"""Errors of the API and of connections have codes that stay the same, and the values that stand in their lines."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from engine.common.error_text import changed, coded, decoded, error_text, line_of
from engine.mjai.connection import DIALECTS, ERROR_KEYS, MAX_MESSAGE
from server.access import AccessError
from server.api.errors import in_body
from server.running import Running
from tests.support.running_server import TABLE, Live, live
from tests.support.server_bots import NOTHING, Answer, Bot, Clock, Message, live_game, serving, tsumogiri


def test_a_line_is_a_text_with_a_code_and_values() -> None:
    line = error_text("rooms", "{address} has {n} rooms, {name!r}", address="10.0.0.1", n=2, name="{n}\n")
    assert line == "10.0.0.1 has 2 rooms, '{n}\\n'"
    assert coded(line) == {"code": "rooms", "values": {"address": "10.0.0.1", "n": 2, "name": "{n}\n"}}
    assert coded("plain") == {}
    assert coded(line_of(AccessError(line))) == coded(line)
    assert (line_of(ValueError("plain")), line_of(KeyError("key")), line_of(ValueError())) == ("plain", "'key'", "")
    assert (in_body(line), coded(in_body(line))) == (f"body: {line}", coded(line))
    assert (in_body("plain"), coded(in_body("plain"))) == ("body: plain", {})


def test_a_value_that_is_a_line_has_its_own_code() -> None:
    """Also in another process, and where the line is shortened."""
    place = error_text("line", "line {n}", n=3)
    line = error_text("record", "{place}: {what}", place=place, what="a\nb")
    expected = {
        "code": "record",
        "values": {"place": "line 3", "what": "a\nb"},
        "codes": {"place": {"code": "line", "values": {"n": 3}}},
    }
    assert coded(line) == expected
    assert coded(pickle.loads(pickle.dumps(line))) == expected
    again = decoded(line, json.loads(json.dumps(coded(line) | {"seat": 0})))
    assert (again, coded(again)) == (line, expected)
    short = changed(line, lambda text: text[-2:])
    assert (short, short.values) == ("\nb", {"place": " 3", "what": "\nb"})
    assert coded(short)["codes"] == expected["codes"]
    assert changed("plain", str.upper) == "PLAIN"
    assert coded(decoded("plain", {"seat": 0})) == {}


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "values"),
    [
        ("GET", "/api/players/nobody", None, "no_player", {"name": "nobody"}),
        ("GET", "/api/games/0123", None, "no_game", {"name": "0123"}),
        ("GET", "/api/rooms/cup", None, "no_open_room", {"name": "cup"}),
        ("GET", "/api/reviews/x", None, "no_review", {"name": "x"}),
        ("POST", "/api/reviews?bot=random&seat=0", None, "invalid", {"part": "query"}),
        ("POST", "/api/reviews?bot=rule", None, "missing", {"part": "query", "where": "seat"}),
        ("POST", "/api/rooms", {"name": "cup", "settings": {"colour": 1}}, "unknown", {"where": "settings.colour"}),
        ("POST", "/api/rooms", {"name": "!"}, "invalid", {"where": "name", "given": "'!'"}),
        ("POST", "/api/rooms", {"name": "cup", "settings": {"seed": 1}, "permanent": False}, "setting_permanent",
         {"setting": "seed"}),
        ("POST", "/api/rooms", {"name": "cup", "settings": {"pause": 9.0}, "permanent": False}, "setting_large",
         {"setting": "pause", "value": 9, "most": 5}),
        ("POST", "/api/rooms", {"name": "cup", "settings": {"hints": True}}, "hints_rated", {}),
        ("POST", "/api/tournaments", {"name": "cup", "house_bots": ["rule"], "walls": 1}, "entrants_few", {"n": 1}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": ["a", "b", "a"], "walls": 1}, "entrant_twice",
         {"field": "entrants", "name": "a"}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": ["a", "b", "rule (house)"], "walls": 1},
         "entrant_house", {"index": 2, "name": "rule (house)"}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": ["a", "b", "\u3164"], "walls": 1}, "entrant_name",
         {"index": 2}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": ["a", "b", "c"]}, "walls_or_games", {}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": list("abcd"), "walls": 1000}, "games_many",
         {"field": "walls", "value": 1000, "n": 12_000, "most": 3000}),
        ("POST", "/api/tournaments", {"name": "cup", "entrants": ["a", "b", "c"], "walls": 1, "places": 2},
         "places_named", {"places": 2, "n": 3}),
        ("POST", "/api/tournaments", {"name": "default", "entrants": ["a", "b", "c"], "walls": 1}, "name_taken",
         {"name": "default"}),
        ("POST", "/api/tournaments",
         {"name": "cup", "entrants": ["a", "b", "c"], "walls": 1, "settings": {"hints": True}}, "setting_scheduled",
         {"setting": "hints"}),
    ],
)  # fmt: skip
async def test_errors_have_codes(
    tmp_path: Path, method: str, path: str, body: Any, code: str, values: dict[str, Any]
) -> None:
    async with live(tmp_path) as at:
        found = (await at.http.request(method, path, json=body)).json()
    assert found["code"] == code
    assert values.items() <= found["values"].items()


@pytest.mark.parametrize(
    ("body", "code", "values"),
    [
        ({"name": "!"}, "value_string_pattern_mismatch", {}),
        ({"name": "cup", "settings": {"length": "west"}}, "value_literal_error", {"limit": "'east' or 'hanchan'"}),
        ({"name": "cup", "settings": {"decision_time": 0}}, "value_greater_than", {"limit": 0}),
        ({"name": "cup", "settings": {"decision_time": "no number"}}, "value_float_type", {}),
        ({"name": "cup", "settings": {"scores": [35000, 35000, 35100]}}, "scores_total", {"n": 105_100}),
        ({"name": "cup", "settings": {"fill": ["rule"] * 3}}, "value_too_long", {"limit": 2}),
        ({"name": "cup", "settings": {"house_bot": "nobody"}}, "bot_unknown", {"bot": "nobody"}),
    ],
)
async def test_what_is_wrong_with_a_value_has_a_code(at: Live, body: Any, code: str, values: dict[str, Any]) -> None:
    found = await expect(at, "invalid", "POST", "/api/rooms", json=body)
    assert found["codes"]["what"]["code"] == code
    assert values.items() <= found["codes"]["what"]["values"].items()
    assert found["values"]["what"] in found["detail"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("puzzle?date=abc", "date_wrong"),
        ("puzzle?date=2025-06-31", "date_wrong"),
        ("games?since=abc", "time_wrong"),
        ("games?until=2025-06-01", "time_wrong"),
        ("games?since=2025-06-01T12:00:00", "time_wrong"),
        ("games?until=0001-01-01T00:00:00%2B14:00", "time_outside"),
    ],
)
async def test_a_wrong_date_or_time_has_a_code(at: Live, path: str, code: str) -> None:
    found = await expect(at, "invalid", "GET", f"/api/{path}")
    assert found["codes"]["what"]["code"] == code


async def test_records_tokens_and_rooms_have_codes(at: Live) -> None:
    await expect(at, "record_empty", "POST", "/api/records", content=b"")
    found = await expect(at, "record_unreadable", "POST", "/api/records", content=b"no record")
    assert found["values"] == {"problem": found["detail"]}
    assert found["codes"]["problem"]["code"] == "record"
    assert found["codes"]["problem"]["codes"]["what"] == {"code": "no_record", "values": {}}
    await expect(at, "token_unknown", "POST", "/api/rooms", json={"name": "a"}, headers={"Authorization": "Bearer x"})
    await at.http.post("/api/rooms", json={"name": "cup"})
    assert (await expect(at, "room_open", "POST", "/api/rooms", json={"name": "cup"}))["values"] == {"name": "cup"}
    headers = {"Origin": "http://elsewhere.example"}
    found = await expect(at, "origin", "POST", "/api/rooms", json={"name": "b"}, headers=headers)
    assert found["codes"]["problem"]["code"] == "other_site"
    await expect(at, "too_long", "POST", "/api/rooms", content=b"x" * 10_000)


async def expect(at: Live, code: str, method: str, path: str, **options: Any) -> Any:
    """The error, which has this code."""
    found = (await at.http.request(method, path, **options)).json()
    assert found["code"] == code, found
    return found


# Joins that are refused: their keys, with the code and values of the error.
REFUSED: list[tuple[Message, str, Message]] = [
    ({"name": "rule (house)"}, "name_house", {"name": "rule (house)"}),
    ({"room": "cup+rule+rule+rule"}, "room_bots", {"name": "cup+rule+rule+rule", "n": 3}),
    ({"token": "x"}, "token_unknown", {}),
    ({"resume": "x"}, "resume_unknown", {}),
    ({"room": "cup"}, "tournament_full", {"tournament": "cup", "name": "a"}),
    ({"games": -1}, "join_invalid", {"problem": "join: games is -1; games must be a number of games, 0 for as long as "
     "the connection lasts"}),
]  # fmt: skip


@pytest.mark.parametrize("transport", ["tcp", "websocket"])
async def test_refused_joins_have_codes_in_every_dialect(at: Live, transport: str) -> None:
    plan = {"name": "cup", "entrants": ["x", "y", "z"], "walls": 1}
    (await at.http.post("/api/tournaments", json=plan)).raise_for_status()
    for number, (join, code, values) in enumerate(REFUSED):
        given = {"name": "a", "dialect": DIALECTS[number % len(DIALECTS)]} | join
        bot = Bot(at.server, transport=transport, **given)
        await bot.connect()
        assert coded_in(await bot.next()) == (code, values)
        assert await bot.next() is None


async def test_a_name_that_cannot_be_has_the_code_of_what_can(server: Running) -> None:
    bot = Bot(server, "\u3164")
    await bot.connect()
    error = await bot.next()
    assert error is not None
    assert coded_in(error)[0] == "join_invalid"
    problem = error["codes"]["problem"]
    assert (problem["code"], problem["values"]["key"]) == ("key_wrong", "name")
    assert problem["codes"] == {"allowed": {"code": "name_form", "values": {"most": 64}}}


def coded_in(error: Message | None) -> tuple[str, Message]:
    """The code and the values of an error, which has no keys but those of the table of messages."""
    assert error is not None
    assert error["type"] == "error"
    assert error.keys() <= {"type", *(key.name for key in ERROR_KEYS)}
    return error["code"], error["values"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_faults_have_codes_in_every_dialect(tmp_path: Path, dialect: str) -> None:
    """Up to the fault that costs the seat. The record has the same codes and values."""
    async with serving(tmp_path, max_faults=5) as server:
        errors: list[Message] = []
        clock = Clock()
        bot = Bot(server, "a", room=TABLE, reply="when_asked", dialect=dialect)

        async def told(said: Answer) -> tuple[str, Message]:
            await bot.send(said)
            errors.append(await bot.until(lambda message: message["type"] == "error"))
            return coded_in(errors[-1])

        drawn = await bot.until_own()
        assert await told({"type": "hint"}) == ("no_hints", {})
        await bot.send(tsumogiri(bot, drawn))
        await bot.until_own()
        code, values = await told(b"[]")
        assert (code, values) == ("reply_invalid", {"problem": bot.errors[-1]})
        assert errors[-1]["codes"]["problem"]["code"] == "message_no_object"
        await bot.until_own()
        assert await told(b" " * (MAX_MESSAGE + 1)) == ("too_long", {"n": MAX_MESSAGE})
        await bot.until_own()
        clock.advance(45)  # more than the time for a decision and the bank
        assert await told(None) == ("late", {"seconds": 30.0, "default": "tsumogiri"})
        await bot.send(NOTHING)  # the reply that was late
        await bot.until_own()
        game = live_game(server)
        assert await told(NOTHING) == ("illegal", {"problem": bot.errors[-1]})
        assert errors[-1]["codes"]["problem"]["code"] == "may_not"
        house_bot = game.start.settings.house_bot
        last = await bot.next()
        assert coded_in(last) == ("seat_faults", {"n": 5, "bot": house_bot})
        assert await bot.next() is None
        lines = [line for line in map(json.loads, game.history.lines()) if line["type"] == "error"]
        *_, taken_over = told_in_record = [{"actor": bot.seat, **error} for error in (*errors, last or {})]
        taken_over["played_by"] = house_bot
        assert lines == told_in_record


async def test_whoever_leaves_or_is_replaced_is_told_with_a_code(server: Running) -> None:
    bot = Bot(server, "a", room=TABLE, resume=True)
    await bot.until_own()
    again = Bot(server, "a", room=TABLE)
    again.games, again.secrets = bot.games, bot.secrets
    await again.connect(resume=len(bot.game))
    assert coded_in(await bot.until(lambda message: message["type"] == "error")) == ("resumed_elsewhere", {})
    await again.send({"type": "leave"})
    house_bot = live_game(server).start.settings.house_bot
    while (message := await again.next()) is not None and message["type"] != "error":
        pass
    assert coded_in(message) == ("left_game", {"bot": house_bot})
