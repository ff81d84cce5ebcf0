"""The clock while one plays: beside the own hand, and at rest while a result is shown."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.scripted_table import ScriptedTable

HAND = ["1m", "9m", *(f"{n}p" for n in range(1, 9)), "E", "S", "W"]
# How far the clock lies from the nearest tile of the own hand, in widths of a tile, and the tiles that it covers.
PLACE = """() => {
  const box = (element) => element.getBoundingClientRect();
  const clock = box(document.querySelector(".clock"));
  const gap = (tile) => Math.max(0, tile.left - clock.right, clock.left - tile.right)
    + Math.max(0, tile.top - clock.bottom, clock.top - tile.bottom);
  const hand = [...document.querySelectorAll(".seat.bottom .hand .tile")].map(box);
  const tiles = [...document.querySelectorAll("nuki-table .tile")].map(box).filter(({ width }) => width);
  const table = box(document.querySelector("nuki-table"));
  return {
    gap: Math.min(...hand.map(gap)) / hand[0].width,
    covered: tiles.filter((tile) => gap(tile) === 0).length,
    inside: clock.left >= table.left && clock.right <= table.right && clock.bottom <= table.bottom,
    text: document.querySelector(".clock-text").scrollWidth <= clock.width + 1,
  };
}"""


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (844, 390), (667, 375), (568, 320), (768, 1024), (1280, 800)])
def test_it_lies_beside_the_hand(scripted: ScriptedTable, page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    scripted.begin(HAND)
    scripted.draw("9s")
    expect(page.locator(".clock-text")).to_have_text(re.compile(r"\d+ \+ 60"))
    found = page.evaluate(PLACE)
    assert found["gap"] < 2
    assert (found["covered"], found["inside"], found["text"]) == (0, True, True)


def test_it_rests_while_a_result_is_shown(scripted: ScriptedTable, page: Page) -> None:
    scripted.begin(HAND, dealer=1)
    dialog, text, clock = page.locator(".play-dialog"), page.locator(".clock-text"), page.locator(".clock")
    expect(text).to_have_text("+ 60")  # the page knows the limits
    scripted.say("ryukyoku", reason="fanpai", tehais=[HAND, ["?"] * 13, ["?"] * 13], deltas=[0, 0, 0],
                 scores=[35000] * 3)  # fmt: skip
    scripted.say("end_kyoku")
    expect(dialog).to_be_visible()
    scripted.round(HAND)
    scripted.draw("9s")
    expect(text).to_have_text("+ 60")
    expect(clock).not_to_have_class(re.compile("clock-running"))
    page.get_by_role("button", name="Continue").click()
    expect(clock).to_have_class(re.compile("clock-running"))
    expect(text).to_have_text(re.compile(r"^[56]\d \+ 60$"))  # of the time that the server has counted
