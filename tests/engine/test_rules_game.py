"""Dealer repeats, honba, and the end of a game. Rules: docs/rules.md."""

from __future__ import annotations

import pytest

from engine.rules import TENHOU
from tests.engine.conftest import Deal
from tests.support.sides import State

TANYAO_5S = "234678p2288846s"  # waits for 5s; 1,300, of the dealer 2,000
KYUSHU_KYUHAI_HAND = "19m19p19s123z"
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


def kyushu_kyuhai(deal: Deal, state: State) -> State:
    """The state after kyushu kyuhai of the dealer."""
    return deal([KYUSHU_KYUHAI_HAND], "2p", state=state).do("kyushu kyuhai").after()


# The deal -------------------------------------------------------------------------------------------------------------


def test_dealer_win_repeats_and_honba_rises(deal: Deal) -> None:
    assert ron(deal, State(0, 1, 2, 0, (35_000,) * 3), 1) == State(0, 1, 3, 0, (32_600, 37_400, 35_000))


def test_a_win_of_another_seat_moves_the_deal_and_resets_honba(deal: Deal) -> None:
    assert ron(deal, State(0, 2, 2, 0, (35_000,) * 3), 1) == State(1, 0, 0, 0, (33_300, 36_700, 35_000))


def test_tenpai_dealer_repeats_and_every_draw_raises_honba(deal: Deal) -> None:
    assert tenpai(deal, State(0, 1, 1, 0, (35_000,) * 3), 1) == State(0, 1, 2, 0, (34_000, 37_000, 34_000))
    assert tenpai(deal, State(0, 1, 1, 0, (35_000,) * 3), 0) == State(0, 2, 2, 0, (37_000, 34_000, 34_000))


# The end --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "over"), [(1_300, False), (1_200, True)])
def test_exactly_zero_plays_on_and_less_ends_the_game(deal: Deal, score: int, over: bool) -> None:
    after = ron(deal, State(0, 2, 0, 0, (score, 35_000, 70_000 - score)), 1)
    assert after.scores[0] == score - 1_300
    assert after.over == over


LAST = State(1, 2, 0, 0, (30_000, 36_000, 39_000))
LEADING = State(1, 2, 0, 0, (30_000, 34_000, 41_000))
SECOND = State(1, 2, 0, 0, (20_000, 45_000, 40_000))


def test_last_round_ends_when_the_leading_dealer_wins_with_40000(deal: Deal) -> None:
    assert ron(deal, LAST, 2).over
    assert ron(deal, LEADING, 2).over


def test_last_round_goes_on_when_the_dealer_does_not_lead(deal: Deal) -> None:
    assert ron(deal, SECOND, 2) == State(1, 2, 1, 0, (20_000, 43_000, 42_000))


def test_last_round_goes_on_when_the_dealer_leads_with_less(deal: Deal) -> None:
    less = State(1, 2, 0, 0, (33_000, 35_000, 37_000))
    assert ron(deal, less, 2) == State(1, 2, 1, 0, (33_000, 33_000, 39_000))


def test_last_round_ends_when_the_leading_dealer_is_tenpai_with_40000(deal: Deal) -> None:
    assert tenpai(deal, LEADING, 2).over
    assert not tenpai(deal, SECOND, 2).over
    assert tenpai(deal, LEADING, 0).over  # the deal passes and somebody has 40,000


def test_an_abort_never_ends_the_game(deal: Deal) -> None:
    assert kyushu_kyuhai(deal, LEADING) == State(1, 2, 1, 0, LEADING.scores)


def test_a_round_before_the_last_never_ends_by_40000(deal: Deal) -> None:
    assert not ron(deal, State(1, 1, 0, 0, (30_000, 60_000, 15_000)), 1).over


def test_west_rounds_follow_until_a_seat_has_40000(deal: Deal) -> None:
    assert ron(deal, State(1, 2, 0, 0, (35_000, 35_000, 35_000)), 1) == State(2, 0, 0, 0, (33_700, 36_300, 35_000))
    assert ron(deal, State(2, 0, 0, 0, (33_000, 36_000, 36_000)), 1) == State(2, 1, 0, 0, (31_700, 37_300, 36_000))
    assert ron(deal, State(2, 0, 0, 0, (30_000, 39_000, 36_000)), 1).over


def test_in_west_a_dealer_who_repeats_without_the_lead_plays_on(deal: Deal) -> None:
    """Seat 0 has 40,000, but the dealer of West 2 wins and does not lead."""
    after = ron(deal, State(2, 1, 0, 0, (45_000, 30_000, 30_000)), 1)
    assert after == State(2, 1, 1, 0, (43_000, 32_000, 30_000))
    assert ron(deal, State(2, 1, 0, 0, (35_000, 39_000, 31_000)), 1).over


def test_west_3_is_the_last_round_of_all(deal: Deal) -> None:
    west_3 = State(2, 2, 0, 0, (35_000,) * 3)
    assert ron(deal, west_3, 1).over
    assert ron(deal, west_3, 2) == State(2, 2, 1, 0, (35_000, 33_000, 37_000))
    assert tenpai(deal, west_3, 2) == State(2, 2, 1, 0, (34_000, 34_000, 37_000))


def test_east_only_ends_after_east_or_goes_on_into_south(deal: Deal) -> None:
    east = TENHOU.with_length("east")
    assert ron(deal, State(0, 2, 0, 0, (25_000, 39_000, 41_000)), 1, rules=east).over
    assert ron(deal, State(0, 2, 0, 0, (35_000,) * 3), 1, rules=east) == State(1, 0, 0, 0, (33_700, 36_300, 35_000))
    assert ron(deal, State(1, 2, 0, 0, (35_000,) * 3), 1, rules=east).over


def test_riichi_sticks_left_go_to_the_top_seat(deal: Deal) -> None:
    after = tenpai(deal, State(1, 2, 0, 2, (30_000, 41_000, 32_000)), 0)
    assert after == State(1, 2, 0, 0, (32_000, 42_000, 31_000), over=True)


def test_ties_go_to_the_seat_nearer_the_first_dealer(deal: Deal) -> None:
    after = deal(["", "", ""], state=State(1, 2, 0, 1, (22_000, 41_000, 41_000))).quiet(55).after()
    assert after.scores == (22_000, 42_000, 41_000)
    assert TENHOU.ranks([41_000, 23_000, 41_000]) == [1, 3, 2]
