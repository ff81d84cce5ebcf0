"""The pages of ``arena --html`` and ``arena stats --html``: they need no network, no script, and fit every window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.registry import make
from arena.cli import main
from arena.page.figures import FIGURES
from engine.common.program import OK
from nukidora import play
from tests.conftest import DATA
from tests.support.accessibility import serious_faults
from tests.web.conftest import strict_context

HOSTILE = "<script>document.title='hacked'</script>"
WIDTHS = (360, 800, 1400)
TOO_WIDE = """() => [...document.querySelectorAll("main *")]
  .filter((element) => !element.closest("svg") && element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module", params=["match", "records"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a match in which a bot has an odd name, and one a long name; or of its records and some others."""
    folder = tmp_path_factory.mktemp("report")
    hostile, long = make("efficiency"), make("tsumogiri")
    named: list[Any] = [hostile, "random", long]
    hostile.name, long.name = HOSTILE, "exec:python-of-mine/" + "long" * 20
    play(named, games=30, length="east", save=folder / "games", html=folder / "report.html")
    if request.param == "records":
        records = [str(folder / "games"), str(DATA / "records" / "phoenix_2024_1.json")]
        assert main(["stats", *records, "--html", str(folder / "report.html")]) == OK
    return folder / "report.html"


@pytest.fixture(params=WIDTHS)
def opened(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[Page]:
    """The page in a browser without a network. The test fails if it logs an error, or asks for anything."""
    with strict_context(browser, (request.param, 800), ("data:,", report.as_uri()), offline=True) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        yield page


def test_the_page_fits_and_is_accessible(opened: Page) -> None:
    expect(opened.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    assert "hacked" not in opened.title().split("'")[0]
    expect(opened.locator("figure svg.plot")).to_have_count(len(FIGURES))
    for summary in opened.locator("summary").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    assert opened.evaluate("document.documentElement.scrollWidth") == opened.evaluate("innerWidth")
    assert opened.evaluate(TOO_WIDE) == []
    assert serious_faults(opened) == []


def test_text_in_figures_is_legible_on_a_phone(opened: Page) -> None:
    sizes: list[float] = opened.evaluate("""() => [...document.querySelectorAll("svg.plot text")].map((text) =>
      text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize))""")
    assert len(sizes) > 100
    assert min(abs(size) for size in sizes if size) > 8.5  # pixels


def test_figures_have_the_colours_of_the_page_in_the_dark(opened: Page) -> None:
    colour = """() => getComputedStyle(document.querySelector("svg.plot text")).fill"""
    light = opened.evaluate(colour)
    opened.emulate_media(color_scheme="dark")
    assert opened.evaluate(colour) != light
    opened.emulate_media(color_scheme="dark", media="print")
    assert opened.evaluate(colour) == light


def test_all_tables_are_printed(opened: Page) -> None:
    closed = opened.locator("details:not([open]) table").first
    expect(closed).to_be_hidden()
    opened.emulate_media(media="print")
    expect(closed).to_be_visible()
