"""Positions as texts: the view that they make is that of the game, and what cannot be is refused by its field."""

from __future__ import annotations

from typing import Any

import pytest

from engine.actions import ANKAN, KYUSHU_KYUHAI, N_ACTIONS, NUKIDORA, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.positions.notation import PositionError
from engine.positions.position import Position
from engine.positions.views import place
from engine.rules import preset
from engine.table import TURN
from tests.support.played_positions import decisions
from tests.support.position_writing import position_of

HAND = "123p456s11z99m2256p"
# Not in a position: where the tiles of the wall lay, whose order a seat's own draws tell.
LEFT_OUT = {"wall", "known_by"}


def differing(one: Any, other: Any) -> list[str]:
    """The fields in which two views differ."""
    names = [name for name in one.dtype.names if name not in LEFT_OUT]
    if one["offer"] == -1:
        names.remove("offer_type")  # left over from the round before
    return [name for name in names if one[name].tobytes() != other[name].tobytes()]


@pytest.mark.parametrize("rules", ["tenhou", "majsoul"])
def test_views_are_those_of_the_game(rules: str) -> None:
    found: set[int] = set()
    for seed in range(4):
        for _, messages, seat, view, legal in decisions(seed, rules, share=0.3):
            position = position_of(messages, seat, preset(rules))
            placed = place(Position.from_json(position.as_json()))
            assert differing(placed.view, view) == [], position
            assert placed.legal == legal
            found.update(map(int, legal))
    wanted = {TSUMOGIRI, RIICHI, PON, NUKIDORA, TSUMO, RON}
    assert wanted - found == set(), "the games have decisions of each kind"
    assert found & set(range(ANKAN, N_ACTIONS))


def test_without_rivers_the_first_turn_is_over() -> None:
    placed = place(Position(hand="19m19p19s1123456z7z", seat="S", norths=1, dora="5z3p", left=20))
    view = placed.view
    assert (view["phase"], view["turn"], view["live_left"], view["n_indicators"]) == (TURN, 1, 20, 2)
    assert KYUSHU_KYUHAI not in placed.legal
    assert view["seat"][1]["nukidora"] == 1
    assert view["seen"].sum() == 3, "two indicators and a north"
    assert placed.messages == []


def test_melds_without_rivers() -> None:
    placed = place(Position(hand="12366p456s", melds="P505s M1111z", scores=(35_000, 34_000, 35_000)))
    own = placed.view["seat"][0]
    assert (own["n_melds"], own["open"], own["meld_red"][0], placed.view["sticks"]) == (2, 1, 1, 1)
    assert RIICHI not in placed.legal


def test_the_called_discard_may_be_marked() -> None:
    hand = "123p789s11z99m2256p"
    rivers = ["5s9m", "5s^", "P5s4z"]
    placed = place(Position.from_json({"hand": hand, "seat": "S", "rivers": rivers}))
    assert placed.view["seat"][2]["meld_from"][0] == 1
    with pytest.raises(PositionError, match="after these rivers W is to move"):  # West has called East's 5s
        place(Position.from_json({"hand": hand, "seat": "S", "rivers": ["5s9m", "5s", "P5s4z"]}))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"hand": HAND[:-1]}, "hand: .*ends without the suit"),
        ({"hand": "123p456s11z99m225p"}, "hand: it has 13 tiles, it must have 14"),
        ({"hand": "123p456s11z99m22567p"}, "hand: it has 15 tiles, it must have 14"),
        ({"hand": "11111z456s99m2256p"}, "hand: 5 tiles 1z"),
        ({"hand": "1111z456s99m22556p", "dora": "1z"}, "dora: 5 tiles 1z"),
        ({"hand": "00p123p456s11z99m22p"}, "hand: 2 red fives 0p"),
        ({"hand": "23m123p456s11z2256p"}, "hand: there is no tile 2m; three players"),
        ({"hand": "1" * 100}, "hand: it has 100 characters"),
        ({"hand": HAND, "dora": ""}, "dora: there are 1 to 5"),
        ({"hand": HAND, "dora": "1s1s", "left": 54}, "dora: 2 indicators are 1 more"),
        ({"hand": HAND, "seat": "N"}, "seat: choose one of E, S, W"),
        ({"hand": HAND, "round": "E4"}, "round: choose one of E1"),
        ({"hand": HAND, "honba": -1}, "honba: give a number"),
        ({"hand": HAND, "honba": True}, "honba: give a number"),
        ({"hand": HAND, "norths": 5, "left": 3}, "norths: give a number"),
        ({"hand": HAND, "scores": (35_000, 35_000, 35_100)}, "scores: with 1,000"),
        ({"hand": HAND, "scores": (35_000, 35_000)}, "scores: give three numbers"),
        ({"hand": HAND, "rivers": ("", "1z", "")}, "river of S: 1z is never reached"),
        ({"hand": HAND, "rivers": ("1z", "2z", "3z P5p")}, "river of W: P555p is never reached"),
        ({"hand": HAND, "rivers": ("1z", "2z^", "3z")}, r"river of S: 2z\^: no other seat"),
        ({"hand": HAND, "rivers": ("1z", "K5s", "3z")}, "river of S: K5s: there is no pon"),
        ({"hand": HAND, "rivers": ("1z", "N N N N N 1s", "3z")}, "river of S: 5 tiles 4z"),
        ({"hand": HAND, "rivers": ("1z", "R R 1s", "3z")}, "river of S: reach"),
        ({"hand": HAND, "rivers": ("1z", "x", "3z")}, "river of S: cannot read 'x'"),
        ({"hand": HAND, "rivers": ("1z", "1s" * 300, "3z")}, "river of S: it has 600 characters"),
        ({"hand": HAND, "rivers": ("R1z", "2z", "3z")}, "hand: dahai E of seat 0 .* rules do not allow"),
        ({"hand": HAND, "rivers": ("1z", "P123s", "3z")}, "river of S: P123s: give one of its tiles or all 3"),
        ({"hand": HAND, "rivers": ("1z", "2z", "3z"), "melds": "P555z"}, "melds: with rivers"),
        ({"hand": HAND, "rivers": ("1z", "2z", "3z"), "left": 3}, "left: these rivers leave 51"),
        ({"hand": "12366p456s", "melds": "P5s K5s"}, "melds: K5s is no meld here"),
        ({"hand": "11p", "melds": "A1111z A2222z A3333z A6666z"}, "dora: there are more kans than the 1 indicators"),
        ({"hand": "11p123p557s", "melds": "M1111z M2222z", "dora": "5p"}, "dora: there are more kans than the 1"),
        ({"hand": HAND, "norths": 2, "left": 53}, "left: give a number from 0 to 52"),
        ({"hand": "1p", "melds": "P1s P2s P3s P4s P5s"}, "melds: "),
        ({"hand": "123p456s11z99m225p", "rivers": ("1z", "2z", "3z")}, "hand: E has nothing to decide"),
        ({"hand": HAND, "colour": 1}, "position: it has no field 'colour'"),
        ({}, "hand: it is missing"),
        ({"hand": 5}, "hand: give a text"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(PositionError, match=named):
        place(Position.from_json(fields))
