"""The lobby lets house bots play for whoever wants to watch."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from tests.support.accessibility import serious_faults
from tests.web.conftest import ANSWER, Site, both_sizes
from tests.web.sample_game import GAME, example
from tests.web.test_live_page import Stage, closed, send

REFUSED = "house bots play for 127.0.0.1 already"


@both_sizes
def test_a_table_of_house_bots_is_watched(page: Page, site: Site) -> None:
    asked: list[dict[str, Any]] = []
    strongest: Any = site.get("/api/server")["house_bots"]
    playing = {game["room"]: game["id"] for game in site.get("/api/games?status=playing")["items"]}  # type: ignore[attr-defined]
    shown = next((game for room, game in playing.items() if room.startswith("bots-")), None)

    def answer(route: Any) -> None:
        asked.append(json.loads(route.request.post_data))
        if shown is None:
            route.continue_()
        else:  # an address has one at a time, and the one of the other size may still be there
            route.fulfill(json={"id": shown}, status=201)

    page.route(re.compile("/api/games$"), answer)
    page.goto("/")
    form = page.locator(".lobby-watch-form")
    for number, bot in enumerate(strongest[:3], 1):
        expect(form.get_by_label(f"Bot {number}")).to_have_value(bot)
    form.get_by_label("Bot 2").select_option("efficiency")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_faults(page) == []
    page.get_by_role("button", name="Watch the bots").click()
    page.wait_for_url("**/games/*")
    assert asked == [{"bots": [strongest[0], "efficiency", strongest[2]], "pause": 1}]
    replay = page.locator("nuki-replay[data-place]")
    expect(replay).to_be_visible()
    place = int(str(replay.get_attribute("data-place")))
    expect(replay).not_to_have_attribute("data-place", str(place))  # it goes on
    game: Any = site.get(f"/api/games/{page.url.split('/')[-1].split('#')[0]}")
    assert (game["status"], game["length"]) == ("playing", "hanchan")


def test_why_there_is_no_table_is_told(failing_page: Page) -> None:
    page = failing_page
    page.route(re.compile("/api/games$"), lambda route: route.fulfill(json={"detail": REFUSED}, status=422))
    page.goto("/")
    page.get_by_role("button", name="Watch the bots").click()
    expect(page.locator(".lobby-watch-form [role=alert]")).to_have_text(REFUSED)
    expect(page.get_by_role("button", name="Watch the bots")).to_be_enabled()


def test_the_game_that_goes_on_is_linked(failing_page: Page, site: Site) -> None:
    """An address has one at a time: the second click leads there."""
    page = failing_page
    request = {"bots": ["rule", "rule", "rule"], "pause": 1}
    asked = httpx.post(f"{site.url}/api/games", json=request, trust_env=False, timeout=ANSWER)
    game = asked.json()["id"] if asked.status_code == 201 else asked.json()["values"]["id"]  # it may be there already
    page.goto("/")
    told = page.locator(".lobby-watch-form [role=alert]")
    link = told.get_by_role("link", name="Watch the game")
    for _ in range(2):
        page.get_by_role("button", name="Watch the bots").click()
        expect(told).to_contain_text("house bots play for 127.0.0.1 already: watch their game")
        expect(link).to_have_attribute("href", f"/games/{game}")
    expect(told).not_to_contain_text(game)
    link.press("Enter")
    expect(page.locator("nuki-replay[data-place]")).to_be_visible()


def test_a_game_that_is_not_stored_stays_on_the_page(failing_page: Page, site: Site) -> None:
    page = failing_page
    messages = closed(example())
    stage = Stage(page)
    page.goto(f"/games/{GAME}")
    socket = stage.connected(page, 1)
    send(socket, messages)
    expect(page.locator("nuki-replay[data-place]")).to_be_visible()
    page.unroute_all()
    unknown = httpx.get(f"{site.url}/api/games/{GAME}", trust_env=False, timeout=ANSWER)
    page.route(f"**/api/games/{GAME}", lambda route: route.fulfill(json=unknown.json(), status=404))
    socket.close()
    expect(page.locator(".game-line")).to_contain_text("is not stored")
    page.keyboard.press("Home")
    expect(page.locator("nuki-replay[data-place='0']")).to_be_visible()
