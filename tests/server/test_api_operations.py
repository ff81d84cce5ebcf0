"""The HTTP API for operators: metrics, unexpected errors; and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI

from tests.support.running_server import live


async def test_unexpected_errors_are_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: str) -> None:
        raise ZeroDivisionError

    async with live(tmp_path) as at:
        monkeypatch.setattr(at.server.lobby.store, "player", fail)
        assert await at.refused(500, "GET", "/api/players/aki") == "internal error; see the server's log"
        assert await at.refused(404, "GET", "/api/nothing") == "Not Found"
        assert await at.refused(405, "PUT", "/api/rooms/default") == "Method Not Allowed"


# The document ---------------------------------------------------------------------------------------------------------


def references(node: Any) -> Iterator[str]:
    """Every $ref in a JSON document."""
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key == "$ref")
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from references(child)


async def test_the_openapi_document_is_complete(tmp_path: Path) -> None:
    async with live(tmp_path) as at:
        document = await at.get("/openapi.json")
        OpenAPI.model_validate(document)
        assert (await at.http.get("/docs")).status_code == 200
    schemas = document["components"]["schemas"]
    assert {reference.removeprefix("#/components/schemas/") for reference in references(document)} <= schemas.keys()
    assert "seed" not in schemas["RoomSettingsInfo"]["properties"]
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, routes in document["paths"].items():
        assert routes.keys() <= {"get", "post", "delete"}
        for method, route in routes.items():
            codes = {code for code in route["responses"] if code >= "4"}
            parameters = {parameter["in"] for parameter in route.get("parameters", [])}
            expected = {"404"} if "path" in parameters else set()
            expected |= {"422"} if "query" in parameters or "requestBody" in route else set()
            expected |= {"403", "411", "413"} if method != "get" else set()
            expected |= {"401", "503"} if path.startswith("/api/rooms") and method != "get" else set()
            expected |= {"503"} if path.startswith(("/api/games", "/api/players", "/healthz")) else set()
            assert codes >= expected, (method, path)
            assert all(route["responses"][code]["content"] == problem for code in codes), (method, path)
            assert route["summary"]
            assert route["description"]
