"""The pages of tournaments: the list, and one with standings, pairs and schedule."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.accessibility import serious_faults
from tests.web.conftest import Site, both_sizes

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
PLANS: list[dict[str, Any]] = [
    {"name": "spring", "house_bots": ["rule", "efficiency", "random", "tsumogiri"], "walls": 3, "seed": 5},
    # one entrant is missing: the games of the others are played, and then it is waited for
    {
        "name": "summer", "entrants": ["wahaha"], "house_bots": ["rule", "efficiency", "random"], "walls": 4,
        "starts": "2020-01-01T00:00:00Z", "settings": {"rated": False, "resume_timeout": 86_400},
    },
    {"name": "winter", "entrants": ["wahaha"], "house_bots": ["rule"], "places": 5, "games": 60},
]  # fmt: skip


@pytest.fixture(scope="module")
def held(site: Site) -> Site:
    """A site with a tournament that is over, one that is played, and one that waits for entrants."""
    for plan in PLANS:
        httpx.post(f"{site.url}/api/tournaments", json=plan, trust_env=False, timeout=60).raise_for_status()
    played = {"spring": 36, "summer": 12}
    end = time.monotonic() + 60
    while any(site.get(f"/api/tournaments/{name}")["played"] != n for name, n in played.items()):
        assert time.monotonic() < end
        time.sleep(0.1)
    while site.response("/api/tournaments/spring/result").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.1)
    return site


@both_sizes
def test_the_list_and_one_that_is_over(page: Page, held: Site) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Tournaments").click()
    entries = page.get_by_role("main").get_by_role("listitem")
    expect(entries).to_have_count(len(PLANS))
    expect(entries.nth(1)).to_contain_text("running")
    expect(entries.nth(1)).to_contain_text("12 of 48 games")
    expect(entries.nth(2)).to_contain_text("waits for entrants")
    assert page.evaluate(FITS)
    page.get_by_role("link", name="spring").click()
    expect(page.get_by_text("36 of 36 games")).to_be_visible()
    found: Any = held.get("/api/tournaments/spring")
    rows = page.get_by_role("region", name="Standings").locator("tbody tr")
    for index, row in enumerate(found["standings"]):
        expect(rows.nth(index)).to_contain_text(row["name"])
        expect(rows.nth(index)).to_contain_text(f"± {row['rating']['interval']:,.0f}")
        expect(rows.nth(index)).to_contain_text(f"{row['placement']['mean']:.2f}")
    shares = {(pair["bot"], pair["against"]): pair["ahead"]["mean"] for pair in found["pairs"]}
    names = [row["name"] for row in found["standings"]]
    pairs = page.get_by_role("region", name="Head to head").locator("tbody tr")
    for bot, row in zip(names, pairs.all(), strict=True):
        shown = [f"{100 * shares[bot, other]:.1f}" if other != bot else "–" for other in names]
        assert row.locator("td").all_inner_texts() == shown
    schedule = page.get_by_role("region", name="Schedule").locator("tbody tr")
    expect(schedule).to_have_count(30)
    page.get_by_role("button", name="Next games").click()
    expect(schedule).to_have_count(6)
    page.get_by_role("button", name="First games").click()
    expect(schedule).to_have_count(30)
    games: Any = held.get("/api/tournaments/spring/games")
    first = games["items"][0]
    expect(schedule.first).to_contain_text(f"{first['score'][0]:,}".replace("-", "−"))
    expect(page.get_by_role("link", name="Result (JSON)")).to_have_attribute("href", "/api/tournaments/spring/result")
    assert page.evaluate(FITS)
    assert serious_faults(page) == []
    page.get_by_role("link", name="Replay game 1", exact=True).click()
    page.wait_for_url(f"**/games/{first['game']}")


def test_one_that_is_played(page: Page, held: Site) -> None:
    page.goto("/tournaments/summer")
    standings = page.get_by_role("region", name="Standings").locator("tbody tr")
    expect(standings.filter(has_text="wahaha").get_by_role("img", name="not there")).to_be_visible()
    expect(page.get_by_text("unrated")).to_be_visible()
    expect(page.get_by_text(f"mjsonp://127.0.0.1:{held.server.ports.mjai_port}/summer")).to_be_visible()
    schedule = page.get_by_role("region", name="Schedule").locator("tbody tr")
    page.get_by_role("button", name="Finished").click()
    expect(schedule).to_have_count(12)
    page.get_by_role("button", name="Being played").click()
    expect(page.get_by_text("No games here.")).to_be_visible()
    page.get_by_role("button", name="To be played").press("Enter")
    expect(schedule).to_have_count(30)
    expect(schedule.get_by_role("link")).to_have_count(0)
    page.goto("/rooms")
    room = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="summer", exact=True))
    expect(room.get_by_role("link", name="Tournament")).to_have_attribute("href", "/tournaments/summer")
    expect(room.get_by_role("button")).to_have_count(0)


def test_one_that_waits_for_entrants_in_japanese(page: Page, held: Site) -> None:
    page.goto("/tournaments/winter")
    expect(page.get_by_text("2 of 5 entrants")).to_be_visible()
    page.get_by_role("button", name="日本語").click()
    expect(page.get_by_text("参加者 2／定員 5")).to_be_visible()
    expect(page.get_by_role("heading", name="順位表")).to_be_visible()
    assert serious_faults(page) == []
