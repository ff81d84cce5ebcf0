"""The lobby: playing at once, what is being played, results, connecting a bot."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import BrowserContext, Page, Route, expect

from agents.built_in import BUILT_IN
from server.house_bots import HOUSE_BOTS
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, both_sizes, phone_at_length, stop_time
from tests.web.shown import number, signed

HOSTILE = "<img src=x onerror=alert(1)>"
SETTINGS = {
    "rules": "tenhou", "length": "east", "games": 0, "seats": "random", "scores": [35000, 35000, 35000],
    "decision_time": 5.0, "bank_time": 10.0,
    "fill": [], "fill_delay": 5.0, "wait_timeout": 600.0, "idle": "leave", "house_bot": "rule", "max_faults": 10,
    "resume_timeout": 30.0, "fault_penalty": 0.0, "spectator_delay": 0.0, "pause": 0.0,
}  # fmt: skip


def live_game(game_id: str = "a" * 32, scores: tuple[int, int, int] = (35000, 35000, 35000)) -> dict[str, Any]:
    """A game being played, as the API sends it."""
    seats = [{"name": f"{HOSTILE}{seat}", "house_bot": False, "score": score} for seat, score in enumerate(scores)]
    return {
        "id": game_id, "room": HOSTILE, "rules": HOSTILE, "length": "east", "started": "2026-01-01T00:00:00Z",
        "rounds": 0, "seats": seats, "spectator_delay": 0, "status": "playing",
    }  # fmt: skip


def finished_game() -> dict[str, Any]:
    """A finished game."""
    game = live_game("b" * 32, (25000, 50000, 30000))
    for seat, rank in zip(game["seats"], (3, 1, 2), strict=True):
        seat |= {"rank": rank, "points": 40.0 - 30 * rank, "penalty": 0, "faults": 0, "taken_over": False}
    return game | {"status": "finished", "finished": "2026-01-01T00:10:00Z", "rated": True}


def answer(page: Page, path: str, items: Callable[[], list[dict[str, Any]]]) -> list[str]:
    """Answer requests for a list of the API, whose address begins with `path`, in the server's place."""
    asked: list[str] = []

    def fulfil(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json={"items": items(), "next_cursor": None})

    page.route(re.compile(r"//[^/]+" + re.escape(path)), fulfil)
    return asked


def answer_all(page: Page, playing: Callable[[], list[dict[str, Any]]] = list) -> list[str]:
    """Answer every list in the server's place: nothing there, but the games being played that are given."""
    answer(page, "/api/rooms?", list)
    answer(page, "/api/games?limit", list)
    answer(page, "/api/players?", list)
    return answer(page, "/api/games?status=playing", playing)


@both_sizes
def test_play_now_opens_the_room_that_was_asked_for(page: Page, site: Site) -> None:
    page.goto("/")
    play = page.get_by_role("region", name="Play now")
    name = play.get_by_label("Your name")
    name.fill("   ")
    play.get_by_role("button", name="Play").click()
    expect(name).to_be_focused()
    assert name.evaluate("field => field.validity.valid") is False
    name.fill("Ann")
    options = play.get_by_label("Opponent 1").locator("option")
    expect(options).to_have_count(len(HOUSE_BOTS.names))
    bots = [str(option.get_attribute("value")) for option in options.all()]
    assert sorted(bots) == sorted(HOUSE_BOTS.names)
    ratings = [BUILT_IN[bot].rating for bot in bots]
    rated = [rating for rating in ratings if rating is not None]
    assert ratings[: len(rated)] == sorted(rated, reverse=True)  # the others follow
    strongest, *_, last = options.all_inner_texts()
    assert strongest == f"{bots[0]} +{rated[0]} \N{EN DASH} strong"
    assert last == f"{bots[-1]} \N{MINUS SIGN}{-rated[-1]} \N{EN DASH} weak"
    loaded = "performance.getEntriesByType('resource').find(each => each.name.endsWith('/play_now.js')).name"
    unrated = page.evaluate(f"import({loaded}).then(module => module.botOptions(['new'], {{}}, '')[0].text)")
    assert unrated == "new \N{EN DASH} not rated yet"
    expect(play.get_by_label("Opponent 2")).to_have_value("rule")
    play.get_by_label("Opponent 1").select_option("efficiency")
    play.get_by_label("Opponent 2").select_option("random")
    strengths = play.get_by_label("Their strength").locator("option:not([disabled])")
    expect(strengths).to_have_text(["full"])  # random cannot be weaker
    play.get_by_label("Opponent 2").select_option("rule")
    play.get_by_label("Their strength").select_option("much weaker (\N{MINUS SIGN}300)")
    play.get_by_label("Starting points").select_option("you 25,000, they 40,000 each")
    for choice in ("Hanchan", "Mahjong Soul", "Fast", "Casual (hints)"):
        play.get_by_label(choice, exact=True).check()
    expect(play).to_contain_text("5 s for a decision + 10 s for the game; bots take 0.3 s")
    with page.expect_request(lambda request: request.method == "POST") as opened:
        play.get_by_role("button", name="Play").click()
    page.wait_for_url(re.compile("/rooms/table-[0-9a-z]+/play$"))
    asked: Any = opened.value.post_data_json
    assert f"/rooms/{asked['name']}/play" in page.url
    assert asked["permanent"] is False
    assert asked["settings"] == {
        "rules": "majsoul", "length": "hanchan", "scores": [25000, 40000, 40000],
        "rated": False, "hints": True, "fill": ["efficiency@-300", "rule@-300"], "fill_delay": 0,
        "resume_timeout": 120, "decision_time": 5, "bank_time": 10, "pause": 0.3,
    }  # fmt: skip
    got: Any = site.get(f"/api/rooms/{asked['name']}")
    assert not got["permanent"]
    assert got["settings"].items() >= asked["settings"].items()
    assert page.evaluate("localStorage.getItem('nukidora.name')") == "Ann"
    page.goto("/")
    expect(page.get_by_label("Your name")).to_have_value("Ann")


@both_sizes
def test_the_link_to_the_puzzle_stands_still_while_the_page_loads(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/server", lambda route: held.append(route))
    page.goto("/")
    link = page.get_by_role("link", name="The puzzle of the day")
    start = page.locator(".lobby-start")
    expect(link).to_be_visible()
    expect(start).to_be_disabled()  # nobody knows the opponents yet
    before = link.bounding_box()
    held.pop().continue_()
    expect(start).to_be_enabled()
    expect(page.locator(".lobby-watch-form")).to_be_visible()
    assert link.bounding_box() == before


def test_play_now_by_keys_alone(page: Page) -> None:
    page.goto("/")
    expect(page.locator(".lobby-start")).to_be_enabled()
    page.get_by_label("Your name").focus()
    page.keyboard.type("Ann")
    for _ in range(5):  # two opponents, strength, handicap, then the length
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    with page.expect_request(lambda request: request.method == "POST") as opened:
        page.keyboard.press("Enter")
    asked: Any = opened.value.post_data_json
    assert asked["settings"]["length"] == "hanchan"
    page.wait_for_url(re.compile("/play$"))


def test_rows_change_in_place(page: Page) -> None:
    stop_time(page)
    games = [live_game("a" * 32), live_game("b" * 32)]
    answer_all(page, lambda: games)
    page.goto("/")
    page.wait_for_load_state("networkidle")  # all is answered, and the next poll is due in 3 s
    rows = page.locator(".lobby-live .lobby-game")
    expect(rows).to_have_count(2)
    rows.nth(1).get_by_role("link").focus()
    rows.nth(1).evaluate("element => { element.kept = true }")
    games = [live_game("c" * 32), live_game("b" * 32, (45000, 30000, 30000))]  # one has ended, one has begun
    page.clock.run_for(3000)
    expect(rows.nth(1).locator(".number").first).to_have_text("45,000")
    expect(rows.nth(1).locator("li").first).to_have_class("leads")
    assert rows.nth(1).evaluate("element => element.kept") is True
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    expect(rows).to_have_count(2)


def test_empty_lists_say_so_and_nothing_is_asked_for_while_the_page_is_hidden(page: Page) -> None:
    stop_time(page)
    asked = answer_all(page)
    hide = "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
    hide += " document.dispatchEvent(new Event('visibilitychange')) }"
    page.goto("/")
    for text in ("game is being played", "Nobody waits for a game", "No game is finished yet", "Nobody is rated yet"):
        expect(page.get_by_text(text)).to_be_visible()
    page.evaluate(hide, True)
    before = len(asked)
    page.clock.run_for(60_000)
    assert len(asked) == before
    with page.expect_request(re.compile("status=playing")):
        page.evaluate(hide, False)


def test_a_server_that_does_not_answer_is_asked_less_and_less_often(failing_page: Page) -> None:
    page = failing_page
    stop_time(page)
    answer_all(page)
    page.goto("/")
    page.wait_for_load_state("networkidle")  # all is answered, and the next poll is due in 3 s
    expect(page.locator(".lobby-live")).to_contain_text("No game is being played")
    trouble = page.locator(".trouble")
    expect(trouble).to_have_text("")
    page.route("**/api/rooms?*", lambda route: route.fulfill(status=503, json={"detail": "the database sleeps"}))
    page.clock.run_for(3000)
    expect(trouble).to_have_text("the database sleeps – trying again in 6 s")
    page.clock.run_for(6000)
    expect(trouble).to_have_text("the database sleeps – trying again in 12 s")
    assert page.get_by_role("alert").filter(has_text="sleeps").count() == 0
    page.unroute("**/api/rooms?*")
    page.clock.run_for(12_000)
    expect(trouble).to_have_text("")


@phone_at_length
def test_hostile_names_stay_text(page: Page) -> None:
    room = {"name": HOSTILE, "settings": SETTINGS | {"fill": [HOSTILE]}, "waiting": 1, "waiting_names": [HOSTILE]}
    rating = {"mu": 25.0, "sigma": 8.0, "ordinal": 1.0}
    player = {
        "name": HOSTILE, "house_bot": False, "games": 1, "rated_games": 1, "mean_rank": 1.0, "rating": rating,
    }  # fmt: skip
    answer(page, "/api/rooms?", lambda: [room | {"playing": 0, "started": 0, "permanent": True}])
    answer(page, "/api/games?status=playing", lambda: [live_game()])
    answer(page, "/api/games?limit", lambda: [finished_game()])
    answer(page, "/api/players?", lambda: [player])
    page.goto("/")
    for card in ("live", "rooms", "results", "ladder"):
        expect(page.locator(f".lobby-{card}")).to_contain_text(HOSTILE)
    assert page.locator("img").count() == 0
    path = "/rooms/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E/play"
    expect(page.get_by_role("link", name="Sit down")).to_have_attribute("href", path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nor do they widen the page


def test_who_waits_and_where(page: Page) -> None:
    page.goto("/")
    page.evaluate("name => { joined = new WebSocket(`ws://${location.host}/mjai/meeting?name=${name}`);"
                  " joined.onopen = () => joined.send(JSON.stringify({type: 'join'})) }", quote(HOSTILE))  # fmt: skip
    row = page.locator(".lobby-room", has_text="meeting")
    expect(row.locator(".chip")).to_have_text(HOSTILE, timeout=30_000)
    expect(row).to_contain_text("Tenhou · East · 5 s + 10 s · starts with three players")
    link = row.get_by_role("link", name="Sit down in room meeting")
    expect(link).to_have_attribute("href", "/rooms/meeting/play")


def test_results(page: Page, site: Site) -> None:
    page.goto("/?room=solo%2Brule%2Befficiency")
    expect(page.get_by_role("heading", name="Games of room solo+rule+efficiency")).to_be_visible()
    games: Any = site.get("/api/games?limit=10&room=solo%2Brule%2Befficiency")["items"]
    rows = page.locator(".lobby-results .lobby-game")
    expect(rows).to_have_count(len(games))
    row, game = rows.last, games[-1]
    ranked = sorted(game["seats"], key=lambda seat: seat["rank"])
    expect(row.locator(".lobby-name")).to_have_text([seat["name"] for seat in ranked])
    scores = [number(seat["score"]) for seat in ranked]
    expect(row.locator(".number:not(.lobby-points)")).to_have_text(scores)
    points = [signed(seat["points"], 1) for seat in ranked]
    expect(row.locator(".lobby-points")).to_have_text(points)
    expect(row.get_by_role("link", name="Replay")).to_have_attribute("href", f"/games/{game['id']}")
    expect(row.get_by_role("link", name="Review")).to_have_attribute("href", f"/games/{game['id']}/review")
    page.goto("/?room=nowhere")
    expect(page.get_by_text("No game is finished yet")).to_be_visible()


def test_the_ladder(page: Page) -> None:
    with page.expect_response(re.compile("/api/players[?].*order=rating")) as asked:
        page.goto("/")
    best: Any = asked.value.json()["items"]
    top = page.locator(".lobby-ladder tbody tr").first
    expect(top).to_contain_text(best[0]["name"])
    expect(top).to_contain_text(number(best[0]["rating"]["ordinal"], 1))


def test_who_has_no_rated_games_is_not_on_the_ladder(page: Page) -> None:
    def player(name: str, ordinal: float, rated_games: int) -> dict[str, Any]:
        rating = {"mu": 25.0, "sigma": 8.0, "ordinal": ordinal}
        return {"name": name, "games": 4, "rated_games": rated_games, "mean_rank": 2.0, "rating": rating}

    answer(page, "/api/players?", lambda: [player("tsumogiri", -8.6, 4), player("casual", 0.0, 0)])
    page.goto("/")
    names = page.locator(".lobby-ladder tbody .lobby-name")
    expect(names).to_have_text(["tsumogiri"])


def line(page: Page, what: str) -> str:
    """A line to paste."""
    return page.locator(".lobby-lines dl > div", has_text=what).locator("code").inner_text()


def test_the_line_to_paste_plays_a_game(page: Page) -> None:
    page.goto("/")
    python, *arguments = shlex.split(line(page, "in a clone of its repository"))
    assert python == "python"
    command = [sys.executable, *arguments, "--name", "paster"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expect(page.locator(".lobby-results .lobby-game", has_text="paster").first).to_be_visible(timeout=30_000)


def test_lines_and_addresses_to_paste_are_those_of_bots(page: Page) -> None:
    page.goto("/")
    page.get_by_label("It plays").select_option("watch")
    *command, pause, seconds = shlex.split(line(page, "nukidora is installed"))
    assert (pause, float(seconds)) == ("--pause", 1.0)
    assert command[-1].endswith("/try+rule+rule")
    page.get_by_label("It plays").select_option("now")
    assert shlex.split(line(page, "nukidora is installed")) == command
    tcp = urlsplit(line(page, "your own program, TCP"))
    assert (tcp.scheme, tcp.path) == ("mjsonp", "/try+rule+rule")
    with socket.create_connection((tcp.hostname, tcp.port), timeout=10) as connection:
        assert b'"hello"' in connection.makefile("rb").readline()
    hello = "url => new Promise(resolve => { new WebSocket(url).onmessage = ({data}) => resolve(data) })"
    assert '"hello"' in page.evaluate(hello, line(page, "your own program, WebSocket"))


def test_lines_can_be_copied(page: Page, context: BrowserContext, site: Site) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    stop_time(page)  # else the word goes away after 2 s
    page.goto("/")
    page.get_by_label("It plays").select_option("default")
    page.get_by_role("button", name="Copy: nukidora is installed").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    pasted = f"nukidora client rule mjsonp://127.0.0.1:{site.server.ports.mjai_port}/default"
    assert page.evaluate("navigator.clipboard.readText()") == pasted


def test_a_line_is_selected_where_nothing_can_be_copied(page: Page, site: Site) -> None:
    page.add_init_script("delete Navigator.prototype.clipboard")  # as on pages without TLS
    stop_time(page)
    page.goto("/")
    page.get_by_role("button", name="Copy: your own program, WebSocket").click()
    expect(page.get_by_text("Selected: press Ctrl+C")).to_be_visible()
    assert page.evaluate("String(getSelection())") == f"ws://127.0.0.1:{site.server.ports.port}/mjai/try+rule+rule"
