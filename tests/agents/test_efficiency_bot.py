"""The efficiency bot chooses the known best discard, riichi and nukidora, and never calls."""

from __future__ import annotations

import pytest

from tests.support.scenario import Scenario
from tests.support.scripted_positions import SCATTERED, answer


@pytest.mark.parametrize(
    ("hand", "drawn", "discards"),
    [
        ("123456p2355s567s", "9m", {"9m"}),  # keeps a ryanmen
        ("234567p234s5588s", "1s", {"5s"}),  # 123s and 45s: a wait of seven tiles against four for the two pairs
        ("123456789p11s46s", "7s", {"4s"}),  # a ryanmen, not a kanchan
        ("1199m1199p1199s1z", "5p", {"1z", "5p"}),  # seven pairs
        ("19m19p19s123567z9s", "5p", {"5p"}),  # thirteen orphans
        ("234p456789s1122z", "6p", {"6p"}),
        ("111222p33s4556s1z", "7s", {"1z"}),
    ],
)
def test_chooses_the_most_efficient_discard(hand: str, drawn: str, discards: set[str]) -> None:
    scenario = Scenario([hand, "", ""], drawn)
    if "riichi" in scenario.menu(0):
        scenario.do("riichi")
    assert answer("efficiency", scenario, 0) in discards


def test_keeps_the_red_five() -> None:
    scenario = Scenario(["234p406p234888s5p", "", ""], "5p")
    assert answer("efficiency", scenario, 0) != "0p"


def test_declares_riichi_and_sets_norths_aside_at_once() -> None:
    riichi = Scenario(["123456p23s55s567s", "", ""], "9m")
    assert answer("efficiency", riichi, 0) == "riichi"
    assert answer("efficiency", Scenario(["123456p23s55s567s", "", ""], "4z"), 0) == "nukidora"


def test_never_calls() -> None:
    scenario = Scenario([SCATTERED, "55z123456p2378s", ""], "1m").do("5z")
    assert "pon" in scenario.menu(1)
    assert answer("efficiency", scenario, 1) == "pass"
