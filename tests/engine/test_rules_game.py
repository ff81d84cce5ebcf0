"""Dealer repeats, honba, and the end of a game. Rules: docs/rules.md."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.rules import TENHOU
from tests.engine.conftest import Deal
from tests.support.sides import State

TANYAO_5S = "234678p2288846s"  # waits for 5s; 1,300, of the dealer 2,000
WAITS_5Z = "123567p123567s5z"
DEAD_WALL = {"replacements": "55566677z", "ura": "7z"}  # holds the other three haku


def ron(deal: Deal, state: State, winner: int, **rules: object) -> State:
    """The state after `winner` wins 1,300 (2,000 as dealer) by ron from the seat before it."""
    before, after = (winner + 2) % 3, (winner + 1) % 3
    hands = {winner: TANYAO_5S, before: "5s", after: ""}
    order = [(state.dealer + i) % 3 for i in range(3)]
    table = deal([hands[seat] for seat in order], "1z2z3z", state=state, **rules)
    return table.quiet(order.index(before)).do("5s", "ron").after()


def tenpai(deal: Deal, state: State, seat: int) -> State:
    """The state after an exhaustive draw with one seat in tenpai."""
    hands = [WAITS_5Z if (state.dealer + i) % 3 == seat else "" for i in range(3)]
    return deal(hands, state=state, **DEAD_WALL).quiet(55).after()


End = Callable[[Deal, State, int], State]
EVEN = (35_000,) * 3
LEADING = State(1, 2, 0, 0, (30_000, 34_000, 41_000))  # the dealer of the last round, or second
SECOND = State(1, 2, 0, 0, (20_000, 45_000, 40_000))
WEST_3 = State(2, 2, 0, 0, EVEN)
OVER = True


@pytest.mark.parametrize(
    ("end", "before", "seat", "after"),
    [
        # The dealer repeats when it wins or is tenpai; its win and every draw raise the honba.
        (ron, State(0, 1, 2, 0, EVEN), 1, State(0, 1, 3, 0, (32_600, 37_400, 35_000))),
        (ron, State(0, 2, 2, 0, EVEN), 1, State(1, 0, 0, 0, (33_300, 36_700, 35_000))),
        (tenpai, State(0, 1, 1, 0, EVEN), 1, State(0, 1, 2, 0, (34_000, 37_000, 34_000))),
        (tenpai, State(0, 1, 1, 0, EVEN), 0, State(0, 2, 2, 0, (37_000, 34_000, 34_000))),
        # Exactly zero plays on, less ends the game.
        (ron, State(0, 2, 0, 0, (1_300, 35_000, 68_700)), 1, State(1, 0, 0, 0, (0, 36_300, 68_700))),
        (ron, State(0, 2, 0, 0, (1_200, 35_000, 68_800)), 1, OVER),
        # The last round ends when a dealer who wins or is tenpai leads with 40,000, or when the deal passes.
        (ron, State(1, 2, 0, 0, (30_000, 36_000, 39_000)), 2, OVER),
        (ron, LEADING, 2, OVER),
        (ron, SECOND, 2, State(1, 2, 1, 0, (20_000, 43_000, 42_000))),
        (ron, State(1, 2, 0, 0, (33_000, 35_000, 37_000)), 2, State(1, 2, 1, 0, (33_000, 33_000, 39_000))),
        (tenpai, LEADING, 2, OVER),
        (tenpai, SECOND, 2, State(1, 2, 1, 0, (19_000, 44_000, 42_000))),
        (tenpai, LEADING, 0, OVER),
        # A round before it does not.
        (ron, State(1, 1, 0, 0, (30_000, 60_000, 15_000)), 1, State(1, 1, 1, 0, (28_000, 62_000, 15_000))),
        # West rounds follow until a seat has 40,000; a dealer who repeats without the lead plays on.
        (ron, State(1, 2, 0, 0, EVEN), 1, State(2, 0, 0, 0, (33_700, 36_300, 35_000))),
        (ron, State(2, 0, 0, 0, (33_000, 36_000, 36_000)), 1, State(2, 1, 0, 0, (31_700, 37_300, 36_000))),
        (ron, State(2, 0, 0, 0, (30_000, 39_000, 36_000)), 1, OVER),
        (ron, State(2, 1, 0, 0, (45_000, 30_000, 30_000)), 1, State(2, 1, 1, 0, (43_000, 32_000, 30_000))),
        (ron, State(2, 1, 0, 0, (35_000, 39_000, 31_000)), 1, OVER),
        # West 3 is the last round of all.
        (ron, WEST_3, 1, OVER),
        (ron, WEST_3, 2, State(2, 2, 1, 0, (35_000, 33_000, 37_000))),
        (tenpai, WEST_3, 2, State(2, 2, 1, 0, (34_000, 34_000, 37_000))),
        # Riichi sticks that are left go to the top seat.
        (
            tenpai,
            State(1, 2, 0, 2, (30_000, 41_000, 32_000)),
            0,
            State(1, 2, 0, 0, (32_000, 42_000, 31_000), over=True),
        ),
    ],
)
def test_what_follows_a_round(deal: Deal, end: End, before: State, seat: int, after: State | bool) -> None:
    found = end(deal, before, seat)
    assert (found.over if after is OVER else found) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State(0, 2, 0, 0, (25_000, 39_000, 41_000)), OVER),
        (State(0, 2, 0, 0, EVEN), State(1, 0, 0, 0, (33_700, 36_300, 35_000))),
        (State(1, 2, 0, 0, EVEN), OVER),
    ],
)
def test_east_only_ends_after_east_or_goes_on_into_south(deal: Deal, before: State, after: State | bool) -> None:
    found = ron(deal, before, 1, rules=TENHOU.with_length("east"))
    assert (found.over if after is OVER else found) == after


def test_an_abort_never_ends_the_game(deal: Deal) -> None:
    table = deal(["19m19p19s123z"], "2p", state=LEADING).do("kyushu kyuhai")
    assert table.after() == State(1, 2, 1, 0, LEADING.scores)


def test_ties_go_to_the_seat_nearer_the_first_dealer(deal: Deal) -> None:
    after = deal(["", "", ""], state=State(1, 2, 0, 1, (22_000, 41_000, 41_000))).quiet(55).after()
    assert after.scores == (22_000, 42_000, 41_000)
    assert TENHOU.ranks([41_000, 23_000, 41_000]) == [1, 3, 2]
