"""What a player may press at any time: leave, and whatever else is no action of the game."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import serious_faults
from tests.web.conftest import Site
from tests.web.play_driver import Person, open_room, set_name
from tests.web.scripted_table import ScriptedTable

ENABLED = "nuki-table button:not(:disabled)"
RUNS = ["1p", "2p", "3p", "4p", "5p", "6p", "7p", "8p", "9p", "1s", "1s"]


@pytest.fixture
def scripted(page: Page, site: Site) -> ScriptedTable:
    """A scripted server, and the page of a player with a name."""
    set_name(page, "me")
    return ScriptedTable(page, site.url)


def playing(site: Site, name: str) -> list[object]:
    """The games that a player plays."""
    found = site.get(f"/api/games?status=playing&player={name}")["items"]
    assert isinstance(found, list)
    return found


def test_who_leaves_is_replaced_by_a_house_bot_at_once(page: Page, site: Site) -> None:
    """Others go on: here house bots alone, who finish the game without anybody to wait for."""
    set_name(page, "leaver")
    page.goto(open_room(site, "leaving", resume_timeout=3600), referer=f"{site.url}/rooms")
    Person(page).reach_a_discard()
    page.keyboard.press("l")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Leave the game?")
    assert serious_faults(page) == []
    page.keyboard.press("1")  # no discard while the question is open
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(ENABLED)).not_to_have_count(0)
    page.get_by_role("button", name="Leave").click()
    dialog.get_by_role("button", name="Leave the game").click()
    page.wait_for_url(f"{site.url}/")
    page.wait_for_function(
        "async () => (await (await fetch('/api/games?player=leaver')).json()).items.length === 1", timeout=60_000
    )
    (game,) = site.get("/api/games?player=leaver")["items"]  # type: ignore[misc]
    assert [seat["taken_over"] for seat in game["seats"] if seat["name"] == "leaver"] == [True]  # type: ignore[index]
    assert not playing(site, "leaver")
    page.goto("/rooms/leaving/play", referer=f"{site.url}/rooms")  # a new game, and not the one that was left
    Person(page).reach_a_discard()
    assert len(playing(site, "leaver")) == 1


def test_the_keys_are_shown_on_request(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    keys = page.locator(".play-keys")
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_contain_text("L leave the game")
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_hidden()
