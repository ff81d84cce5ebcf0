"""The list of players and a player's page show what the API says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.review import make_review
from agents.review.totals import Totals
from engine.records.files import read_records
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, both_sizes, phone_at_length, running_site
from tests.web.shown import number, percent

HOSTILE = '<img src=x onerror="document.title=1">/100%?a=b&c#d 雀xxxxxxxxxxx'  # as long as a name may be
ROWS = "table.players-list tbody tr"
Games = Callable[..., Any]


def path_of(name: str) -> str:
    return f"/players/{quote(name, safe='')}"


def items(site: Site, path: str) -> list[Any]:
    """The items of a list of the API."""
    found = site.get(path)["items"]
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server of these tests alone, so that the API says the same before and after a page has asked it."""
    with running_site(tmp_path_factory.mktemp("players")) as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def hostile_player(site: Site) -> None:
    """A player with a hostile name has played two games."""
    address = f"mjsonp://127.0.0.1:{site.server.ports.mjai_port}/solo+tsumogiri+tsumogiri"
    command = [sys.executable, "-m", "agents.client", "rule", address, "--games", "2", "--name", HOSTILE]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=300)


def text(row: Locator, selector: str) -> str:
    return row.locator(selector).inner_text().strip()


# The list -------------------------------------------------------------------------------------------------------------


@phone_at_length
def test_the_list_shows_what_the_api_says(page: Page, site: Site) -> None:
    page.goto("/players")
    players = items(site, "/api/players")
    rows = page.locator(ROWS)
    expect(rows).to_have_count(len(players))
    for place, (row, player) in enumerate(zip(rows.all(), players, strict=True), start=1):
        assert text(row, "td >> nth=0") == str(place)
        assert text(row, "th") == player["name"]
        assert text(row, "strong") == number(player["rating"]["ordinal"], 1)
        assert text(row, "td >> nth=3") == str(player["games"])
        shares = [percent(player[key] / player["games"]) for key in ("firsts", "seconds", "thirds")]
        label = row.locator(".placements").get_attribute("aria-label")
        assert label == f"1st {shares[0]}, 2nd {shares[1]}, 3rd {shares[2]}"


def test_the_list_is_ordered_and_searched(page: Page, site: Site) -> None:
    page.goto("/players")
    page.get_by_role("link", name="Games played").click()
    names = page.locator(f"{ROWS} th")
    expect(names).to_have_text([player["name"] for player in items(site, "/api/players?order=games")])
    field = page.get_by_label("Name begins with")
    field.fill("rule")
    field.press("Enter")
    expect(names).to_have_text([player["name"] for player in items(site, "/api/players?order=games&prefix=rule")])
    expect(page.get_by_role("link", name="Games played")).to_have_attribute("aria-current", "page")
    page.get_by_label("Name begins with").fill("<b>")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("main")).to_contain_text("No player's name begins with “<b>”")


def test_the_list_goes_on_page_by_page(page: Page, site: Site) -> None:
    def two_at_a_time(route: Route) -> None:
        route.continue_(url=route.request.url.replace("limit=50", "limit=2"))

    page.route("**/api/players?*", two_at_a_time)
    page.goto("/players")
    players = items(site, "/api/players")
    more, names = page.get_by_role("button", name="More"), page.locator(f"{ROWS} th")
    for shown in range(2, len(players), 2):
        expect(names).to_have_count(shown)
        more.press("Enter")
    expect(names).to_have_text([player["name"] for player in players])
    expect(page.locator(f"{ROWS} td:first-child")).to_have_text([str(place + 1) for place in range(len(players))])
    expect(more).to_be_hidden()


def test_who_has_no_rated_games_has_no_rank(page: Page, site: Site) -> None:
    players = items(site, "/api/players?order=rating")

    def without_rating(route: Route) -> None:
        found = route.fetch().json()
        last = found["items"][-1]
        last |= {"rated_games": 0, "rating": {"mu": 25.0, "sigma": 25 / 3, "ordinal": 0.0}}
        route.fulfill(json=found)

    page.route("**/api/players?*", without_rating)
    page.goto("/players")
    rows = page.locator(ROWS)
    expect(rows).to_have_count(len(players))
    assert [text(rows.nth(index), "td >> nth=0") for index in (0, -1)] == ["1", ""]
    assert text(rows.last, "strong") == "–"
    assert text(rows.last, "td >> nth=2") == ""
    page.get_by_role("link", name="Games played").click()
    expect(page.get_by_role("link", name="Games played")).to_have_attribute("aria-current", "page")
    expect(rows).to_have_count(len(players))
    assert text(rows.last, "td >> nth=0") == str(len(players))
    assert text(rows.last, "strong") == "–"


@pytest.mark.parametrize("width", [360, 320])
def test_nothing_is_wider_than_a_phone(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 640})
    for path in ("/players", path_of(HOSTILE), path_of("efficiency (house)")):
        page.goto(path)
        expect(page.locator(".placements").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") == width


# A player -------------------------------------------------------------------------------------------------------------


def test_a_player_is_found_through_links(page: Page, site: Site) -> None:
    page.goto("/players")
    page.get_by_role("link", name="rule", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("rule")
    (game, *_) = items(site, "/api/games?player=rule&limit=1")
    latest = page.get_by_role("region", name="Latest games")
    expect(latest.locator("a").first).to_have_attribute("href", f"/games/{game['id']}")
    scores = sorted(f"{seat['score']:,}".replace("-", "−") for seat in game["seats"])
    assert sorted(latest.locator("> ul > li").first.locator(".number").all_inner_texts()) == scores
    opponents = page.get_by_role("region", name="Head to head")
    opponents.get_by_role("link", name="efficiency (house)").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("efficiency (house)")


@phone_at_length
def test_statistics_are_those_of_the_api(page: Page, site: Site) -> None:
    page.goto(path_of("rule"))
    found: Any = site.get(f"/api{path_of('rule')}/statistics")
    rates = {
        key: percent(found[key])
        for key in ("win_rate", "deal_in_rate", "riichi_rate", "call_rate", "draw_rate", "tsumo_share")
        if found[key] is not None
    }
    assert rates
    means = {
        "mean_rank": number(found["mean_rank"], 3),
        "mean_score": number(found["mean_score"]),
        "busts": percent(found["busts"] / found["games"]),
        "nukidora_per_round": number(found["nukidora_per_round"], 2),
    }
    for key, value in (rates | means).items():
        expect(page.locator(f"[data-statistic={key}] strong")).to_have_text(value)
    counts = page.locator("[data-statistic=win_rate] td").last
    expect(counts).to_have_text(f"{found['play']['wins']} of {found['play']['rounds']}")
    (opponent, *_) = items(site, f"/api{path_of('rule')}/opponents")
    row = page.get_by_role("region", name="Head to head").locator("tbody tr").first
    share = percent(opponent["better"] / opponent["games"])
    expect(row.locator("th, td").nth(0)).to_have_text(opponent["name"])
    expect(row.locator("th, td").nth(1)).to_have_text(str(opponent["games"]))
    expect(row.locator("th, td").nth(2)).to_have_text(share)


def test_statistics_are_chosen_and_the_choice_is_in_the_address(page: Page, site: Site) -> None:
    page.goto(path_of("rule"))
    page.get_by_label("Rules").select_option("majsoul")
    expect(page.get_by_text("No games with this choice.")).to_be_visible()
    page.get_by_label("Rules").select_option("tenhou")
    page.get_by_label("Period").select_option("7")
    room = page.get_by_label("Room")
    room.fill("solo+rule+efficiency")
    room.press("Enter")
    expect(page.locator("[data-statistic=mean_rank] td").last).to_have_text("games: 2")
    expect(page).to_have_url(f"{site.url}/players/rule?rules=tenhou&room=solo%2Brule%2Befficiency&days=7")
    page.reload()
    expect(page.locator("[data-statistic=mean_rank] td").last).to_have_text("games: 2")
    expect(page.get_by_label("Room")).to_have_value("solo+rule+efficiency")


def test_the_chart_shows_each_rating_and_is_read(page: Page, site: Site) -> None:
    page.goto(path_of("efficiency (house)"))
    ratings = items(site, f"/api{path_of('efficiency (house)')}/ratings")
    chart = page.get_by_role("slider", name="Skill, Rated game")
    expect(chart.locator("circle")).to_have_count(len(ratings))
    line = chart.locator("polyline").get_attribute("points")
    assert line is not None
    places = [tuple(map(float, point.split(","))) for point in line.split()]
    by_height = sorted(range(len(ratings)), key=lambda index: -places[index][1])
    assert by_height == sorted(range(len(ratings)), key=lambda index: ratings[index]["rating"]["mu"])
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    band = chart.locator("polygon").get_attribute("points")
    assert band is not None
    assert len(band.split()) == 2 * len(ratings)
    check_readout(page, chart, ratings)


def value_of(point: Any) -> str:
    """What the chart says of a rating."""
    mu, sigma = point["rating"]["mu"], point["rating"]["sigma"]
    return f"{number(mu, 1)} ({number(mu - 3 * sigma, 1)} to {number(mu + 3 * sigma, 1)})"


def check_readout(page: Page, chart: Locator, ratings: list[Any]) -> None:
    """Read the chart by keyboard and pointer, and as a table."""
    readout = page.locator(".chart-readout")
    expect(readout).to_contain_text(value_of(ratings[-1]))
    chart.focus()
    page.keyboard.press("Home")
    expect(readout).to_contain_text(value_of(ratings[0]))
    expect(chart).to_have_attribute("aria-valuenow", "0")
    page.keyboard.press("ArrowLeft")
    expect(readout).to_contain_text(value_of(ratings[0]))
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text(value_of(ratings[1]))
    assert value_of(ratings[1]) in (chart.get_attribute("aria-valuetext") or "")
    page.keyboard.press("End")
    expect(chart).to_have_attribute("aria-valuenow", str(len(ratings) - 1))
    chart.hover(position={"x": 60, "y": 100})
    expect(readout).to_contain_text(value_of(ratings[0]))
    page.get_by_text("Values as a table").click()
    expect(page.locator(".chart-table tbody td")).to_have_text([value_of(point) for point in ratings])


def test_a_long_history_is_drawn_with_few_points(page: Page) -> None:
    """With 1,000 rated games, every fifth is asked for, and the latest is shown too."""

    def many(route: Route) -> None:
        player = route.fetch().json()
        route.fulfill(json=player | {"rated_games": 1003})

    def every_sixth(route: Route) -> None:
        assert "step=6&" in route.request.url
        rating = {"mu": 25.0, "sigma": 1.0, "ordinal": 22.0}
        points = [{"number": n, "finished": "2025-06-01T12:00:00Z", "rating": rating} for n in range(6, 1003, 6)]
        route.fulfill(json={"items": points, "next_cursor": None})

    page.route("**/api/players/rule", many)
    page.route("**/api/players/rule/ratings?*", every_sixth)
    page.goto("/players/rule")
    expect(page.get_by_role("slider").locator("circle")).to_have_count(168)
    expect(page.locator(".chart-readout")).to_contain_text("Game 1,003")


@phone_at_length
def test_a_hostile_name_stays_text(page: Page) -> None:
    page.goto("/players")
    page.get_by_role("link", name=HOSTILE, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(page.get_by_role("slider").locator("circle")).to_have_count(2)
    expect(page.get_by_role("region", name="Head to head").locator("tbody th")).to_have_text("tsumogiri (house)")
    assert page.title() == f"{HOSTILE} · nukidora"
    assert page.locator("img").count() == 0


# Review ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@phone_at_length
def test_the_latest_games_are_reviewed(page: Page) -> None:
    page.goto(path_of(HOSTILE))
    page.get_by_label("Bot", exact=True).select_option("bert")
    page.get_by_role("button", name="Review the latest games (2)").click()
    where = page.get_by_role("region", name="Where placements are lost").first
    expect(where.get_by_role("row").nth(1)).to_contain_text("all", timeout=60_000)
    expect(where.get_by_role("columnheader").last).to_have_text("Loss of a game: bert")
    link = page.get_by_role("region", name="The costliest mistakes by bert").get_by_role("link").first
    place = link.inner_text()
    link.click()
    page.wait_for_url("**/games/*/review#seat=*&bot=bert&at=*")
    expect(page.locator(".review-place")).to_contain_text(f"turn {place.rpartition(' ')[2]} ", timeout=60_000)
    expect(page.locator(".opinion .bad, .opinion .warn, .opinion .muted").first).to_be_visible()


GAME = "b" * 32  # id of the game that `reviewed` makes up


@pytest.fixture(scope="module")
def totals() -> dict[str, Any]:
    """What the review of the sample record adds up to, as the server has it for a stored game."""
    decisions = seat_decisions(read_records(REPOSITORY / "examples/game.mjson"), 0)
    review = make_review(decisions, {"bert": make("bert")}, lambda n: None)
    return Totals.of_game([review], GAME).as_json("rule", ["bert"])


def show_review(page: Page, totals: dict[str, Any]) -> None:
    """Open the page of a player, and let the server answer at once with a review."""
    state = {"id": "1", "status": "done", "done": 1, "decisions": 1, "error": ""}
    page.route(re.compile("/api/players/rule/reviews"), lambda route: route.fulfill(json=state))
    page.route("**/api/reviews/1/result", lambda route: route.fulfill(json=totals))
    page.goto("/players/rule")
    page.locator("#review-bot + button").click()
    expect(page.locator(".review-totals")).to_be_visible()


def test_decisions_without_a_value_are_counted(page: Page, totals: dict[str, Any]) -> None:
    summary = totals["summary"][0]
    show_review(page, totals | {"summary": [summary | {"unknown": 2}]})
    expect(page.get_by_text("without a value")).to_have_text(
        f"Decisions without a value by bert, left out of its losses: 2 of {summary['decisions']}"
    )


@both_sizes
@pytest.mark.parametrize(("language", "rounds"), [("en", r"[ES]\d-\d+ · \d+"), ("ja", r"[東南]\d局\d+本場 · \d+")])
def test_a_mistake_has_links_of_one_line_to_its_game(
    page: Page, totals: dict[str, Any], language: str, rounds: str
) -> None:
    """To the review and to the replay, and rounds have the names of all other pages."""
    page.add_init_script(f"localStorage.setItem('nukidora.language', '{language}')")
    show_review(page, totals)
    count = page.locator(".review-totals section").first.get_by_role("columnheader").nth(1)
    expect(count).to_have_text("Count" if language == "en" else "回数")
    rows = page.locator(".review-totals section").last.locator("tbody tr")
    assert totals["mistakes"][0]
    expect(rows).to_have_count(len(totals["mistakes"][0]))
    for row, mistake in zip(rows.all(), totals["mistakes"][0]):
        expect(row.get_by_role("link").first).to_have_text(re.compile(f"^{rounds}$"))
        game = row.locator(".review-game")
        expect(game).to_have_text(" · ".join(mistake["names"][1:]))
        expect(game).to_have_attribute("href", f"/games/{GAME}#round={mistake['round']}&seat=0")
        box = row.bounding_box()
        assert box is not None
        assert box["height"] < 60
    for region in page.locator(".review-totals .scroll").all():
        assert region.evaluate("(each) => each.scrollWidth <= each.clientWidth"), region.get_attribute("aria-label")
