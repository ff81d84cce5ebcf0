"""The bar at the top of every page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.fixture
def bar(page: Page) -> Page:
    """A page with nothing on it but the bar."""
    script = 'import { startPage } from "/web/page.js"; startPage(`Rooms`);'
    page.route("**/rooms.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page.emulate_media(color_scheme="light")
    page.goto("/rooms")
    return page


def test_colours_are_the_systems_until_one_chooses(bar: Page) -> None:
    light = bar.evaluate(BACKGROUND)
    bar.emulate_media(color_scheme="dark")
    dark = bar.evaluate(BACKGROUND)
    assert dark != light
    bar.get_by_role("button", name="Colours: as the system").click()
    assert bar.evaluate(BACKGROUND) == light
    bar.emulate_media(color_scheme="light")
    bar.get_by_role("button", name="Colours: light").click()
    assert bar.evaluate(BACKGROUND) == dark
    bar.reload()
    expect(bar.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert bar.evaluate(BACKGROUND) == dark
    bar.get_by_role("button", name="Colours: dark").click()
    assert bar.evaluate(BACKGROUND) == light


def test_language_version_and_an_error_in_one_line(bar: Page) -> None:
    expect(bar.get_by_role("link", name="Rooms")).to_have_attribute("aria-current", "page")
    bar.get_by_role("button", name="日本語").click()
    expect(bar.get_by_role("link", name="卓一覧")).to_have_attribute("aria-current", "page")
    expect(bar.locator("html")).to_have_attribute("lang", "ja")
    bar.get_by_role("button", name="English").click()
    expect(bar.get_by_role("link", name="Rooms")).to_be_visible()
    expect(bar.locator("footer")).to_have_text(re.compile(r"nukidora (\d+\.\d+|\(not installed\))"))
    expect(bar.locator("footer").get_by_role("link")).to_have_attribute("href", "/docs")
    for text in ("first", "<b>second</b>"):
        bar.evaluate('(text) => import("/web/page.js").then((page) => page.showError(text))', text)
    expect(bar.get_by_role("alert")).to_have_text(["<b>second</b>"])
