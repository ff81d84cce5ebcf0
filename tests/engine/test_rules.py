"""Each switch of `Rules` on and off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.game import Game
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.tiles import FULL_SET, KIND_OF, RED_5P, RED_5S
from tests.engine.conftest import Deal
from tests.support.scenario import Scenario
from tests.support.walls import build_wall

KOKUSHI = "119m19p19s123456z"  # waits for chun
KOKUSHI_13 = "19m19p19s1234567z"


@pytest.mark.parametrize("robs", [False, True])
def test_kokushi_robs_ankan(deal: Deal, robs: bool) -> None:
    rules = replace(TENHOU, kokushi_robs_ankan=robs)
    table = deal(["777z", KOKUSHI], "7z", rules=rules).do("ankan C")
    assert (table.menu(1) == {"ron", "pass"}) == robs
    if robs:
        assert table.do("ron").win.yaku == {"kokushimuso": 13}


def test_only_kokushi_robs_ankan(deal: Deal) -> None:
    table = deal(["333p", "2456799p678s111z"], "3p", rules=MAJSOUL)
    assert table.do("ankan 3p").menu(1) == set()


@pytest.mark.parametrize(
    ("double", "name", "deltas"),
    [(False, "kokushimuso_13", [-32_000, 32_000, 0]), (True, "kokushimuso_13", [-64_000, 64_000, 0])],
)
def test_double_yakuman(deal: Deal, double: bool, name: str, deltas: list[int]) -> None:
    rules = replace(TENHOU, double_yakuman=double)
    win = deal(["7z", KOKUSHI_13], "2p", rules=rules).do("7z", "ron").win
    assert win.deltas == deltas
    assert list(win.yaku) == [name]


def dragons_of_honours(deal: Deal, rules: Rules) -> Scenario:
    """Seat 1 has pons of all dragons, the last from the dealer, and 111z 2z: daisangen and tsuuiisou on 2z."""
    table = deal(["57z", "556677z111z2z9m9p1s", "6z2z"], "3z3z4p4p", rules=rules)
    return table.do("5z", "pon", "9m", "6z", "pon", "9p").quiet(1).do("7z", "pon", "1s")


@pytest.mark.parametrize(
    ("covers_all", "tsumo", "ron"),
    [
        (True, [-48_000, 48_000, 0], [-32_000, 64_000, -32_000]),
        (False, [-40_000, 48_000, -8_000], [-16_000, 64_000, -48_000]),
    ],
)
def test_pao_covers_all(deal: Deal, covers_all: bool, tsumo: list[int], ron: list[int]) -> None:
    rules = replace(TENHOU, pao_covers_all=covers_all)
    assert dragons_of_honours(deal, rules).do("2z", "ron").win.deltas == ron
    drawn = deal(["57z", "556677z111z2z9m9p1s", "6z"], "3z3z4p4p3s4s2z", rules=rules)
    drawn.do("5z", "pon", "9m", "6z", "pon", "9p").quiet(1).do("7z", "pon", "1s").quiet(2)
    assert drawn.do("tsumo").win.deltas == tsumo


@pytest.mark.parametrize("red_fives", [True, False])
def test_red_fives(red_fives: bool) -> None:
    rules = replace(TENHOU, red_fives=red_fives)
    wall = Game(seed=1, rules=rules).table.wall.tolist()
    assert (wall.count(RED_5P), wall.count(RED_5S)) == ((1, 1) if red_fives else (0, 0))
    assert sorted(KIND_OF[wall]) == sorted(KIND_OF[FULL_SET])


def test_each_red_five_is_one_han(deal: Deal) -> None:
    win = deal(["0s", "234678p2288846s"], "1z").do("0s", "ron").win
    assert win.yaku == {"tanyaochu": 1, "akadora": 1}


def test_given_walls_must_fit_the_red_fives() -> None:
    wall = build_wall([""])
    with pytest.raises(ValueError, match="108 tiles"):
        Game(rules=replace(TENHOU, red_fives=False), walls=[wall])
    assert Game(rules=replace(TENHOU, red_fives=False), walls=[KIND_OF[wall].tolist()]).asked == (0,)


@pytest.mark.parametrize(
    ("rules", "scores", "points"),
    [
        (TENHOU, [75_700, 22_500, 6_800], [70.7, -17.5, -53.2]),
        (TENHOU, [35_000, 35_000, 35_000], [30.0, -5.0, -25.0]),
        (MAJSOUL, [75_700, 22_500, 6_800], [55.7, -12.5, -43.2]),
        (replace(TENHOU, uma=(15, 0, -15)), [30_000, 45_000, 30_000], [-10.0, 35.0, -25.0]),
    ],
)
def test_uma_and_base_points(rules: Rules, scores: list[int], points: list[float]) -> None:
    assert rules.final_points(scores) == pytest.approx(points)
    assert sum(points) == pytest.approx(0)
