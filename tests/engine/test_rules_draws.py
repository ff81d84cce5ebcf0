"""Exhaustive draws: noten payments, nagashi mangan, and the round after. Rules: docs/rules.md."""

from __future__ import annotations

import pytest

from engine.tiles import MPSZ_NAMES, NORTH, SANMA_KINDS, TERMINALS_HONOURS
from tests.engine.conftest import Deal
from tests.support.scenario import Scenario
from tests.support.sides import State

# Tenpai, each for a dragon whose other three tiles lie in the dead wall, which nobody replaces a tile from.
WAITING = ("123567p123567s5z", "123567p123567s6z", "234678p234678s7z")
DEAD_WALL = {"replacements": "55566677z", "ura": "7z"}


@pytest.mark.parametrize(
    ("tenpai", "deltas"),
    [
        ([], (0, 0, 0)),
        ([0], (2_000, -1_000, -1_000)),
        ([2], (-1_000, -1_000, 2_000)),
        ([0, 1], (1_000, 1_000, -2_000)),
        ([1, 2], (-2_000, 1_000, 1_000)),
        ([0, 1, 2], (0, 0, 0)),
    ],
)
def test_noten_payment(deal: Deal, tenpai: list[int], deltas: tuple[int, ...]) -> None:
    hands = [hand if seat in tenpai else "" for seat, hand in enumerate(WAITING)]
    table = deal(hands, state=State(0, 0, 1, 1, (34_000, 35_000, 35_000)), **DEAD_WALL).quiet(55)
    assert table.events[-1] == ("ryukyoku", "fanpai", deltas)
    scores = tuple(start + delta for start, delta in zip((34_000, 35_000, 35_000), deltas, strict=True))
    assert table.after() == State(0, 0 if 0 in tenpai else 1, 2, 1, scores)


OUTER = [MPSZ_NAMES[kind] for kind in TERMINALS_HONOURS if kind != NORTH]
INNER = [MPSZ_NAMES[kind] for kind in SANMA_KINDS if kind not in TERMINALS_HONOURS]


def nagashi(deal: Deal, *hands: str) -> Scenario:
    """The dealer draws only terminals and honours, the others none."""
    outer, inner = iter(OUTER * 2), iter(INNER * 3)
    draws = "".join(next(outer if i % 3 == 0 else inner) for i in range(55))
    return deal([*hands], draws, indicators="4z", state=State(0, 0, 1, 1, (34_000, 35_000, 35_000)))


def test_nagashi_mangan_is_paid_like_a_tsumo_without_honba_and_sticks(deal: Deal) -> None:
    table = nagashi(deal).quiet(55)
    assert table.events[-1] == ("ryukyoku", "nagashimangan", (8_000, -4_000, -4_000))
    assert table.after() == State(0, 1, 2, 1, (42_000, 31_000, 31_000))


def test_the_dealer_repeats_when_tenpai_at_nagashi_mangan(deal: Deal) -> None:
    table = nagashi(deal, "123670p123567s5z").quiet(55)
    assert table.events[-1][1] == "nagashimangan"
    assert table.after().dealer == 0


def test_a_called_discard_ends_nagashi_mangan(deal: Deal) -> None:
    table = nagashi(deal, "", "11m9m").do("1m", "pon", "9m")
    assert table.t.seat[0].nagashi == 0


def test_three_riichis_do_not_abort(deal: Deal) -> None:
    table = deal([*WAITING], "1m1z4z", **DEAD_WALL)
    table.do("riichi", "tsumogiri", "riichi", "tsumogiri", "riichi", "tsumogiri")
    assert table.t.sticks == 3
    assert table.names[-1] == "tsumo"
    assert table.quiet(52).events[-1] == ("ryukyoku", "fanpai", (0, 0, 0))
    assert table.after() == State(0, 0, 1, 3, (34_000,) * 3)
