"""Errors of the API have codes that stay the same, and the values that stand in their lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.access import AccessError
from server.error_text import coded, error_text, in_body, line_of
from server.limits import Limits
from tests.support.running_server import Live, live


def test_a_line_is_a_text_with_a_code_and_values() -> None:
    line = error_text("rooms", "{address} has {n} rooms, {name!r}", address="10.0.0.1", n=2, name="{n}\n")
    assert line == "10.0.0.1 has 2 rooms, '{n}\\n'"
    assert coded(line) == {"code": "rooms", "values": {"address": "10.0.0.1", "n": 2, "name": "{n}\n"}}
    assert coded("plain") == {}
    assert coded(line_of(AccessError(line))) == coded(line)
    assert (line_of(ValueError("plain")), line_of(KeyError("key")), line_of(ValueError())) == ("plain", "'key'", "")
    assert (in_body(line), coded(in_body(line))) == (f"body: {line}", coded(line))
    assert (in_body("plain"), coded(in_body("plain"))) == ("body: plain", {})


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
    ],
)  # fmt: skip
async def test_errors_have_codes(
    tmp_path: Path, method: str, path: str, body: Any, code: str, values: dict[str, Any]
) -> None:
    async with live(tmp_path) as at:
        found = (await at.http.request(method, path, json=body)).json()
    assert found["code"] == code
    assert values.items() <= found["values"].items()


async def test_records_tokens_and_rooms_have_codes(tmp_path: Path) -> None:
    async with live(tmp_path) as at:
        await expect(at, "record_empty", "POST", "/api/records", content=b"")
        found = await expect(at, "record_unreadable", "POST", "/api/records", content=b"no record")
        assert found["values"] == {"problem": found["detail"]}
        await expect(
            at, "token_unknown", "POST", "/api/rooms", json={"name": "a"}, headers={"Authorization": "Bearer x"}
        )
        await at.http.post("/api/rooms", json={"name": "cup"})
        assert (await expect(at, "room_open", "POST", "/api/rooms", json={"name": "cup"}))["values"] == {"name": "cup"}
        headers = {"Origin": "http://elsewhere.example"}
        await expect(at, "origin", "POST", "/api/rooms", json={"name": "b"}, headers=headers)
        await expect(at, "too_long", "POST", "/api/rooms", content=b"x" * 10_000)


async def test_limits_have_codes(tmp_path: Path) -> None:
    async with live(tmp_path, limits=Limits(clock=lambda: 0.0)) as at:
        while (response := await at.http.get("/api/server")).status_code == 200:
            pass
    found = response.json()
    assert found["code"] == "too_many"
    assert found["values"]["setting"] == "requests_per_minute"
    assert str(found["values"]["limit"]) in found["detail"]


async def expect(at: Live, code: str, method: str, path: str, **options: Any) -> Any:
    """The error, which has this code."""
    found = (await at.http.request(method, path, **options)).json()
    assert found["code"] == code, found
    return found
