"""A server with games on it, and a browser to look at its pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from benchmarks.web.browser import chromium, headless
from tests.support.server_program import REPOSITORY, ServerProgram, server_program
from tests.web.scripted_table import ScriptedTable

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}  # of windows: width, height
# Mark of tests that are for a phone, too: those of layouts, and of the ways through a page that matter most.
both_sizes = pytest.mark.parametrize("context", SIZES, indirect=True)
PHONE_AT_LENGTH = ["desktop", pytest.param("phone", marks=pytest.mark.long)]
phone_at_length = pytest.mark.parametrize("context", PHONE_AT_LENGTH, indirect=True)  # where the layout matters less
ANSWER = 60.0  # seconds that a request may take: a busy machine may stall for some
SEED = "1"  # of all games: with random ones, a test would fail once in some hundred games that are odd
OFFLINE = "net::ERR_INTERNET_DISCONNECTED"  # logged only where a test has taken the network away
# Milliseconds. Less than the 15 s after which the result of a round goes away by itself (`play.js`).
expect.set_options(timeout=12_000)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser as slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Site:
    """A running server with some finished games between house bots and a client's."""

    server: ServerProgram

    @property
    def url(self) -> str:
        """Where its pages are, without a slash at the end."""
        return f"http://127.0.0.1:{self.server.ports.port}"

    def play(self, room: str, bot: str = "rule", games: int = 1) -> None:
        """Let a client's bot play games in a room such as ``solo+rule+efficiency``."""
        address = f"mjsonp://127.0.0.1:{self.server.ports.mjai_port}/{room}"
        command = [sys.executable, "-m", "agents.client", bot, address, "--games", str(games)]
        subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=300)

    def response(self, path: str) -> httpx.Response:
        """The response to a request for a path, whatever its status."""
        return httpx.get(self.url + path, trust_env=False, timeout=ANSWER)

    def get(self, path: str) -> dict[str, object]:
        """The JSON at a path of the API."""
        found: dict[str, object] = self.response(path).raise_for_status().json()
        return found


def in_browser(browser: Browser, site: Site, script: str, argument: Any) -> Any:
    """What a function in a page of the site returns."""
    page = browser.new_page()
    try:
        page.goto(f"{site.url}/view")
        return page.evaluate(script, argument)
    finally:
        page.close()


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """A server that has finished two games."""
    with server_program(folder, length="east", seed=SEED) as server:
        found = Site(server)
        found.play("solo+rule+efficiency", games=2)
        yield found


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that tests only add games to. Games that they have left may end at any time."""
    with running_site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium. Closed after each module: while Playwright runs, pytest can run no asynchronous test."""
    program = chromium()
    if program is None:
        pytest.skip("Chromium is missing: apt-get install chromium-headless-shell")
    with headless(program) as started:
        yield started


@contextmanager
def strict_context(
    browser: Browser, size: tuple[int, int], own: tuple[str, ...], **options: Any
) -> Iterator[BrowserContext]:
    """A window. The test fails if a page logs an error, or asks for an address that begins with none of `own`."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    wrong: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type == "error" and OFFLINE not in message.text:
            wrong.append(message.text)

    context.on("console", logged)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("request", lambda sent: None if sent.url.startswith(own) else wrong.append(f"asked for {sent.url}"))
    yield context
    context.close()
    assert wrong == []


@pytest.fixture
def context(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A window of a desktop, or see `both_sizes`, whose pages may neither log an error nor leave the server."""
    device = getattr(request, "param", "desktop")
    own = (site.url, site.url.replace("http:", "ws:"), "data:", "blob:")
    with strict_context(browser, SIZES[device], own, has_touch=device == "phone", base_url=site.url) as opened:
        yield opened


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty page."""
    return context.new_page()


@pytest.fixture
def failing_page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page whose requests may fail, which the browser logs as errors."""
    with browser.new_context(base_url=site.url) as context:
        yield context.new_page()


def set_name(page: Page, name: str) -> None:
    """Give the browser the name of its player before the page is loaded."""
    page.add_init_script(
        f"localStorage.getItem('nukidora.name') ?? localStorage.setItem('nukidora.name', {json.dumps(name)})"
    )


@pytest.fixture
def scripted(page: Page, site: Site) -> ScriptedTable:
    """A scripted server, and the page of a player with a name."""
    set_name(page, "me")
    return ScriptedTable(page, site.url)


def stop_time(page: Page) -> None:
    """Let the timers of a page fire only when a test runs its clock."""
    page.clock.install(time=0)
    page.clock.pause_at(3600)
