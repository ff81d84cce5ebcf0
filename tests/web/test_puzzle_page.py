"""The page with the puzzle of a day: a tile is chosen, then the bots' values and what was played are shown."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import serious_faults
from tests.support.server_program import REPOSITORY, server_program
from tests.support.stored_games import make_game, opened
from tests.web.conftest import Site, both_sizes

FOUND = 120_000  # milliseconds: the server's worker may have to start first
RECORD = gzip.compress((REPOSITORY / "examples" / "game.mjson").read_bytes())
TILES = "nuki-table .seat.bottom .hand button"


async def store_game(data: Path) -> None:
    """Store a game that was over two days ago in the database of a server that does not run yet."""
    finished = datetime.now(UTC) - timedelta(days=2)
    async with opened(f"sqlite:///{data / 'nukidora.db'}") as store:
        await store.save_game(make_game(started=finished, finished=finished, record=RECORD))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with one game, that was over two days ago."""
    folder = tmp_path_factory.mktemp("puzzle")
    (folder / "data").mkdir()
    with ThreadPoolExecutor(1) as thread:  # Playwright has an event loop in this one
        thread.submit(asyncio.run, store_game(folder / "data")).result()
    with server_program(folder) as server:
        yield Site(server)


@pytest.fixture
def puzzle(site: Site) -> dict[str, Any]:
    """The puzzle, once it is made."""
    end = time.monotonic() + FOUND / 1000
    while (found := site.get("/api/puzzle")).get("status") == "computing":
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def tile_of(puzzle: dict[str, Any], place: int) -> str:
    """The first bot's discard at a place of its order."""
    tile: str = puzzle["bots"][0]["actions"][place]["action"]["pai"]
    return tile


def choose(page: Page, tile: str) -> None:
    """Click a tile of the hand."""
    page.locator(TILES).filter(has=page.locator(f"[data-tile='{tile}']")).first.click()


@both_sizes
def test_a_tile_is_clicked_and_the_bots_answer(page: Page, puzzle: dict[str, Any]) -> None:
    page.goto("/")
    page.get_by_role("link", name="What would you discard?").click()
    expect(page.locator(TILES)).not_to_have_count(0, timeout=FOUND)
    expect(page.locator("nuki-table [aria-live]")).to_have_text(re.compile(r"^You (draw|call) "))
    expect(page.locator(".opinion, .bar, [data-control]")).to_have_count(0)  # nothing is given away
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    choose(page, tile_of(puzzle, 1))
    expect(page.get_by_text("The bots would discard another tile.")).to_be_visible()
    expect(page.locator("[data-yours]")).to_have_attribute("data-yours", tile_of(puzzle, 1))
    expect(page.locator("[data-best]")).to_have_attribute("data-best", tile_of(puzzle, 0))
    expect(page.locator("[data-played]")).to_have_attribute("data-played", puzzle["played"]["pai"])
    expect(page.locator(".opinion")).to_have_count(len(puzzle["bots"]))
    expect(page.locator("nuki-table .seat.bottom .hand .bar")).not_to_have_count(0)
    expect(page.locator(TILES)).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert serious_faults(page) == []


def test_the_best_tile_by_keys_and_links_to_the_place(page: Page, puzzle: dict[str, Any]) -> None:
    page.goto(f"/puzzle?date={puzzle['date']}")
    tiles = page.locator(TILES)
    expect(tiles).not_to_have_count(0, timeout=FOUND)
    page.keyboard.press("ArrowRight")
    expect(tiles.last).to_be_focused()
    names = [tile.locator("[data-tile]").get_attribute("data-tile") for tile in tiles.all()]
    page.keyboard.press("1234567890-="[names.index(tile_of(puzzle, 0))] if tile_of(puzzle, 0) in names[:12] else " ")
    expect(page.get_by_text("As the bots would.")).to_be_visible()
    page.keyboard.press("1")  # nothing is left to be chosen
    expect(page.locator("[data-yours]")).to_have_attribute("data-yours", tile_of(puzzle, 0))
    page.locator("[data-control=replay]").click()
    expect(page.locator("nuki-replay")).to_be_visible()
    hand = page.locator("nuki-table .seat.bottom .hand [data-tile]")
    assert [tile.get_attribute("data-tile") for tile in hand.all()] == names
    page.go_back()
    expect(tiles).not_to_have_count(0, timeout=FOUND)
    choose(page, tile_of(puzzle, 0))
    page.locator("[data-control=analyse]").click()
    expect(page.locator(".position .opinion")).to_have_count(len(puzzle["bots"]), timeout=FOUND)
    hand = page.locator("nuki-table .seat.bottom .hand [data-tile]")
    assert [tile.get_attribute("data-tile") for tile in hand.all()] == names


def test_a_day_without_a_puzzle(failing_page: Page) -> None:
    day = (datetime.now(UTC) - timedelta(days=10)).date()
    failing_page.goto(f"/puzzle?date={day}")
    none = failing_page.locator(".puzzle-none")
    expect(none).to_contain_text("No puzzle yet", timeout=FOUND)
    expect(failing_page.get_by_role("alert")).to_have_count(0)
    none.get_by_role("link", name="To the lobby").click()
    expect(failing_page.get_by_role("link", name="What would you discard?")).to_be_visible()


@pytest.mark.parametrize("puzzle", [True, False])
def test_the_lobby_links_the_puzzle_where_there_may_be_one(page: Page, site: Site, puzzle: bool) -> None:
    page.route("**/api/server", lambda route: route.fulfill(json=site.get("/api/server") | {"puzzle": puzzle}))
    page.goto("/")
    expect(page.locator(".lobby-start")).to_be_enabled()  # what the server tells is shown
    expect(page.get_by_role("link", name="What would you discard?")).to_be_visible(visible=puzzle)
