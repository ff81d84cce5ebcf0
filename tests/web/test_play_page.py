"""A person plays in the browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site
from tests.web.play_driver import Person, open_room, set_name


def check_record(site: Site, page: Page, name: str, folder: Path) -> None:
    """The game that the page shows as over is stored, its record is valid, and the person made no fault."""
    game = page.locator(".play-dialog a[href$='seat=0'], .play-dialog a[href*='/games/']").first
    path = str(game.get_attribute("href")).split("#")[0].removesuffix("/review")
    record = httpx.get(f"{site.url}/api{path}/record", trust_env=False).raise_for_status()
    file = folder / "record.mjson.gz"
    file.write_bytes(record.content)
    command = [sys.executable, "-m", "engine", "validate", str(file)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seats = site.get(f"/api{path}")["seats"]
    assert isinstance(seats, list)
    assert name in [seat["name"] for seat in seats]


def test_a_game_is_played_by_clicking(page: Page, site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = f"clicker-{len(request.node.name)}"
    set_name(page, name)
    page.goto(open_room(site, f"click-{len(request.node.name)}"))
    person = Person(page)
    assert person.play()
    print(person.did)
    expect(page.locator(".play-dialog tr.result-own")).to_contain_text(name)
    check_record(site, page, name, tmp_path)
