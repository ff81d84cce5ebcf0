"""docs/api.md lists the routes and query parameters of the application, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

from server.app import make_app
from server.websocket_routes import HANDS, SPECTATORS
from tests.support.running_server import live

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ROW = re.compile(r"^\| `(?P<method>[A-Z]+) (?P<path>[^?`]+)(?:\?(?P<query>[^`]*))?` \|", re.MULTILINE)
PAGING = {"cursor", "limit"}  # parameters of every list, described below the table
Route = tuple[str, str, frozenset[str]]  # method (WS for a WebSocket), path, names of the query parameters


def documented() -> list[Route]:
    """The routes in the table of docs/api.md."""
    routes = []
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        names = (part.partition("=")[0] for part in (row["query"] or "").split("&"))
        routes.append((row["method"], row["path"], frozenset(names) - {""}))
    return routes


async def test_the_table_of_routes_is_complete_and_correct(tmp_path: Path) -> None:
    async with live(tmp_path) as at:
        app = make_app(at.server.lobby)
    routes: set[Route] = {
        (
            method.upper(),
            path,
            frozenset(given["name"] for given in route.get("parameters", []) if given["in"] == "query") - PAGING,
        )
        for path, methods in app.openapi()["paths"].items()
        for method, route in methods.items()
    }
    listed = documented()
    assert len(listed) == len(set(listed))
    websockets = {route for route in listed if route[0] == "WS"}
    assert set(listed) - websockets == routes
    assert websockets == {("WS", "/api/games/{game_id}/events", frozenset({HANDS}))}
    assert SPECTATORS.fullmatch("/api/games/{game_id}/events")


async def test_documented_values_of_a_parameter_are_its_values(tmp_path: Path) -> None:
    async with live(tmp_path) as at:
        document = make_app(at.server.lobby).openapi()
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        for name, _, values in (part.partition("=") for part in (row["query"] or "").split("&")):
            if values and row["method"] != "WS":  # the document has no WebSockets
                parameters = document["paths"][row["path"]][row["method"].lower()]["parameters"]
                (schema,) = (given["schema"] for given in parameters if given["name"] == name)
                assert set(values.split(r"\|")) == set(schema["enum"]), name
