"""The rooms page: what rooms there are, and how admins open and close them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.accessibility import serious_faults
from tests.support.server_program import add_token, server_program
from tests.web.conftest import Site, both_sizes, phone_at_length


@dataclass(frozen=True)
class Guarded:
    """A server that needs tokens, with one of an admin and one of a bot."""

    site: Site
    admin: str
    bot: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A server that needs tokens."""
    folder: Path = tmp_path_factory.mktemp("guarded")
    with server_program(folder, access="token") as server:
        yield Guarded(Site(server), add_token(folder, "boss", "--admin"), add_token(folder, "wahaha"))


def room(page: Page, name: str) -> Locator:
    """The entry of a room."""
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True))


def close(page: Page, name: str) -> None:
    """Close a room."""
    page.get_by_role("button", name=f"Close room {name}", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()


@phone_at_length
def test_rooms_with_all_their_settings(page: Page, site: Site) -> None:
    page.goto("/rooms")
    entry = room(page, "default")
    expect(entry).to_contain_text("starts with three players")
    entry.get_by_text("All settings").click()
    settings: Any = site.get("/api/rooms/default")
    expect(entry.locator("dt")).to_have_count(len(settings["settings"]))
    expect(entry.locator("dl > div", has_text="Wait at most")).to_contain_text("600 s")
    expect(entry.get_by_role("link", name="Sit down")).to_have_attribute("href", "/rooms/default/play")
    expect(entry.get_by_role("link", name="Games")).to_have_attribute("href", "/?room=default")


def test_the_list_of_games_is_not_called_a_game(browser: Browser, site: Site) -> None:
    """In Japanese, where the same word beside "sit down" would start one."""
    with browser.new_context(base_url=site.url, locale="ja") as context:
        page = context.new_page()
        page.goto("/rooms")
        links = room(page, "default").locator("a.button")
        expect(links).to_have_text(["着席", "対局一覧"])


@phone_at_length
def test_open_and_close_a_room_without_a_token(page: Page, site: Site) -> None:
    name = f"cup-{page.viewport_size and page.viewport_size['width']}"
    page.goto("/rooms")
    page.get_by_role("button", name="Open a room").click()
    form = page.get_by_role("form", name="New room")
    expect(form.get_by_label("Length")).to_have_value("east")  # what the server was started with
    form.get_by_label("Name").fill(name)
    form.get_by_label("Rules").select_option("majsoul")
    form.get_by_label("Seed").fill("18446744073709551615")  # 64 bits
    form.get_by_label("Each decision").fill("7.5")
    form.get_by_label("House bots", exact=True).select_option("efficiency")
    form.get_by_label("Penalty for a fault").fill("2")
    form.get_by_label("Bank").fill("")  # the server's own
    with page.expect_request(lambda request: request.method == "POST") as sent:
        form.get_by_role("button", name="Open the room").click()
    assert '"seed":18446744073709551615' in str(sent.value.post_data)
    expect(page.get_by_text(f"Room {name} is open.")).to_be_visible()
    expect(room(page, name)).to_contain_text("with efficiency after 5 s")
    got: Any = site.get(f"/api/rooms/{name}")
    default: Any = site.get("/api/rooms/default")
    changed = {"rules": "majsoul", "decision_time": 7.5, "fill": ["efficiency"], "fault_penalty": 2.0}
    assert got["settings"] == default["settings"] | changed
    assert got["permanent"]
    close(page, name)
    expect(page.get_by_text(f"Room {name} is closed.")).to_be_visible()
    expect(room(page, name)).to_have_count(0)
    assert site.response(f"/api/rooms/{name}").status_code == 404


@both_sizes
def test_the_starting_points_can_be_read(page: Page) -> None:
    """Three values of six characters beside each other, with the arrows that the browser puts there."""
    page.goto("/rooms")
    page.get_by_role("button", name="Open a room").click()
    values = page.get_by_role("form", name="New room").get_by_role("spinbutton", name=re.compile("^Starting points"))
    expect(values).to_have_count(3)
    for value in values.all():
        value.fill("105000")
        assert value.evaluate("input => input.clientWidth >= input.scrollWidth && input.clientWidth >= 85")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize(
    ("label", "value", "told"),
    [
        ("Each decision", "0", "Each decision is 0; it should be more than 0"),
        ("Games", "1.5", "Games is 1.5; it should be a whole number"),
        ("Seed", "seven", "Seed is 'seven'; it should be a whole number"),
        ("Name", "a b", "Name is 'a b'; it should be 1 to 64 of A-Z a-z 0-9 _ . - and not begin with a ."),
        ("Name", "", "give it a name"),
        (
            "Starting points",
            "50000",
            "Starting points is [50000, 35000, 35000]; together they should be 105000, not 120000",
        ),
    ],
)
def test_what_is_invalid_is_told_at_its_field(failing_page: Page, label: str, value: str, told: str) -> None:
    page = failing_page
    page.goto("/rooms")
    page.get_by_role("button", name="Open a room").click()
    form = page.get_by_role("form", name="New room")
    form.get_by_label("Name").fill("never")
    form.get_by_label(label, exact=True).fill(value)
    form.get_by_role("button", name="Open the room").click()
    field = form.locator(".rooms-field").filter(has=page.get_by_label(label, exact=True))
    expect(field.get_by_role("alert")).to_have_text(told)
    expect(field.get_by_label(label, exact=True)).to_be_focused()
    expect(form.locator(".rooms-field:has([aria-invalid])")).to_have_count(1)
    assert form.get_by_role("alert").filter(has_text=re.compile(".")).count() == 1


def test_hints_and_ratings_exclude_each_other(failing_page: Page, site: Site) -> None:
    page = failing_page
    page.goto("/rooms")
    page.get_by_role("button", name="Open a room").click()
    form = page.get_by_role("form", name="New room")
    form.get_by_label("Name").fill("hinted")
    form.get_by_label("Rated").select_option("yes")
    form.get_by_label("Hints").select_option("yes")
    form.get_by_role("button", name="Open the room").click()
    field = form.locator(".rooms-field").filter(has=page.get_by_label("Hints"))
    expect(field.get_by_role("alert")).to_have_text(
        "hints are for rooms whose games are not rated: choose no for one of the two"
    )
    expect(form.get_by_label("Hints")).to_be_focused()
    form.get_by_label("Rated").select_option("no")
    form.get_by_role("button", name="Open the room").click()
    expect(page.get_by_text("Room hinted is open.")).to_be_visible()
    got: Any = site.get("/api/rooms/hinted")
    assert (got["settings"]["rated"], got["settings"]["hints"]) == (False, True)
    close(page, "hinted")
    expect(room(page, "hinted")).to_have_count(0)


def test_an_admins_token_is_needed_and_asked_for_once(failing_page: Page, guarded: Guarded) -> None:
    page, url = failing_page, guarded.site.url
    page.goto(f"{url}/rooms")
    page.get_by_role("button", name="Open a room (admin)").click()
    name = page.get_by_role("form", name="New room").get_by_label("Name")
    name.fill("cup")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Open the room").click()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    expect(name).to_have_value("cup")  # nothing that was filled in is lost
    assert guarded.site.response("/api/rooms/cup").status_code == 404
    page.get_by_role("button", name="Open the room").click()
    for wrong, told in (("nonsense", "the token is unknown"), (guarded.bot, "'wahaha' is not an admin token")):
        dialog.get_by_label("Token").fill(wrong)
        dialog.get_by_role("button", name="Go on").click()
        expect(dialog.get_by_role("alert")).to_contain_text(told)
    assert serious_faults(page) == []
    dialog.get_by_label("Token").fill(guarded.admin)
    dialog.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("Room cup is open.")).to_be_visible()
    expect(room(page, "cup")).to_be_visible()
    page.reload()
    close(page, "cup")  # the token is kept
    expect(page.get_by_text("Room cup is closed.")).to_be_visible()
    expect(room(page, "cup")).to_have_count(0)


def test_play_now_asks_for_a_token(failing_page: Page, guarded: Guarded) -> None:
    page, url = failing_page, guarded.site.url
    page.goto(url)
    expect(page.locator(".lobby-connect")).to_contain_text("--name NAME --token TOKEN")
    page.get_by_label("Your name").fill("wahaha")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("dialog").get_by_label("Token").fill(guarded.bot)
    page.get_by_role("dialog").get_by_role("button", name="Go on").click()
    page.wait_for_url("**/rooms/table-*/play")


def test_rooms_by_keys_alone(page: Page) -> None:
    name = f"keys-{page.viewport_size and page.viewport_size['width']}"
    page.goto("/rooms")
    page.get_by_role("button", name="Open a room").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(room(page, name)).to_be_visible()
    expect(page.get_by_role("button", name="Open a room")).to_be_focused()
    closing = page.get_by_role("button", name=f"Close room {name}")
    closing.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(closing).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Enter")
    expect(room(page, name)).to_have_count(0)


def test_many_rooms_are_shown_page_by_page(page: Page, site: Site) -> None:
    found: Any = site.get("/api/rooms/default")
    pages = {"": (["a", "b"], "next"), "next": (["c"], None)}

    def fulfil(route: Any) -> None:
        names, cursor = pages[route.request.url.partition("cursor=")[2]]
        route.fulfill(json={"items": [found | {"name": name} for name in names], "next_cursor": cursor})

    page.route("**/api/rooms?*", fulfil)
    page.goto("/rooms")
    headings = page.get_by_role("listitem").get_by_role("heading", level=2)
    expect(headings).to_have_text(["a", "b"])
    page.get_by_role("button", name="Next rooms").click()
    expect(headings).to_have_text(["c"])
    page.get_by_role("button", name="First rooms").click()
    expect(headings).to_have_text(["a", "b"])
