"""Wins on robbed, replacement and last tiles, dora indicators, payments and pao. Rules: docs/rules.md."""

from __future__ import annotations

import pytest

from tests.engine.conftest import Deal
from tests.support.scenario import Scenario
from tests.support.sides import State

NO_YAKU_3S = "23456799p67824s"  # waits for 3s
TANYAO_5S = "234678p2288846s"  # waits for 5s; 40 fu
PINFU_TANYAO = "234678p5678834s"  # waits for 2s and 5s
ITTSU_NORTH = "123456789p11s44z"  # waits for 1s and N
PON = ["7z", "pon", "9m", "tsumogiri", "tsumogiri"]


# Robbed tiles ---------------------------------------------------------------------------------------------------------


def test_kakan_is_robbed_with_chankan(deal: Deal) -> None:
    table = deal(["33s", NO_YAKU_3S, "3s"], "1z2z7z7z5z3s").do("1z", "2z", "3s", "pon", "1m")
    table.quiet(2).do("kakan 3s")
    assert table.menu(1) == {"ron", "pass"}
    win = table.do("ron").win
    assert win.yaku == {"chankan": 1}
    assert win.deltas == [-1_300, 1_300, 0]
    assert table.names[-2:] == ["kakan", "hora"]


def test_robbed_north_is_no_chankan(deal: Deal) -> None:
    win = deal(["4z", ITTSU_NORTH], "7z").do("nukidora", "ron").win
    assert win.yaku == {"ikkitsukan": 2}
    assert win.target == 0


def test_robbing_a_north_needs_a_yaku(deal: Deal) -> None:
    table = deal(["4z", "", "23456799s678p44z"], "7z").do("nukidora")
    assert table.t.turn == 0
    assert "hora" not in table.names


def test_robbed_north_still_has_ippatsu(deal: Deal) -> None:
    table = deal(["4z", ITTSU_NORTH], "7z1z2z5z").do("7z", "riichi", "1z").quiet(1).do("nukidora", "ron")
    assert table.win.yaku.keys() >= {"double_reach", "ippatsu", "ikkitsukan"}


# Replacement and last tiles -------------------------------------------------------------------------------------------


def test_rinshan_after_nukidora(deal: Deal) -> None:
    win = deal([NO_YAKU_3S], "4z", replacements="3s").do("nukidora", "tsumo").win
    assert win.yaku == {"menzenchin_tsumoho": 1, "rinshankaiho": 1, "nukidora": 1}
    assert win.fu == 30  # 20, 2 for the closed wait, 2 for tsumo
    assert win.deltas == [4_000, -2_000, -2_000]


def test_haitei_and_houtei(deal: Deal) -> None:
    haitei = deal([NO_YAKU_3S], last_draws="3s").quiet_until(0).do("tsumo")
    assert haitei.win.yaku == {"menzenchin_tsumoho": 1, "haiteiraoyue": 1}
    houtei = deal(["", NO_YAKU_3S], last_draws="3s", ura="333s").quiet_until(0).do("3s", "ron")
    assert houtei.win.yaku == {"hoteiraoyui": 1}


def test_replacement_is_never_haitei(deal: Deal) -> None:
    table = deal(["", "", NO_YAKU_3S], last_draws="4z7z", replacements="3s").quiet_until(1).do("nukidora")
    assert table.t.live_left == 0
    assert table.do("tsumo").win.yaku == {"menzenchin_tsumoho": 1, "rinshankaiho": 1, "nukidora": 1}


def test_discard_of_the_last_replacement_is_houtei(deal: Deal) -> None:
    table = deal(["", NO_YAKU_3S, ""], last_draws="4z7z", replacements="3s", ura="333s").quiet_until(1)
    assert table.do("nukidora", "3s", "ron").win.yaku == {"hoteiraoyui": 1}


def test_first_draw_of_dealer_and_others(deal: Deal) -> None:
    tenhou = deal([NO_YAKU_3S], "3s").do("tsumo").win
    assert tenhou.yaku == {"tenho": 13}
    assert tenhou.deltas == [32_000, -16_000, -16_000]
    chiihou = deal(["", NO_YAKU_3S], "1z3s").do("1z", "tsumo").win
    assert chiihou.yaku == {"chiho": 13}
    assert chiihou.deltas == [-16_000, 24_000, -8_000]
    interrupted = deal(["4z", NO_YAKU_3S], "1z3s").do("nukidora", "tsumogiri", "tsumo").win
    assert interrupted.yaku == {"menzenchin_tsumoho": 1}


# Dora indicators ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hands", "draws", "replacements", "moves", "names"),
    [
        (["777z"], "7z", "", ["ankan C"], "tsumo ankan dora tsumo"),
        (["7z", "777z"], "", "", ["7z", "daiminkan", "tsumogiri"], "daiminkan tsumo dora dahai"),
        (["7z", "77z"], "1z2z3z7z", "", [*PON, "kakan C", "tsumogiri"], "kakan tsumo dora dahai"),
        # Another kan turns the one of the first, too; a nukidora only that.
        (["7z", "777z555z"], "1z", "5z", ["7z", "daiminkan", "ankan P"], "daiminkan tsumo ankan dora dora tsumo"),
        (["7z", "77z555z"], "1z2z3z7z", "5z", [*PON, "kakan C", "ankan P"], "kakan tsumo ankan dora dora tsumo"),
        (["7z", "777z"], "", "4z", ["7z", "daiminkan", "nukidora"], "daiminkan tsumo nukidora dora tsumo"),
    ],
)
def test_a_kan_turns_its_dora(
    deal: Deal, hands: list[str], draws: str, replacements: str, moves: list[str], names: str
) -> None:
    """That of an ankan before the replacement, that of others before what follows it."""
    table = deal(hands, draws, replacements=replacements).do(*moves)
    assert names in " ".join(table.names)


def test_dora_of_a_minkan_does_not_count_on_its_replacement(deal: Deal) -> None:
    table = deal(["7z", "777z234p678s11s99s"], "1z", replacements="9s", indicators="1m8s")
    win = table.do("7z", "daiminkan", "tsumo").win
    assert "dora" not in win.yaku
    assert win.yaku == {"sangenpai": 1, "rinshankaiho": 1}
    ankan = deal(["777z234p678s11s99s"], "7z", replacements="9s", indicators="1m8s").do("ankan C", "tsumo").win
    assert ankan.yaku["dora"] == 3


def test_a_west_indicator_counts_each_north_once_more(deal: Deal) -> None:
    win = deal([NO_YAKU_3S], "4z", replacements="4z3s", indicators="3z").do("nukidora", "nukidora", "tsumo").win
    assert win.yaku["nukidora"] == 2
    assert win.yaku["dora"] == 2


@pytest.mark.parametrize(
    ("dealt", "held", "draws", "moves"),
    [
        ("5p", "05p1z", "9s4p", ["5p", "pon with red", "1z"]),
        ("0p", "55p1z", "9s4p", ["0p", "pon", "1z"]),
        ("0p", "555p", "9s4p", ["0p", "daiminkan", "7z"]),
        ("", "055p", "9s5p4p", ["9s", "ankan 5p", "7z"]),
        ("5p", "55p1z", "9s2z3z0p4p", ["5p", "pon", "1z", "2z", "3z", "kakan 5p", "7z"]),
    ],
)
def test_a_red_five_in_a_meld_is_a_dora(deal: Deal, dealt: str, held: str, draws: str, moves: list[str]) -> None:
    table = deal([dealt, held + "2388p234678s"], draws, replacements="7z", indicators="1m1m")
    assert table.do(*moves, "4p", "ron").win.yaku == {"tanyaochu": 1, "akadora": 1}


# Payments -------------------------------------------------------------------------------------------------------------


def two_norths(deal: Deal, seat: int, state: State) -> list[int]:
    """Deltas of a mangan tsumo of `seat`: tsumo, tanyao, rinshan, two norths."""
    hands = ["", "", ""]
    hands[seat] = TANYAO_5S
    table = deal(hands, "1z"[: 2 * seat] + "4z", replacements="4z5s", state=state)
    return table.quiet(seat).do("nukidora", "nukidora", "tsumo").win.deltas


@pytest.mark.parametrize(
    ("seat", "honba", "deltas"),
    [
        (0, 0, [8_000, -4_000, -4_000]),
        (1, 0, [-4_000, 6_000, -2_000]),
        (0, 2, [8_400, -4_200, -4_200]),
        (1, 3, [-4_300, 6_600, -2_300]),
    ],
)
def test_mangan_tsumo_has_tsumo_loss(deal: Deal, seat: int, honba: int, deltas: list[int]) -> None:
    assert two_norths(deal, seat, State(0, 0, honba, 0, (35_000,) * 3)) == deltas


@pytest.mark.parametrize(("honba", "sticks"), [(0, 0), (2, 1)])
def test_thirty_fu_four_han_is_no_mangan(deal: Deal, honba: int, sticks: int) -> None:
    state = State(0, 0, honba, sticks, (35_000 - 1_000 * sticks, 35_000, 35_000))
    table = deal(["2s", PINFU_TANYAO], "1z4z2z3z", replacements="4z6z", state=state).quiet(1)
    table.do("nukidora", "nukidora", "tsumogiri", "tsumogiri", "2s", "ron")
    assert (table.win.han, table.win.fu) == (4, 30)
    assert table.win.deltas == [-7_700 - 200 * honba, 7_700 + 200 * honba + 1_000 * sticks, 0]


def test_double_ron_pays_both_and_honba_and_sticks_to_the_next(deal: Deal) -> None:
    state = State(0, 0, 2, 1, (34_000, 35_000, 35_000))
    table = deal([TANYAO_5S, "5s", "234678p3337746s"], "1z", state=state).quiet(1).do("5s", "ron")
    assert [(win.winner, win.deltas) for win in table.wins] == [(2, [0, -1_700, 2_700]), (0, [2_000, -2_000, 0])]
    assert table.after() == State(0, 0, 3, 0, (36_000, 31_300, 37_700))


def test_a_dealer_who_wins_first_of_two_deals_again(deal: Deal) -> None:
    table = deal([TANYAO_5S, "234678p3337746s", "5s"], "1z2z").quiet(2).do("5s", "ron")
    assert [win.winner for win in table.wins] == [0, 1]
    assert (table.after().dealer, table.after().honba) == (0, 1)


# Pao ------------------------------------------------------------------------------------------------------------------


def three_dragons(deal: Deal, then: str, honba: int = 0) -> Scenario:
    """Seat 1 has called pon on haku (dealer), hatsu (seat 2) and chun (dealer), and waits for 8s.

    `then`: the next draws, the first of them by seat 2.
    """
    table = deal(["57z", "556677z9m9p1s234p8s", "6z"], f"1z2z3z4p{then}", state=State(0, 0, honba, 0, (35_000,) * 3))
    return table.do("5z", "pon", "9m", "6z", "pon", "9p").quiet(1).do("7z", "pon", "1s")


@pytest.mark.parametrize(("honba", "deltas"), [(0, [-24_000, 24_000, 0]), (2, [-24_400, 24_400, 0])])
def test_liable_seat_pays_a_tsumo_alone(deal: Deal, honba: int, deltas: list[int]) -> None:
    win = three_dragons(deal, "2z3z8s", honba).quiet(2).do("tsumo").win
    assert win.pao == 0
    assert win.deltas == deltas


@pytest.mark.parametrize(("honba", "deltas"), [(0, [-16_000, 32_000, -16_000]), (2, [-16_400, 32_400, -16_000])])
def test_liable_seat_pays_half_of_anothers_ron_and_the_honba(deal: Deal, honba: int, deltas: list[int]) -> None:
    win = three_dragons(deal, "8s", honba).do("8s", "ron").win
    assert win.pao == 0
    assert win.deltas == deltas


def test_a_liable_discarder_pays_all(deal: Deal) -> None:
    win = three_dragons(deal, "2z8s", 1).quiet(1).do("8s", "ron").win
    assert win.deltas == [-32_200, 32_200, 0]


def test_nobody_is_liable_for_the_second_dragon(deal: Deal) -> None:
    concealed = deal(["57z", "55666777z234p8s9m"], "1z").do("5z", "pon", "9m").quiet(1).do("7z")
    assert concealed.t.seat[1].pao_daisangen == -1


def test_the_discarder_of_the_fourth_wind_is_liable_for_daisuushii(deal: Deal) -> None:
    table = deal(["14z", "11223344z9m9p1s2p5s", "23z"], "5z6z7z5z6z5s").do("1z", "pon", "9m", "2z", "pon", "9p")
    table.do("3z", "pon", "1s").quiet(1).do("4z", "pon", "2p")
    assert table.t.seat[1].pao_daisuushii == 0
    assert table.do("5s", "ron").win.yaku == {"daisushi": 13}
    assert table.win.deltas == [-16_000, 32_000, -16_000]
