"""The page that ``python -m agents.review --html`` writes: it needs no server and no network, and draws the review."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.page import page as page_of
from agents.review.review import Review, make_review
from engine.records.files import read_records
from tests.web.conftest import SIZES

HOSTILE = "</script><img src=x onerror=document.title='hacked'>"
BOTS = ("bert", "rule")


@pytest.fixture(scope="module")
def review(records_dir: Path) -> Review:
    """Of a real game in which a player has an odd name."""
    record = read_records(records_dir / "phoenix_2014_1.xml")
    record.events[0] = record.events[0] | {"names": ["A", "B", HOSTILE]}
    return make_review(seat_decisions(record, 2), {bot: make(bot) for bot in BOTS}, lambda n: None)


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def opened(request: pytest.FixtureRequest, browser: Browser, review: Review, tmp_path: Path) -> Iterator[Page]:
    """The page in a browser without a network. The test fails if it logs an error, or asks for anything."""
    file = tmp_path / "review.html"
    file.write_text(page_of(review), encoding="utf-8")
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True, locale="en")
    wrong: list[str] = []
    context.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    context.on("weberror", lambda error: wrong.append(str(error.error)))

    def asked(sent: Request) -> None:
        if not sent.url.startswith(("data:", file.as_uri())):
            wrong.append(f"asked for {sent.url}")

    context.on("request", asked)
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()
    assert wrong == []


def test_the_review_is_drawn(opened: Page, review: Review) -> None:
    expect(opened.locator("nuki-table svg.tile").first).to_be_visible()
    expect(opened.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    expect(opened.locator("main")).to_contain_text(f"1 of {len(review.of.decisions)}")
    for bot in BOTS:
        expect(opened.locator("main")).to_contain_text(bot)
    assert opened.locator("img").count() == 0
    assert opened.title() != "hacked"


def test_the_next_mistake_is_found_by_key_and_kept_in_the_address(opened: Page, review: Review) -> None:
    expect(opened.locator("nuki-table svg.tile").first).to_be_visible()
    opened.keyboard.press("End")
    last: Any = review.of.decisions[-1]
    expect(opened.locator("main")).to_contain_text(f"{len(review.of.decisions)} of {len(review.of.decisions)}")
    opened.wait_for_url(f"**#at={last.message}")
    opened.reload()
    expect(opened.locator("main")).to_contain_text(f"{len(review.of.decisions)} of {len(review.of.decisions)}")
    opened.keyboard.press("Home")
    expect(opened.locator("main")).to_contain_text(f"1 of {len(review.of.decisions)}")
