"""The page that ``python -m agents.review --html`` writes: it needs no server and no network, and draws the review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.registry import make
from agents.review.decisions import seat_decisions
from agents.review.page import page as page_of
from agents.review.page import totals_page
from agents.review.review import Review, make_review
from agents.review.totals import Totals
from engine.records.cut_off import describe_cut
from engine.records.files import read_records
from engine.records.model import HandedOver, round_name
from engine.records.replay import Mismatch
from tests.web.conftest import SIZES, strict_context

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
    yield from without_network(browser, request.param, page_of(review), tmp_path)


def without_network(browser: Browser, size: tuple[int, int], text: str, folder: Path) -> Iterator[Page]:
    """A page in a file, opened without a network, see `opened`."""
    file = folder / "review.html"
    file.write_text(text, encoding="utf-8")
    with strict_context(browser, size, ("data:", file.as_uri()), offline=True, locale="en") as context:
        page = context.new_page()
        page.goto(file.as_uri())
        yield page


def test_the_review_is_drawn_and_keeps_its_place_in_the_address(opened: Page, review: Review) -> None:
    expect(opened.locator("nuki-table svg.tile").first).to_be_visible()
    expect(opened.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    expect(opened.locator("main")).to_contain_text(f"1 of {len(review.of.decisions)}")
    for bot in BOTS:
        expect(opened.locator("main")).to_contain_text(bot)
    assert opened.locator("img").count() == 0
    assert opened.title() != "hacked"
    opened.keyboard.press("End")
    last: Any = review.of.decisions[-1]
    expect(opened.locator("main")).to_contain_text(f"{len(review.of.decisions)} of {len(review.of.decisions)}")
    opened.wait_for_url(f"**#at={last.message}")
    opened.reload()
    expect(opened.locator("main")).to_contain_text(f"{len(review.of.decisions)} of {len(review.of.decisions)}")
    opened.keyboard.press("Home")
    expect(opened.locator("main")).to_contain_text(f"1 of {len(review.of.decisions)}")


def test_what_is_left_out_is_told_in_japanese(browser: Browser, review: Review, tmp_path: Path) -> None:
    """By the words of the server's pages for records; those for its other errors are not in the file."""
    start = {"type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0}
    east, cut = round_name(start), describe_cut([start] + 40 * [{"type": "tsumo"}])
    problems = [Mismatch("a.mjson", east, 9, f"dahai {HOSTILE}", "end_game").line, "of an older program"]
    record = replace(review.of.record, handed_over=[HandedOver(2, HOSTILE, 4, 20), HandedOver(2, "rule", 99)], cut=cut)
    file = tmp_path / "review.html"
    file.write_text(page_of(replace(review, of=replace(review.of, record=record, problems=problems))), encoding="utf-8")
    modules = re.findall(r"nukidora/(\w+\.js)\":", file.read_text(encoding="utf-8"))
    assert "words_problems.js" in modules
    assert "words_errors.js" not in modules
    told = [
        "東1局0本場の41番目のイベントの後で途切れています。そこまでを検討しています",
        f"5番目から20番目のイベントまで{HOSTILE}が代打ちしたため省略",
        "100番目のイベントからruleが代打ちしたため省略",
        f"牌譜がルールと合わないため省略：東1局0本場、9番目のイベント：牌譜では dahai {HOSTILE}、ルールでは end_game",
        "牌譜がルールと合わないため省略：of an older program",
    ]
    with strict_context(browser, SIZES["phone"], ("data:", file.as_uri()), offline=True, locale="ja") as context:
        page = context.new_page()
        page.goto(file.as_uri())
        expect(page.locator("p.warn")).to_have_text(told)
        assert page.title() != "hacked"


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def games_page(request: pytest.FixtureRequest, browser: Browser, review: Review, tmp_path: Path) -> Iterator[Page]:
    """The page of all games of a player, see `opened`."""
    totals = Totals.of_none(len(BOTS))
    for name in ("first.xml", HOSTILE):
        totals.add(Totals.of_game([review], name))
    yield from without_network(browser, request.param, totals_page(totals, HOSTILE, BOTS), tmp_path)


def test_where_placements_are_lost_and_the_costliest_mistakes(games_page: Page, review: Review) -> None:
    expect(games_page.get_by_role("heading", level=1)).to_have_text(f"{HOSTILE}: review of 2 games")
    kinds = games_page.get_by_role("region", name="Where placements are lost").first.get_by_role("row")
    expect(kinds.nth(1)).to_contain_text(f"all{2 * len(review.of.decisions)}")
    assert games_page.locator("nuki-table").count() == 0
    games_page.get_by_role("region", name="costliest mistakes by rule").get_by_role("link").first.click()
    games_page.wait_for_url("**#bot=1&mistake=0")
    expect(games_page.locator("nuki-table svg.tile").first).to_be_visible()
    expect(games_page.locator(".review-place")).to_contain_text(HOSTILE)  # its file
    losses = [opinion.loss or 0.0 for opinion in review.opinions[1]]
    expect(games_page.locator(".opinion[data-bot=rule]")).to_contain_text(f"−{max(losses):.3f}")
    width = games_page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    assert games_page.title() != "hacked"
