"""A person plays in the browser: whole games on a server, and single situations at a scripted one."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site
from tests.web.play_driver import Person, open_room, set_name

ENABLED = "nuki-table button:not(:disabled)"


def check_record(site: Site, page: Page, name: str, folder: Path) -> None:
    """The game that the page shows as over is stored, its record is valid, and the person has made no fault."""
    path = str(
        page.locator(".play-dialog a[href$='#seat=0'], .play-dialog a[href*='#seat=']").last.get_attribute("href")
    )
    game = path.partition("#")[0]
    record = httpx.get(f"{site.url}/api{game}/record", trust_env=False).raise_for_status()
    file = folder / "record.mjson.gz"
    file.write_bytes(record.content)
    command = [sys.executable, "-m", "engine", "validate", str(file)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    messages = [json.loads(line) for line in gzip.decompress(record.content).splitlines()]
    assert name in messages[0]["names"]
    assert [message for message in messages if message["type"] == "error"] == []


def table(page: Page) -> list[str]:
    """What the table shows: its tiles and texts."""
    tiles = "each => each.map((tile) => tile.dataset.tile)"
    return [page.locator("nuki-table .board").inner_text(), *page.locator("nuki-table .tile").evaluate_all(tiles)]


def test_a_game_is_played_by_clicking(
    page: Page, context: BrowserContext, site: Site, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In between the page is loaded again, and the connection lost: nothing of the game is."""
    room = f"click-{request.node.callspec.id}"
    set_name(page, room)
    page.goto(open_room(site, room))
    person = Person(page)
    assert not person.play(8)
    page.wait_for_selector(ENABLED)
    before = table(page)
    page.reload()
    page.wait_for_selector(ENABLED)
    assert table(page) == before
    assert not person.play(8)
    context.set_offline(True)
    expect(page.locator(".play-note")).to_contain_text("connection is lost")
    context.set_offline(False)
    assert person.play()
    expect(page.locator(".play-dialog tr.result-own")).to_contain_text(room)
    assert person.did["discard"] > 20
    check_record(site, page, room, tmp_path)


@pytest.mark.slow
def test_a_hanchan_is_played_by_clicking(
    page: Page, site: Site, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    room = f"hanchan-{request.node.callspec.id}"
    set_name(page, room)
    page.goto(open_room(site, room, length="hanchan"))
    person = Person(page)
    while not person.play(15):
        page.reload()
    check_record(site, page, room, tmp_path)


@pytest.fixture
def desktop(request: pytest.FixtureRequest, page: Page) -> Page:
    """The page at desktop size only, for what does not depend on the size."""
    if "phone" in request.node.callspec.id:
        pytest.skip("the same at every size")
    return page
