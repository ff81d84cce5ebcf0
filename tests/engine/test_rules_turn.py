"""Rules of a turn: riichi, pon and kuikae, kans, nukidora, kyushu kyuhai. Rules: docs/rules.md."""

from __future__ import annotations

import pytest

from engine.actions import PON, RON
from tests.engine.conftest import Deal
from tests.support.scenario import Scenario
from tests.support.sides import State

NO_YAKU_3S = "23456799p67824s"  # waits for 3s
TANYAO_5S = "234678p2288846s"  # waits for 5s


def in_riichi(deal: Deal, hand: str, next_draw: str) -> Scenario:
    """The dealer declares riichi in its first turn and draws `next_draw` in its second."""
    return deal([hand], f"7z11z{next_draw}").do("riichi", "7z").quiet(2)


# Riichi ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "allowed"), [(1_000, True), (900, False)])
def test_riichi_needs_1000_points(deal: Deal, score: int, allowed: bool) -> None:
    state = State(0, 0, 0, 0, (score, 52_000, 53_000 - score))
    assert ("riichi" in deal([NO_YAKU_3S], "7z", state=state).menu(0)) == allowed


def test_riichi_with_exactly_1000_points(deal: Deal) -> None:
    table = deal([NO_YAKU_3S], "7z", state=State(0, 0, 0, 0, (1_000, 52_000, 52_000))).do("riichi", "7z")
    assert table.names == ["tsumo", "reach", "dahai", "reach_accepted", "tsumo"]
    assert table.scores == [0, 52_000, 52_000]
    assert table.t.sticks == 1


def test_riichi_needs_three_live_tiles(deal: Deal) -> None:
    assert "riichi" in deal([NO_YAKU_3S]).quiet_until(3).menu(0)
    assert "riichi" in deal(["", NO_YAKU_3S]).quiet_until(5).menu(1)
    assert "riichi" not in deal(["", NO_YAKU_3S]).quiet_until(2).menu(1)


def test_riichi_needs_a_concealed_hand(deal: Deal) -> None:
    open_tenpai = deal(["234567p66s24s77z9p", "", "7z"], "1z1m").do("9p", "tsumogiri", "7z", "pon", "1z")
    assert open_tenpai.quiet(3).t.seat[0].waits != 0
    assert "riichi" not in open_tenpai.menu(0)


def test_riichi_discard_must_keep_tenpai(deal: Deal) -> None:
    table = deal([NO_YAKU_3S], "7z").do("riichi")
    assert table.menu(0) == {"tsumogiri"}


def test_the_stick_is_not_paid_when_the_riichi_discard_is_won_on(deal: Deal) -> None:
    table = deal([NO_YAKU_3S, TANYAO_5S], "5s").do("riichi", "5s", "ron")
    assert "reach_accepted" not in table.names
    assert table.win.deltas == [-1_300, 1_300, 0]
    assert table.scores == [33_700, 36_300, 35_000]


def test_riichi_on_an_uninterrupted_first_turn_is_double(deal: Deal) -> None:
    hands = ["", NO_YAKU_3S]
    assert deal(hands, "1z7z").do("1z", "riichi", "7z").t.seat[1].riichi == 2
    interrupted = deal(["4z", NO_YAKU_3S], "1z7z").do("nukidora", "tsumogiri", "riichi", "7z")
    assert interrupted.t.seat[1].riichi == 1
    later = deal(hands, "1z7z2z3z7z").do("1z", "7z").quiet(2).do("riichi", "7z")
    assert later.t.seat[1].riichi == 1


def test_after_riichi_only_the_drawn_tile_is_discarded(deal: Deal) -> None:
    assert in_riichi(deal, NO_YAKU_3S, "5z").menu(0) == {"tsumogiri"}


def test_ippatsu_lasts_one_round_and_ends_with_a_call(deal: Deal) -> None:
    won = deal([NO_YAKU_3S], "7z2z5z3s").do("riichi", "7z").quiet(2).do("tsumo")
    assert won.win.yaku.keys() >= {"double_reach", "ippatsu"}
    late = deal([NO_YAKU_3S], "7z2z5z6z2z5z3s").do("riichi", "7z").quiet(5).do("tsumo")
    assert "ippatsu" not in late.win.yaku
    called = deal([NO_YAKU_3S, "55z", "5z"], "7z2z5z1z2z3s").do("riichi", "7z").quiet(1).do("tsumogiri", "pon", "1m")
    assert not called.t.seat[0].ippatsu


def test_nukidora_ends_ippatsu_of_all(deal: Deal) -> None:
    table = deal([NO_YAKU_3S, "4z"], "7z").do("riichi", "7z")
    assert table.t.seat[0].ippatsu
    table.do("nukidora")
    assert not table.t.seat[0].ippatsu


# Pon ------------------------------------------------------------------------------------------------------------------


def test_ponned_kind_may_not_be_discarded_red_or_plain(deal: Deal) -> None:
    table = deal(["5p", "550p"]).do("5p")
    assert table.menu(1) == {"pon", "pon with red", "daiminkan", "pass"}
    assert table.do("pon").menu(1) & {"5p", "0p"} == set()
    red = deal(["5p", "550p"]).do("5p", "pon with red")
    assert red.menu(1) & {"5p", "0p"} == set()
    assert len(red.menu(1)) == 10


def test_last_discard_may_not_be_called(deal: Deal) -> None:
    table = deal(["7z", "777z"]).quiet_until(3)
    assert table.do("7z").menu(1) == {"pon", "daiminkan", "pass"}
    table = deal(["7z", "777z"]).quiet_until(0).do("7z")
    assert table.names[-1] == "ryukyoku"


def test_ron_goes_before_pon(deal: Deal) -> None:
    table = deal(["5s", "55s", TANYAO_5S]).do("5s")
    assert "pon" in table.menu(1)
    table.act({1: PON, 2: RON})
    assert table.win.winner == 2
    assert "pon" not in table.names


# Kans -----------------------------------------------------------------------------------------------------------------


def test_kan_in_riichi_must_not_change_waits(deal: Deal) -> None:
    """How the hand can be split may change: 123p 444p 6777p 567s waits for 5p, 6p and 8p with and without its 444p."""
    assert "ankan 1p" in in_riichi(deal, "111456p55s23789s", "1p").menu(0)
    changes_waits = in_riichi(deal, "3334678p789s222z", "3p")
    assert "ankan 3p" not in changes_waits.menu(0)
    for hand, drawn in ("111222333p456s6z", "1p"), ("1234446777p567s", "4p"), ("678p1230556788s", "5s"):
        assert f"ankan {drawn}" in in_riichi(deal, hand, drawn).menu(0)
    assert "ankan 1p" in in_riichi(deal, "111222444p456s6z", "1p").menu(0)
    not_drawn = in_riichi(deal, "111123p456789s5z", "2z")
    assert "ankan 1p" not in not_drawn.menu(0)


def test_kan_needs_a_live_tile(deal: Deal) -> None:
    assert "ankan C" in deal(["7777z"]).quiet_until(3).menu(0)
    assert "ankan C" not in deal(["7777z"]).quiet_until(0).menu(0)


def test_no_fifth_kan_and_four_by_one_seat_play_on(deal: Deal) -> None:
    table = deal(["1112223334445p", "1111s", "999s"], "1p", replacements="2p3p4p9s")
    table.do("ankan 1p", "ankan 2p", "ankan 3p", "ankan 4p", "9s")
    assert table.menu(2) == {"pon", "pass"}
    table.do("pass")
    assert "ankan 1s" not in table.menu(1)
    assert table.t.n_kans == 4


def test_four_kans_of_two_seats_abort_when_the_discard_passes(deal: Deal) -> None:
    table = deal(["111222333p5679s", "1111z7s", "77s"], "1p", replacements="2p3p2z3z")
    table.do("ankan 1p", "ankan 2p", "ankan 3p", "tsumogiri", "ankan E", "7s")
    assert table.events[-1] == ("ryukyoku", "sukaikan", (0, 0, 0))
    assert table.after() == State(0, 0, 1, 0, (35_000,) * 3)


def test_the_discard_after_four_kans_may_be_won_on(deal: Deal) -> None:
    table = deal(["111222333p9s567z", "1111z5s", "456678p2288846s"], "1p", replacements="2p3p2z3z")
    table.do("ankan 1p", "ankan 2p", "ankan 3p", "tsumogiri", "ankan E", "5s")
    assert table.menu(2) == {"ron", "pass"}
    assert table.do("ron").win.winner == 2


# Nukidora -------------------------------------------------------------------------------------------------------------


def test_nukidora_draws_a_replacement_and_counts_as_dora(deal: Deal) -> None:
    table = deal(["4z"], "1z", replacements="2z").do("nukidora")
    assert table.events[-2:] == [("nukidora", 0), ("tsumo", 0, "S")]
    assert table.t.seat[0].nukidora == 1
    assert table.t.live_left == 53


def test_no_nukidora_after_a_pon(deal: Deal) -> None:
    table = deal(["7z", "77z4z"]).do("7z", "pon")
    assert "nukidora" not in table.menu(1)
    assert "4z" in table.menu(1)


def test_in_riichi_only_the_drawn_north_can_be_declared(deal: Deal) -> None:
    with_norths = "234567p678s24s44z"
    assert "nukidora" not in in_riichi(deal, with_norths, "5z").menu(0)
    assert in_riichi(deal, with_norths, "4z").menu(0) == {"tsumogiri", "nukidora"}
    declared = deal([with_norths], "7z").do("riichi")
    assert "nukidora" not in declared.menu(0)


def test_nukidora_needs_a_live_tile(deal: Deal) -> None:
    assert "nukidora" in deal(["", "", "4z"]).quiet_until(1).menu(2)
    assert "nukidora" not in deal(["4z"]).quiet_until(0).menu(0)


# Kyushu kyuhai -------------------------------------------------------------------------------------------

KYUSHU_KYUHAI_HAND = "19m19p19s123z"


def test_the_dealer_repeats_after_kyushu_kyuhai(deal: Deal) -> None:
    table = deal(["", KYUSHU_KYUHAI_HAND], "2p3s", state=State(1, 2, 1, 1, (30_000, 44_000, 30_000)))
    table.do("2p", "kyushu kyuhai")
    assert table.events[-1] == ("ryukyoku", "kyushukyuhai", (0, 0, 0))
    assert table.after() == State(1, 2, 2, 1, (30_000, 44_000, 30_000))


def test_kyushu_kyuhai_only_on_an_uninterrupted_first_draw(deal: Deal) -> None:
    assert "kyushu kyuhai" in deal([KYUSHU_KYUHAI_HAND], "2p").menu(0)
    assert "kyushu kyuhai" not in deal(["19m19p19s12z23456p"], "2p").menu(0)
    assert "kyushu kyuhai" not in deal(["4z", KYUSHU_KYUHAI_HAND], "2p3s").do("nukidora", "tsumogiri").menu(1)
    assert "kyushu kyuhai" not in deal([KYUSHU_KYUHAI_HAND], "2p3s4s5s").quiet(3).menu(0)
    ponned = deal(["7p", "77p", KYUSHU_KYUHAI_HAND], "2p6s").do("7p", "pon", "9m")
    assert ponned.t.turn == 2
    assert "kyushu kyuhai" not in ponned.menu(2)
