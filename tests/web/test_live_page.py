"""A game that is being played: it is followed event by event, with closed hands, and becomes its replay."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site, phone_at_length, stop_time
from tests.web.sample_game import GAME, example, place_of, show

EVENTS = re.compile(rf"/api/games/{GAME}/events")
LOOK_EVERY = 0.1  # seconds: an address may send 20 requests a second
PAUSE = "0.05"  # seconds before each decision of the client's bot
# Milliseconds of `live.js` and `replay.js`: without a message, after which the page takes the history to be complete,
# and a little more than a round's end is shown.
QUIET = 100
RESULT_SHOWN = 3500


@contextmanager
def game_of_a_client(site: Site, room: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The id of a game that a client's bot plays in this room, and its process, which is stopped: it has to go on."""
    address = f"mjsonp://127.0.0.1:{site.server.ports.mjai_port}/{room}+rule+efficiency"
    command = [sys.executable, "-m", "agents.client", "rule", address, "--pause", PAUSE, "--name", room]
    client = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found: list[Any] = []
        while not found:
            time.sleep(LOOK_EVERY)
            assert client.poll() is None, client.stdout and client.stdout.read()
            found = site.get(f"/api/games?status=playing&player={room}")["items"]  # type: ignore[assignment]
        client.send_signal(signal.SIGSTOP)
        yield found[0]["id"], client
    finally:
        client.kill()
        client.communicate()


@phone_at_length
def test_a_game_is_followed_and_becomes_its_replay(page: Page, site: Site, request: Any) -> None:
    frames: list[dict[str, Any]] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(json.loads(data))))
    room = f"watched-{'phone' if 'phone' in request.node.name else 'desktop'}"
    with game_of_a_client(site, room) as (game_id, client):
        page.goto(f"/games/{game_id}")
        expect(page.locator(".live")).to_have_text("Live")
        replay = page.locator("nuki-replay")
        expect(replay).to_have_attribute("data-place", re.compile(r"\d+"))
        first = int(str(replay.get_attribute("data-place")))
        expect(replay.locator("[data-control=wall]")).to_be_hidden()
        page.keyboard.press("w")
        expect(replay.locator(".replay-wall")).to_be_hidden()
        client.send_signal(signal.SIGCONT)
        page.wait_for_function("first => document.querySelector('nuki-replay').dataset.place > first + 5", arg=first)
        hands = [tile for each in frames if each["type"] == "start_kyoku" for hand in each["tehais"] for tile in hand]
        draws = [each["pai"] for each in frames if each["type"] == "tsumo"]
        assert set(hands + draws) == {"?"}
        assert client.wait(timeout=120) == 0
    expect(page.locator(".record")).to_be_visible()
    expect(page.locator(".live")).to_have_count(0)
    expect(replay.locator("[data-control=wall]")).to_be_visible()  # off, now that nothing is secret any more
    expect(replay.locator(".replay-wall")).to_be_hidden()
    expect(replay).to_have_attribute("data-place", str(len(frames) - 2))
    assert [each["type"] for each in frames].count("start_game") == 1
    page.keyboard.press("Home")
    expect(page.locator("nuki-replay[data-round='0'][data-step='0']")).to_be_visible()


def closed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as spectators get them at once."""
    hidden = {"tehais": [["?"] * 13] * 3}
    return [
        each | hidden if each["type"] == "start_kyoku" else each | {"pai": "?"} if each["type"] == "tsumo" else each
        for each in messages
    ]


class Stage:
    """A made-up game being played: what its spectators are sent is up to the test."""

    def __init__(self, page: Page) -> None:
        self.sockets: list[WebSocketRoute] = []
        page.route(re.compile(rf"/api/games/{GAME}$"), self._game)
        page.route_web_socket(EVENTS, lambda socket: self.sockets.append(socket))

    def _game(self, route: Route) -> None:
        route.fulfill(json={"id": GAME, "status": "playing", "room": "r", "rounds": 0, "spectator_delay": 30})

    def connected(self, page: Page, number: int) -> WebSocketRoute:
        """The connection with this number, from 1, once it is made."""
        while len(self.sockets) < number:
            page.wait_for_timeout(20)  # lets Playwright handle what the browser asks for
        return self.sockets[number - 1]


def send(socket: WebSocketRoute, messages: list[dict[str, Any]]) -> None:
    """Send messages, one a frame."""
    for message in messages:
        socket.send(json.dumps(message))


def test_a_lost_connection_is_made_again_without_duplicates(page: Page) -> None:
    messages = closed(example())
    stage = Stage(page)
    page.goto(f"/games/{GAME}")
    first = stage.connected(page, 1)
    assert first.url.endswith("?hands=closed")
    send(first, messages[:40])
    replay = page.locator("nuki-replay")
    expect(replay).to_have_attribute("data-place", str(place_of(messages, 40)))
    first.close()
    second = stage.connected(page, 2)
    send(second, messages[:60])
    expect(replay).to_have_attribute("data-place", str(place_of(messages, 60)))
    send(second, messages[60:70])
    expect(replay).to_have_attribute("data-place", str(place_of(messages, 70)))
    table = page.evaluate("document.querySelector('nuki-table').innerHTML")
    page.goto("about:blank")  # else another fragment loads nothing
    show(page, messages[:70], "#round=9")
    page.keyboard.press("End")
    assert page.evaluate("document.querySelector('nuki-table').innerHTML") == table


def test_looking_back_is_not_disturbed_by_what_happens(page: Page) -> None:
    messages = closed(example())
    stage = Stage(page)
    page.goto(f"/games/{GAME}")
    socket = stage.connected(page, 1)
    send(socket, messages[:40])
    replay = page.locator("nuki-replay")
    expect(replay).to_have_attribute("data-place", str(place_of(messages, 40)))
    page.keyboard.press("Home")
    send(socket, messages[40:50])
    expect(page.get_by_role("slider", name="Place in the game")).to_have_attribute("max", str(place_of(messages, 50)))
    expect(replay).to_have_attribute("data-place", "0")
    page.keyboard.press("End")
    send(socket, messages[50:60])
    expect(replay).to_have_attribute("data-place", str(place_of(messages, 60)))


def test_open_hands_come_round_by_round(page: Page) -> None:
    messages = example()
    ends = [number + 1 for number, each in enumerate(messages) if each["type"] == "end_kyoku"]
    stage = Stage(page)
    stop_time(page)
    page.goto(f"/games/{GAME}#seat=2")
    send(stage.connected(page, 1), closed(messages)[: ends[1] + 30])
    page.clock.run_for(QUIET)
    replay = page.locator("nuki-replay")
    expect(replay).to_have_attribute("data-round", "2")
    expect(page.locator(".last-round .result")).to_be_visible()
    page.get_by_role("button", name="Open hands").click()
    socket = stage.connected(page, 2)
    assert socket.url.endswith("?hands=open")
    expect(page.locator(".game-line")).to_contain_text("each round 30 s after its end")
    send(socket, messages[: ends[1]])
    page.clock.run_for(QUIET)
    expect(replay).to_have_attribute("data-round", "1")
    expect(replay).to_have_attribute("data-seat", "2")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("End")
    send(socket, messages[ends[1] : ends[2]])
    page.clock.run_for(RESULT_SHOWN)
    expect(replay).to_have_attribute("data-round", "2")  # it plays on
    page.get_by_role("button", name="Open hands").click()
    assert stage.connected(page, 3).url.endswith("?hands=closed")
