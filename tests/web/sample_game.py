"""The page of a finished game, with the messages of the sample record or with others."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

from playwright.sync_api import Page, Request, Route, expect

from tests.support.server_program import REPOSITORY

GAME = "a" * 32  # id of the game that `show` makes up


def example() -> list[dict[str, Any]]:
    """The messages of the sample record."""
    return [json.loads(line) for line in (REPOSITORY / "examples/game.mjson").read_text().splitlines()]


def place_of(messages: list[dict[str, Any]], index: int) -> int:
    """The place at which the message before `index` is the last one; ``error`` lines and ``start_game`` are none."""
    return sum(message["type"] not in ("error", "start_game") for message in messages[:index]) - 1


def show(page: Page, messages: list[dict[str, Any]], fragment: str = "") -> None:
    """Open the page of a finished game with these messages."""
    record = gzip.compress("\n".join(map(json.dumps, messages)).encode())
    game = {"id": GAME, "status": "finished", "room": "default", "finished": "2026-01-01T00:00:00Z"}

    def answer(route: Route, request: Request) -> None:
        if request.url.endswith("/record"):
            route.fulfill(body=record, content_type="application/gzip")
        else:
            route.fulfill(json=game)

    page.route(re.compile(rf"/api/games/{GAME}"), answer)
    page.goto(f"/games/{GAME}{fragment}")
    expect(page.locator("nuki-replay[data-place]")).to_be_visible()
