"""What a player may press at any time: leave, and whatever else is no action of the game."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from server.rooms import SITTING
from tests.support.accessibility import serious_faults
from tests.web.conftest import ANSWER, Site, phone_at_length, set_name
from tests.web.play_driver import Person, open_room
from tests.web.scripted_table import ScriptedTable

ENABLED = "nuki-table button:not(:disabled)"
RUNS = ["1p", "2p", "3p", "4p", "5p", "6p", "7p", "8p", "9p", "1s", "1s"]


def games(site: Site, name: str, status: str) -> list[Any]:
    """The games of a player."""
    found: Any = site.get(f"/api/games?status={status}&player={name}")
    return list(found["items"])


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
    (game,) = games(site, "leaver", "finished")
    assert [seat["taken_over"] for seat in game["seats"] if seat["name"] == "leaver"] == [True]
    assert not games(site, "leaver", "playing")
    page.goto("/rooms/leaving/play", referer=f"{site.url}/rooms")  # a new game, and not the one that was left
    Person(page).reach_a_discard()
    assert len(games(site, "leaver", "playing")) == 1


def test_the_keys_are_shown_on_request(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin([*RUNS, "2s", "3s"])
    keys = page.locator(".play-keys")
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_contain_text("L leave the game")
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(page.get_by_role("button", name="Keys")).to_have_attribute("aria-expanded", "false")


def test_all_keys_are_seen_on_a_phone_held_sideways(scripted: ScriptedTable, page: Page) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    scripted.begin([*RUNS, "2s", "3s"])
    page.keyboard.press("?")
    keys = page.locator(".play-keys")
    expect(keys).to_be_visible()
    assert keys.evaluate("keys => keys.scrollHeight <= keys.clientHeight")
    box, hand = keys.bounding_box(), page.locator(".seat.bottom .hand").bounding_box()
    assert box
    assert hand
    assert box["y"] + box["height"] <= hand["y"]
    assert serious_faults(page) == []
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_escape_hides_the_keys_before_it_passes(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin(["5p", "5p", "5pr", "5s", "5s", "1m", "1m", "E", "E", "S", "S", "W", "W"], dealer=2)
    scripted.other_discards(2, "5p", {"type": "pon", "consumed": ["5p", "5p"]})
    actions = page.locator(".actions button")
    expect(actions).to_have_text(["Pon", "Pass"])
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(page.locator(".play-keys")).to_be_hidden()
    expect(actions).to_have_count(2)
    assert scripted.replies == []
    page.keyboard.press("Escape")
    expect(actions).to_have_count(0)
    assert [reply["type"] for reply in scripted.replies] == ["none"]


HINT = {
    "type": "hinted",
    "bot": "rule",
    "actions": [
        {"action": {"type": "reach", "actor": 0}, "value": 0.25},
        {"action": {"type": "dahai", "actor": 0, "pai": "E", "tsumogiri": True}, "value": 0.125},
        {"action": {"type": "dahai", "actor": 0, "pai": "2s", "tsumogiri": False}, "value": -0.5},
    ],
}


@phone_at_length
def test_a_hint_is_shown_at_the_tiles_until_the_next_decision(scripted: ScriptedTable, page: Page) -> None:
    scripted.settings |= {"hints": True, "rated": False}
    scripted.begin([*RUNS, "2s", "3s"])
    hint = page.get_by_role("button", name="Hint")
    expect(hint).to_be_disabled()
    scripted.draw("E", {"type": "reach"})
    expect(hint).to_be_enabled()
    expect(page.locator(".play-tools .chip")).to_have_text("unrated")
    page.keyboard.press("h")
    assert scripted.replied(1) == {"type": "hint"}
    scripted.send(HINT)
    line = page.locator(".play-hint")
    expect(line).to_contain_text("rule would play")
    expect(line).to_contain_text("riichi")
    expect(line).to_contain_text("\N{MINUS SIGN}0.125")
    expect(page.locator("nuki-table .seat.bottom .bar")).to_have_count(2)
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(f"{ENABLED}.drawn").click()
    expect(line).to_have_count(0)
    expect(page.locator("nuki-table .bar")).to_have_count(0)
    scripted.say("dahai", actor=0, pai="E", tsumogiri=True)
    scripted.draw("C")
    expect(hint).to_be_enabled()
    hint.click()
    scripted.send(HINT | {"actions": []})
    scripted.send(HINT | {"actions": HINT["actions"][1:]})
    expect(page.locator("nuki-table .bar")).to_have_count(1)  # E is discarded
    assert [reply["type"] for reply in scripted.replies] == ["hint", "dahai", "hint"]


def test_a_hint_says_which_actions_are_equal(scripted: ScriptedTable, page: Page) -> None:
    scripted.settings |= {"hints": True, "rated": False}
    scripted.begin([*RUNS, "2s", "3s"])
    scripted.draw("E", {"type": "reach"})
    page.keyboard.press("h")
    values = [0.25, 0.25, 0.2497, 0.2493]
    actions = [{"action": {"type": "dahai", "actor": 0, "pai": tile}} for tile in ("E", "2s", "3s", "1m")]
    scripted.send(HINT | {"actions": [each | {"value": value} for each, value in zip(actions, values, strict=True)]})
    shown = page.locator(".play-hint .wait")
    expect(shown).to_have_text(["", "equal", "equal", "\N{MINUS SIGN}0.001"])


@pytest.mark.parametrize(("hints", "rated"), [(False, False), (True, True)])
def test_rooms_without_hints_offer_none(scripted: ScriptedTable, page: Page, hints: bool, rated: bool) -> None:
    scripted.settings |= {"hints": hints, "rated": rated}
    scripted.begin([*RUNS, "2s", "3s"])
    expect(page.locator(".play-tools .chip")).to_be_visible(visible=not rated)
    expect(page.get_by_role("button", name="Hint")).to_be_hidden()


@pytest.mark.parametrize("rated", [False, True])
def test_who_leaves_is_told_that_a_rated_game_counts(scripted: ScriptedTable, page: Page, rated: bool) -> None:
    scripted.settings["rated"] = rated
    scripted.begin([*RUNS, "2s", "3s"])
    expect(page.locator(".play-tools .chip")).to_be_visible(visible=not rated)
    page.get_by_role("button", name="Leave").click()
    counts = " The game counts for your rating all the same." if rated else ""
    expect(page.locator("dialog[open] p")).to_have_text(f"A house bot plays on for you.{counts}")


def test_a_game_with_a_hint_is_unrated_wherever_it_is_listed(page: Page, site: Site) -> None:
    set_name(page, "asker")
    page.goto(open_room(site, "asking", hints=True, rated=False, seed=1), referer=f"{site.url}/rooms")
    person = Person(page)
    person.reach_a_discard()
    expect(page.get_by_role("button", name="Hint")).to_be_visible()  # once the room's settings have arrived
    page.keyboard.press("h")
    expect(page.locator("nuki-table .seat.bottom .bar")).not_to_have_count(0)
    expect(page.locator(".play-hint")).to_contain_text("rule would play")
    watcher = page.context.new_page()
    watcher.goto("/?room=asking")
    expect(watcher.locator(".lobby-live .lobby-game")).to_contain_text("unrated")
    assert person.play()
    game = str(page.get_by_role("link", name="Replay").get_attribute("href"))
    watcher.goto("/?room=asking")
    expect(watcher.locator(".lobby-results .lobby-game")).to_contain_text("unrated")
    watcher.goto("/players/asker")
    expect(watcher.locator(".player-games")).to_contain_text("unrated")
    watcher.goto(game)
    expect(watcher.locator(".game-line")).to_contain_text("unrated")
    for _ in range(200):
        if watcher.locator(".note .note-bar").count():
            break
        watcher.keyboard.press("ArrowRight")
    expect(watcher.locator(".note")).to_contain_text("rule")


CHANGED = {
    "rules": "majsoul", "length": "east", "scores": [45000, 30000, 30000], "rated": False, "hints": True,
    "fill": ["efficiency@-300", "rule"], "fill_delay": 1, "decision_time": 50, "bank_time": 40, "pause": 0.1,
    "resume_timeout": 100,
}  # fmt: skip


# Answer as the server would, once: Chromium logs an error of its own for a real 404.
NOT_FOUND = """(path) => {
  const real = window.fetch;
  window.fetch = (url, options) => {
    if (String(url) !== path) return real(url, options);
    window.fetch = real;
    return Promise.resolve(new Response('{"detail": "there is no open room"}', { status: 404 }));
  };
}"""


def test_play_again_opens_the_same_room_where_it_has_been_closed(page: Page, site: Site) -> None:
    """Bots, rules, clock, handicap and the rest are those of the game before."""
    assert CHANGED.keys() == SITTING.keys()
    set_name(page, "again")
    open_room(site, "rematch", permanent=False, **CHANGED)
    page.goto("/rooms/rematch/play", referer=f"{site.url}/rooms")
    assert Person(page).play()
    before = site.get("/api/rooms/rematch")
    httpx.delete(f"{site.url}/api/rooms/rematch", trust_env=False, timeout=ANSWER).raise_for_status()
    page.evaluate(NOT_FOUND, "/api/rooms/rematch")
    page.get_by_role("button", name="Play again").click()
    Person(page).reach_a_discard()
    after = site.get("/api/rooms/rematch")
    assert after["settings"] == before["settings"]
    assert not after["permanent"]
    assert CHANGED.items() <= before["settings"].items()  # type: ignore[attr-defined]
