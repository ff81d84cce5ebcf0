"""All kinds of furiten. Rules: docs/rules.md. Each test also shows that without furiten the win is allowed."""

from __future__ import annotations

from tests.engine.conftest import Deal

TANYAO_5S = "234678p2288846s"  # waits for 5s
HALF_TANYAO = "23678p22345888s"  # waits for 1p, without yaku, and 4p
ITTSU_NORTH = "123456789p11s44z"  # waits for 1s and N, each with ittsu
HAKU_NORTH = "234567p678s4455z"  # waits for haku, and for N without yaku


def test_own_discard(deal: Deal) -> None:
    free = deal(["", TANYAO_5S, "5s"], "1z2z").do("1z", "2z", "5s")
    assert "ron" in free.menu(1)
    furiten = deal(["", TANYAO_5S, "5s"], "1z5s").do("1z", "5s", "5s")
    assert "ron" not in furiten.menu(1)


def test_own_discard_of_another_wait(deal: Deal) -> None:
    furiten = deal(["", HALF_TANYAO, "4p"], "1z1p").do("1z", "1p", "4p")
    assert "ron" not in furiten.menu(1)


def test_own_discard_that_was_called(deal: Deal) -> None:
    table = deal(["550s1m", TANYAO_5S], "1z5s2z3z").do("1z", "5s", "pon", "1m").quiet(2)
    assert "ron" not in table.do("0s").menu(1)


def test_own_nukidora_is_no_discard(deal: Deal) -> None:
    table = deal(["4z", ITTSU_NORTH], "7z4z7z5z", replacements="6z").do("7z", "nukidora", "tsumogiri", "tsumogiri")
    assert "ron" in table.do("4z").menu(1)


def test_temporary_furiten_lasts_until_the_next_own_discard(deal: Deal) -> None:
    """Seat 2 does not win on the dealer's 5s, and seat 1 discards the next one before seat 2 has discarded."""
    table = deal(["55s", "5s", TANYAO_5S], "1z2z3z").do("5s")
    assert "ron" in table.menu(2)
    assert "ron" not in table.do("pass", "5s").menu(2)
    assert "ron" in table.quiet(1).do("5s").menu(2)


def test_furiten_in_riichi_lasts_for_the_round(deal: Deal) -> None:
    table = deal(["55s", TANYAO_5S], "1z2z3z4z5z6z").do("1z", "riichi", "2z", "tsumogiri", "5s")
    assert "ron" in table.menu(1)
    assert "ron" not in table.do("pass").quiet(2).do("5s").menu(1)


def test_a_tile_without_yaku_makes_furiten(deal: Deal) -> None:
    free = deal(["", "4p", HALF_TANYAO], "1z2z").do("1z", "4p")
    assert "ron" in free.menu(2)
    furiten = deal(["1p", "4p", HALF_TANYAO], "1z2z").do("1p", "4p")
    assert "ron" not in furiten.menu(2)


def test_a_north_not_won_on_makes_furiten(deal: Deal) -> None:
    free = deal(["4z1s", "", ITTSU_NORTH], "7z").do("1s")
    assert "ron" in free.menu(2)
    table = deal(["4z1s", "", ITTSU_NORTH], "7z", replacements="6z").do("nukidora")
    assert table.menu(2) == {"ron", "pass"}
    assert "ron" not in table.do("pass", "1s").menu(2)


def test_a_north_not_won_on_in_riichi_makes_furiten_for_the_round(deal: Deal) -> None:
    table = deal(["4z1s", "", ITTSU_NORTH], "7z2z3z5z6z5z").quiet(2).do("riichi", "tsumogiri", "nukidora")
    assert "ron" in table.menu(2)
    assert "ron" not in table.do("pass", "tsumogiri").quiet(2).do("1s").menu(2)


def test_a_north_without_yaku_makes_furiten(deal: Deal) -> None:
    free = deal(["4z5z", "", HAKU_NORTH], "7z").do("5z")
    assert "ron" in free.menu(2)
    table = deal(["4z5z", "", HAKU_NORTH], "7z", replacements="6z").do("nukidora")
    assert table.t.turn == 0  # nobody was asked
    assert "ron" not in table.do("5z").menu(2)


def test_furiten_does_not_forbid_tsumo(deal: Deal) -> None:
    table = deal([TANYAO_5S], "5s1z2z5s").do("5s").quiet(2)
    assert "tsumo" in table.menu(0)
