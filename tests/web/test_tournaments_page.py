"""The pages of tournaments: the list, and one with standings, pairs and schedule."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from server.api.tournaments import NewTournament
from server.tournaments.plan import SETTABLE
from tests.support.accessibility import serious_faults
from tests.web.conftest import Site, both_sizes

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
PLANS: list[dict[str, Any]] = [
    {"name": "spring", "house_bots": ["rule", "efficiency", "random", "tsumogiri"], "walls": 3, "seed": 5},
    # one entrant is missing: the games of the others are played, and then it is waited for
    {
        "name": "summer", "entrants": ["wahaha"], "house_bots": ["rule", "efficiency", "random"], "walls": 4,
        "settings": {"rated": False, "resume_timeout": 86_400},
    },
    {"name": "winter", "entrants": ["wahaha"], "house_bots": ["rule"], "places": 5, "games": 60},
]  # fmt: skip


# What is filled in, one after the other, into which field; at which field the error is then, and a part of it.
WRONG = [
    ("Name", "spring", "Name", "is there already"),
    ("Name", "a b", "Name", "should be 1 to 64 of A-Z a-z 0-9 _ . - and not begin with a ."),
    ("Name", "", "Name", "give it a name"),
    ("Name", "autumn", "Bots that connect", "name at least three, or let others enter by “Open entry”"),
    ("Bots that connect", "wahaha\nwahaha", "Bots that connect", "twice"),
    ("Walls", "2000", "Walls", "1000"),
    ("Walls", "", "Bots that connect", "twice"),
    (
        "Bots that connect",
        "wahaha\nakochan\nmortal",
        "Walls",
        "give either the number of walls, or the number of games",
    ),
    ("Walls", "2", "Begins at the latest", "30 days away"),
]


@pytest.fixture(scope="module")
def held(site: Site) -> Site:
    """A site with a tournament that is over, one that is played, and one that waits for entrants."""
    for plan in PLANS:
        starts = {"starts": datetime.now(UTC).isoformat()} if plan["name"] == "summer" else {}
        httpx.post(f"{site.url}/api/tournaments", json=plan | starts, trust_env=False, timeout=60).raise_for_status()
    played = {"spring": 36, "summer": 12}
    end = time.monotonic() + 60
    while any(site.get(f"/api/tournaments/{name}")["played"] != n for name, n in played.items()):
        assert time.monotonic() < end
        time.sleep(0.1)
    while site.response("/api/tournaments/spring/result").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.1)
    return site


def share_text(mean: float, interval: float) -> str:
    """A share in per cent with its interval, unless that is as wide as the scale."""
    return f"{100 * mean:.1f} ± {100 * interval:.1f}" if interval < 0.5 else f"{100 * mean:.1f} ± –"


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
        known = row["placement"]["interval"] < 1
        expect(rows.nth(index)).to_contain_text(f"± {row['rating']['interval']:,.0f}" if known else "± –")
        expect(rows.nth(index)).to_contain_text(f"{row['placement']['mean']:.2f}")
    shares = {(pair["bot"], pair["against"]): share_text(**pair["ahead"]) for pair in found["pairs"]}
    names = [row["name"] for row in found["standings"]]
    pairs = page.get_by_role("region", name="Head to head").locator("tbody tr")
    for bot, row in zip(names, pairs.all(), strict=True):
        shown = [shares[bot, other] if other != bot else "–" for other in names]
        assert [" ".join(text.split()) for text in row.locator("td").all_inner_texts()] == shown
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
    assert page.locator("th").evaluate_all("all => all.every((each) => each.textContent.trim())")
    page.get_by_role("link", name="Replay game 1", exact=True).click()
    page.wait_for_url(f"**/games/{first['game']}")


def test_the_standings_fit_a_small_phone_held_sideways(page: Page, held: Site) -> None:
    page.set_viewport_size({"width": 667, "height": 375})
    page.goto("/tournaments/spring")
    standings = page.get_by_role("region", name="Standings")
    expect(standings.locator("tbody tr")).to_have_count(4)
    assert standings.evaluate("region => region.scrollWidth - region.clientWidth") == 0


def test_an_interval_as_wide_as_the_scale_is_not_shown(page: Page, held: Site) -> None:
    def answer(route: Route) -> None:
        found: Any = route.fetch().json()
        found["standings"][0]["placement"]["interval"] = 1.0
        found["standings"][1]["placement"]["interval"] = 0.99
        found["standings"][2]["placement"]["interval"] = None  # of one wall
        found["pairs"][0]["ahead"]["interval"] = 0.5
        found["pairs"][1]["ahead"]["interval"] = 0.49
        route.fulfill(json=found)

    page.route("**/api/tournaments/spring", answer)
    page.goto("/tournaments/spring")
    rows = page.get_by_role("region", name="Standings").locator("tbody tr")
    for row, known in ((0, False), (1, True), (2, False)):
        for column in (1, 2):  # rating, placement
            cell = rows.nth(row).locator("td").nth(column)
            expect(cell).to_contain_text(re.compile(r"± \d" if known else r"± –$"))
    shares = page.get_by_role("region", name="Head to head").locator("td")
    expect(shares.get_by_text("± 50.0")).to_have_count(0)
    expect(shares.get_by_text("± 49.0")).to_have_count(1)


def test_the_page_says_why_games_do_not_count(page: Page, held: Site) -> None:
    def standings(route: Route) -> None:
        found: Any = route.fetch().json()
        first, second, *others = found["standings"]
        nothing = dict.fromkeys(("rating", "placement", "first", "second", "third"))
        found["standings"] = [first | {"taken_over": 2}, *others, second | nothing | {"failed": True, "taken_over": 3}]
        route.fulfill(json=found)

    def games(route: Route) -> None:
        found: Any = route.fetch().json()
        found["items"][0]["taken_over"] = [False, True, False]
        route.fulfill(json=found)

    page.route("**/api/tournaments/spring", standings)
    page.goto("/tournaments/spring")
    first, second = (row["name"] for row in held.get("/api/tournaments/spring")["standings"][:2])  # type: ignore[index]
    expect(
        page.get_by_text(f"A house bot has played every game for {second}: those games do not count")
    ).to_be_visible()
    expect(page.get_by_text(f"Games that a house bot has played: {first} (2).")).to_be_visible()
    legend = page.get_by_text("Struck through: a house bot played.")
    expect(page.get_by_role("region", name="Schedule").locator("tbody tr")).to_have_count(30)
    expect(legend).to_be_hidden()
    page.route("**/api/tournaments/spring/games?*", games)
    page.reload()
    expect(legend).to_be_visible()


@pytest.mark.parametrize("status", ["running", "cancelled"])
def test_the_final_standings_come_by_themselves(page: Page, held: Site, status: str) -> None:
    """A page that was opened before asks until nothing changes any more, also where its last games are still played."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        found: Any = route.fetch().json()
        asked.append(route.request.url)
        if len(asked) < 3:
            standings = [row | {"games": 20} for row in found["standings"]]
            found |= {"status": status, "over": False, "played": 30, "standings": standings, "pairs": []}
        route.fulfill(json=found)

    page.route("**/api/tournaments/spring", answer)
    page.goto("/tournaments/spring")
    expect(page.get_by_text("30 of 36 games")).to_be_visible()
    games = page.get_by_role("region", name="Standings").locator("tbody td:last-child")
    expect(games).to_have_text(["20"] * 4)
    expect(page.get_by_role("link", name="Result (JSON)")).to_be_hidden()
    expect(page.get_by_text("36 of 36 games")).to_be_visible()
    expect(games).to_have_text(["27"] * 4)
    expect(page.get_by_role("link", name="Result (JSON)")).to_be_visible()


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


def form_of(page: Page) -> Locator:
    """The form for a new tournament, opened by the keyboard."""
    page.goto("/tournaments")
    page.get_by_role("button", name="Create a tournament").press("Enter")
    form = page.get_by_role("form", name="New tournament")
    expect(form.get_by_label("Name", exact=True)).to_be_focused()
    return form


@both_sizes
def test_a_tournament_is_created_by_the_form(page: Page, held: Site) -> None:
    name = f"form-{page.viewport_size and page.viewport_size['width']}"
    form = form_of(page)
    expect(form.get_by_label("Walls", exact=True)).to_have_value("10")
    inputs = {field.get_attribute("name") for field in form.locator("[name]").all()}
    assert inputs == {*NewTournament.model_fields, *SETTABLE} - {"settings"}
    form.get_by_label("rule", exact=True).press("Space")
    form.get_by_label("Bots that connect", exact=True).fill("wahaha\n\n akochan \n")
    form.get_by_label("Seed", exact=True).fill("18446744073709551615")  # 64 bits
    form.get_by_text("Settings of the games").press("Enter")
    form.get_by_label("Length", exact=True).select_option("hanchan")
    assert page.evaluate(FITS)
    assert serious_faults(page) == []
    form.get_by_label("Name", exact=True).fill(name)
    with page.expect_request(lambda request: request.method == "POST") as sent:
        form.get_by_label("Name", exact=True).press("Enter")
    assert '"seed":18446744073709551615' in str(sent.value.post_data)
    page.wait_for_url(f"**/tournaments/{name}")
    expect(page.get_by_text("3 entrants")).to_be_visible()
    made: Any = held.get(f"/api/tournaments/{name}")
    assert {each["name"] for each in made["standings"]} == {"wahaha", "akochan", "rule (house)"}
    assert (made["length"], made["starts"], made["status"]) == ("hanchan", None, "open")
    for _ in ("cancel", "delete"):
        httpx.delete(f"{held.url}/api/tournaments/{name}", trust_env=False, timeout=60).raise_for_status()
    form = form_of(page)
    form.get_by_role("button", name="Cancel").press("Enter")
    expect(form).to_have_count(0)
    expect(page.get_by_role("button", name="Create a tournament")).to_be_focused()


def test_errors_of_the_form_are_told_at_their_fields(held: Site, failing_page: Page) -> None:
    form = form_of(failing_page)
    form.get_by_label("Begins at the latest", exact=True).fill("2099-01-01T12:00")
    for key, value, at, wrong in WRONG:
        form.get_by_label(key, exact=True).fill(value)
        form.get_by_label("Name", exact=True).press("Enter")
        field = form.locator(".rooms-field").filter(has=form.page.get_by_label(at, exact=True))
        expect(field.get_by_role("alert"), wrong).to_contain_text(wrong)
        expect(form.get_by_label(at, exact=True), wrong).to_be_focused()
        expect(form.locator("[aria-invalid]"), wrong).to_have_count(1)


def test_errors_of_the_form_are_told_in_japanese(held: Site, browser: Browser) -> None:
    with browser.new_context(base_url=held.url, locale="ja") as context:
        page = context.new_page()
        page.goto("/tournaments")
        page.get_by_role("button", name="大会を作成").click()
        page.get_by_label("大会名").fill("autumn")
        page.get_by_label("大会名").press("Enter")
        text = "0名が指定されています。3名以上を指定するか、定員を決めて他の参加を認めてください"
        expect(page.get_by_role("alert").filter(has_text=text)).to_be_visible()
        page.get_by_label("大会名").fill("!")
        page.get_by_label("大会名").press("Enter")
        text = "大会名の値 '!' は正しくありません：使えるのは A-Z a-z 0-9 _ . - の64文字までで、先頭に . は使えません"
        expect(page.get_by_role("alert").filter(has_text=text)).to_be_visible()
